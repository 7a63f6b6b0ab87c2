"""How an agent or its tests end, by themselves or because they are stopped."""

import asyncio
import os
import signal
from pathlib import Path

from fakes.attempt import lay_out
from fakes.fake_broker import FakeBroker
from functional.supervisor.story import WORKS, play, told_by
from stanchion.protocol.control import StopOrder
from stanchion.protocol.events import (
    OutputStream,
    OutputWritten,
    Stopping,
    TranscriptChanged,
    VitalsSampled,
)
from stanchion.protocol.evidence import AnswerState, Stop, StopReason, WaitStatus
from stanchion.protocol.launch import Deadlines, WatchdogLimits
from stanchion.supervisor.run import Timing
from stanchion.supervisor.watch import Rhythm


async def test_an_exit_code_and_a_signal_are_told_raw(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    for name, script, wait in (
        ("a", "raise SystemExit(3)", WaitStatus(exit_code=3)),
        ("b", "os.kill(os.getpid(), 9)", WaitStatus(signal=9)),
    ):
        attempt = lay_out(tmp_path / name)
        async with FakeBroker(attempt.paths.run_dir) as broker:
            await play(attempt, script)
        claim = told_by(broker)
        assert claim.wait == wait
        assert claim.answers is not None
        assert claim.answers[0].state is AnswerState.ABSENT
        assert claim.progress_age_ms is None


async def test_an_answer_that_was_there_and_is_gone_is_lost(tmp_path: Path) -> None:
    attempt = lay_out(tmp_path)
    script = """
import sys
open(os.environ["ANSWER"], "w").write("forty-two")
save(text="written")
sys.stdin.read(); ask()
os.unlink(os.environ["ANSWER"])
"""
    async with FakeBroker(attempt.paths.run_dir) as broker:
        answered = broker.model_handler

        async def only_when_sampled(
            reader: asyncio.StreamReader, writer: asyncio.StreamWriter
        ) -> None:
            seen = len(broker.of(VitalsSampled))
            await broker.until(lambda: len(broker.of(VitalsSampled)) >= seen + 2)
            await answered(reader, writer)

        broker.model_handler = only_when_sampled
        await play(attempt, script)
    claim = told_by(broker)
    assert claim.answers is not None
    assert claim.answers[0].state is AnswerState.LOST


async def test_an_order_stops_the_agent_and_a_stubborn_one_is_killed(tmp_path: Path) -> None:
    attempt = lay_out(tmp_path)
    script = """
import signal, time
signal.signal(signal.SIGTERM, lambda *_: os.write(1, b'{"text": "no"}\\n'))
save(text="ready")
while True: time.sleep(1)
"""
    stop = Stop(reason=StopReason.BUDGET, detail="spent")
    async with FakeBroker(attempt.paths.run_dir) as broker, asyncio.TaskGroup() as tasks:
        story = tasks.create_task(play(attempt, script))
        await broker.until(lambda: broker.of(TranscriptChanged))
        broker.send(StopOrder(stop=stop))
        assert await story
    claim = told_by(broker)
    assert claim.stop == stop
    assert [stopping.stop for stopping in broker.of(Stopping)] == [stop]
    assert [item.item.text for item in broker.of(TranscriptChanged)] == ["ready", "no"]
    assert claim.wait == WaitStatus(signal=9)
    assert claim.verifier is not None, "a spent budget is still graded"


async def test_the_launcher_s_term_is_a_cancellation_without_verification(tmp_path: Path) -> None:
    attempt = lay_out(tmp_path)
    script = "import time\nsave(text='ready')\ntime.sleep(60)"
    async with FakeBroker(attempt.paths.run_dir) as broker, asyncio.TaskGroup() as tasks:
        story = tasks.create_task(play(attempt, script))
        await broker.until(lambda: broker.of(TranscriptChanged))
        os.kill(os.getpid(), signal.SIGTERM)
        assert await story
    claim = told_by(broker)
    assert claim.stop is not None
    assert claim.stop.reason is StopReason.CANCELLED
    assert claim.verifier is None
    assert claim.wait == WaitStatus(signal=15)


async def test_a_cancellation_while_the_tests_run_ends_them(tmp_path: Path) -> None:
    attempt = lay_out(tmp_path, test_script="echo begun; sleep 60")
    async with FakeBroker(attempt.paths.run_dir) as broker, asyncio.TaskGroup() as tasks:
        story = tasks.create_task(play(attempt, WORKS))
        await broker.until(
            lambda: [e for e in broker.of(OutputWritten) if e.stream is OutputStream.VERIFIER]
        )
        broker.send(StopOrder(stop=Stop(reason=StopReason.BUDGET, detail="no matter now")))
        broker.send(StopOrder(stop=Stop(reason=StopReason.CANCELLED, detail="asked")))
        assert await story
    claim = told_by(broker)
    assert claim.stop == Stop(reason=StopReason.CANCELLED, detail="asked")
    assert claim.wait == WaitStatus(exit_code=0)
    assert claim.verifier is not None
    assert (claim.verifier.timed_out, claim.verifier.wait) == (False, None)


async def test_a_deadline_stops_the_agent_and_the_tests_still_run(tmp_path: Path) -> None:
    attempt = lay_out(tmp_path, deadlines=Deadlines(agent_s=1, verifier_s=20))
    async with FakeBroker(attempt.paths.run_dir) as broker:
        await play(attempt, "import time\ntime.sleep(60)")
    claim = told_by(broker)
    assert claim.stop is not None
    assert claim.stop.reason is StopReason.DEADLINE
    assert claim.verifier is not None


async def test_silence_stops_the_agent(tmp_path: Path) -> None:
    attempt = lay_out(tmp_path, watchdog=WatchdogLimits(silent_s=1))
    async with FakeBroker(attempt.paths.run_dir) as broker:
        await play(attempt, "import time\ntime.sleep(60)")
    claim = told_by(broker)
    assert claim.stop is not None
    assert claim.stop.reason is StopReason.STALLED_SILENT


async def test_a_harness_that_lingers_after_a_good_end_is_no_stall(tmp_path: Path) -> None:
    attempt = lay_out(tmp_path)
    async with FakeBroker(attempt.paths.run_dir) as broker:
        hasty = Timing(rhythm=Rhythm(tick_s=0.05, vitals_s=0.1, term_s=0.5, linger_ms=300))
        await play(attempt, WORKS + "\nimport time\ntime.sleep(60)", hasty)
    claim = told_by(broker)
    assert claim.hung_after_end
    assert claim.stop is None
    assert claim.verifier is not None
    assert claim.verifier.reward_text == "1\n"


async def test_tests_that_hang_are_ended_at_their_deadline(tmp_path: Path) -> None:
    attempt = lay_out(
        tmp_path, test_script="sleep 60", deadlines=Deadlines(agent_s=60, verifier_s=1)
    )
    async with FakeBroker(attempt.paths.run_dir) as broker:
        await play(attempt, WORKS)
    verifier = told_by(broker).verifier
    assert verifier is not None
    assert (verifier.timed_out, verifier.wait, verifier.reward_text) == (True, None, None)
