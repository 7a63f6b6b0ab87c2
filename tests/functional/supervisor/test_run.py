import asyncio
import os
import shutil
import signal
from pathlib import Path
from typing import Any

import pytest

from fakes.attempt import Attempt, lay_out
from fakes.fake_broker import FakeBroker
from fakes.scripted_harness import ScriptedHarness, ScriptedSession
from stanchion.harness_adapters.base import Plan, Settings
from stanchion.protocol.control import StopOrder
from stanchion.protocol.events import (
    AnswerFrozen,
    Claimed,
    ConfigWritten,
    FileSent,
    HarnessEnded,
    HarnessStarted,
    OutputStream,
    OutputWritten,
    Stage,
    StageChanged,
    StageState,
    StepSaved,
    Stopping,
    TaskListChanged,
    TranscriptChanged,
    VerifierEnded,
    VitalsSampled,
    Warned,
)
from stanchion.protocol.evidence import (
    AnswerState,
    Claim,
    SessionState,
    Stop,
    StopReason,
    WaitStatus,
)
from stanchion.protocol.launch import Deadlines, Effort, Limits, WatchdogLimits, Workspace
from stanchion.supervisor.control import EnrolError, Patience
from stanchion.supervisor.run import Story, Timing
from stanchion.supervisor.watch import Rhythm

QUICK = Timing(
    rhythm=Rhythm(tick_s=0.05, vitals_s=0.1, term_s=0.5, pipes_s=1),
    patience=Patience(
        answer_s=2, enrol_s=3, away_s=0.5, first_backoff_s=0.02, longest_backoff_s=0.1
    ),
    flush_s=5,
)
WORKS = """
import sys
save(text=sys.stdin.read())
ask()
open(os.environ["ANSWER"], "w").write("forty-two")
save(step="stop"); save(todo="rest"); save(end="good")
print("words on stderr", file=sys.stderr)
"""


def told_by(broker: FakeBroker) -> Claim:
    (claimed,) = broker.of(Claimed)
    return claimed.claim


async def play(attempt: Attempt, script: str, timing: Timing = QUICK, **adapter: Any) -> bool:
    harness = ScriptedHarness(script, **adapter)
    return await Story(find_adapter=lambda _: harness, paths=attempt.paths, timing=timing).run()


async def test_the_whole_story_in_order(tmp_path: Path) -> None:
    attempt = lay_out(tmp_path)
    async with FakeBroker(attempt.paths.run_dir) as broker:
        assert await play(attempt, WORKS)
    stages = [
        event.stage
        for event in broker.of(StageChanged)
        if event.state is StageState.COMPLETE and event.duration_ms is not None
    ]
    assert stages == [
        Stage.LOAD,
        Stage.ENROL,
        Stage.GATE,
        Stage.CONFIGURE,
        Stage.RELAY,
        Stage.SPAWN,
        Stage.AGENT,
        Stage.FREEZE,
        Stage.VERIFY,
    ]
    claim = told_by(broker)
    assert claim.wait == WaitStatus(exit_code=0)
    assert (claim.refusal, claim.stop, claim.hung_after_end) == (None, None, False)
    assert claim.session is not None
    assert claim.session.state is SessionState.GOOD
    assert claim.verifier is not None
    assert (claim.verifier.reward_text, claim.verifier.reward_file) == ("1\n", "reward.txt")
    assert claim.progress_age_ms is not None
    assert claim.agent_ms is not None
    assert claim.died_mono_ms is not None
    assert sorted(broker.envelopes) == list(range(1, len(broker.envelopes) + 1))
    assert isinstance(broker.events[-1], Claimed)


async def test_what_the_harness_saves_and_writes_is_told(tmp_path: Path) -> None:
    attempt = lay_out(tmp_path)
    async with FakeBroker(attempt.paths.run_dir) as broker:
        await play(attempt, WORKS)
    (item,) = broker.of(TranscriptChanged)
    assert item.item.text == "Write a sentence.\n"
    assert [step.reason for step in broker.of(StepSaved)] == ["stop"]
    assert [changed.items[0].content for changed in broker.of(TaskListChanged)] == ["rest"]
    output = {
        stream: b"".join(e.data for e in broker.of(OutputWritten) if e.stream is stream)
        for stream in OutputStream
    }
    assert output[OutputStream.HARNESS_STDERR] == b"words on stderr\n"
    assert b'"step": "stop"' in output[OutputStream.HARNESS_STDOUT]
    assert output[OutputStream.VERIFIER] == b"forty-two"
    (config,) = broker.of(ConfigWritten)
    assert (config.output_limit, config.effort, len(config.files)) == (1000, "high", 1)
    assert broker.of(HarnessStarted)
    assert broker.of(VerifierEnded)
    assert broker.of(VitalsSampled)


async def test_the_answer_leaves_the_sandbox(tmp_path: Path) -> None:
    attempt = lay_out(tmp_path)
    async with FakeBroker(attempt.paths.run_dir) as broker:
        await play(attempt, WORKS)
    assert told_by(broker).wait == WaitStatus(exit_code=0), broker.events
    (sent,) = broker.of(FileSent)
    assert (sent.path, sent.data, sent.last) == (str(attempt.answer), b"forty-two", True)
    (frozen,) = broker.of(AnswerFrozen)
    assert (frozen.answer.state, frozen.answer.sha256) == (AnswerState.PRESENT, sent.sha256)


async def test_the_agent_sees_the_task_and_never_the_lease(tmp_path: Path) -> None:
    attempt = lay_out(tmp_path)
    script = """
import sys
sys.stdin.read()
save(text=" ".join(sorted(os.listdir("."))))
ask()
"""
    async with FakeBroker(attempt.paths.run_dir) as broker:
        await play(attempt, script)
    (item,) = broker.of(TranscriptChanged)
    assert item.item.text == "given.txt"
    (head,) = broker.heads
    assert b"x-stanchion-lease: st1_lease_1\r\n" in head
    assert b"placeholder" not in head
    assert "localhost" in attempt.paths.hosts_file.read_text()


@pytest.mark.parametrize(
    ("changes", "refusal"),
    [
        ({"limits": Limits(output_tokens=None)}, "limit_missing"),
        ({"effort": Effort(word="enormous")}, "effort_unknown"),
        ({"protocol": 99}, "protocol_differs"),
    ],
)
async def test_a_refusal_is_a_claim_and_the_harness_never_starts(
    tmp_path: Path, changes: dict[str, Any], refusal: str
) -> None:
    attempt = lay_out(tmp_path, **changes)
    async with FakeBroker(attempt.paths.run_dir) as broker:
        assert await play(attempt, WORKS)
    claim = told_by(broker)
    assert claim.refusal is not None
    assert claim.refusal.id == refusal
    assert not broker.of(HarnessStarted)
    assert not broker.of(VerifierEnded)
    failed = [e for e in broker.of(StageChanged) if e.state is StageState.FAILED]
    assert [event.stage for event in failed] == [Stage.GATE]


async def test_a_configuration_that_says_something_else_is_refused(tmp_path: Path) -> None:
    attempt = lay_out(tmp_path)
    async with FakeBroker(attempt.paths.run_dir) as broker:
        assert await play(attempt, WORKS, lies={"output_limit": 32000})
    claim = told_by(broker)
    assert claim.refusal is not None
    assert (claim.refusal.id, claim.refusal.value) == ("config_differs", "32000")
    assert not broker.of(HarnessStarted)


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


async def test_an_order_before_the_start_keeps_the_harness_from_starting(tmp_path: Path) -> None:
    attempt = lay_out(tmp_path)
    harness = ScriptedHarness(WORKS)
    stop = Stop(reason=StopReason.CANCELLED, detail="at once")
    async with FakeBroker(attempt.paths.run_dir) as broker:
        story = Story(find_adapter=lambda _: harness, paths=attempt.paths, timing=QUICK)
        story.stop(stop)
        assert await story.run()
    claim = told_by(broker)
    assert (claim.stop, claim.wait, claim.verifier) == (stop, None, None)
    assert not broker.of(HarnessStarted)
    assert not attempt.answer.exists()


async def test_a_harness_that_cannot_be_executed_is_an_end_with_a_reason(tmp_path: Path) -> None:
    workspace = Workspace(workdir=str(tmp_path / "work"), env={"TOO_LONG": "x" * 10_000_000})
    attempt = lay_out(tmp_path, workspace=workspace)
    async with FakeBroker(attempt.paths.run_dir) as broker:
        assert await play(attempt, WORKS)
    claim = told_by(broker)
    assert (claim.refusal, claim.wait) == (None, None)
    assert claim.wait_why is not None
    assert "Argument list too long" in claim.wait_why


async def test_a_supervisor_that_cannot_hide_its_folder_refuses(tmp_path: Path) -> None:
    attempt = lay_out(tmp_path)

    class Saboteur(ScriptedHarness):
        def session(self) -> ScriptedSession:
            raise AssertionError("the harness must not start")

        def plan(self, settings: Settings) -> Plan:
            shutil.rmtree(attempt.paths.run_dir)
            return super().plan(settings)

    async with FakeBroker(attempt.paths.run_dir) as broker:
        story = Story(find_adapter=lambda _: Saboteur(WORKS), paths=attempt.paths, timing=QUICK)
        assert await story.run()
    claim = told_by(broker)
    assert claim.refusal is not None, claim
    assert claim.refusal.id == "isolation_failed"


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


async def test_leftovers_of_the_agent_are_gone_before_the_tests_run(tmp_path: Path) -> None:
    attempt = lay_out(tmp_path, test_script='echo 0 > "$LOGS/verifier/reward.txt"')
    script = f"""
import os
os.makedirs("{attempt.paths.logs_dir}/verifier"); os.makedirs("{attempt.paths.tests_dir}")
open("{attempt.paths.logs_dir}/verifier/reward.json", "w").write('{{"reward": 1}}')
open("{attempt.paths.tests_dir}/test.sh", "w").write("exit 9")
"""
    async with FakeBroker(attempt.paths.run_dir) as broker:
        await play(attempt, script)
    claim = told_by(broker)
    assert claim.verifier is not None
    assert (claim.verifier.reward_file, claim.verifier.reward_text) == ("reward.txt", "0\n")
    assert claim.verifier.wait == WaitStatus(exit_code=0)


async def test_tests_that_hang_are_ended_at_their_deadline(tmp_path: Path) -> None:
    attempt = lay_out(
        tmp_path, test_script="sleep 60", deadlines=Deadlines(agent_s=60, verifier_s=1)
    )
    async with FakeBroker(attempt.paths.run_dir) as broker:
        await play(attempt, WORKS)
    verifier = told_by(broker).verifier
    assert verifier is not None
    assert (verifier.timed_out, verifier.wait, verifier.reward_text) == (True, None, None)


async def test_a_cut_in_the_middle_loses_and_repeats_nothing(tmp_path: Path) -> None:
    attempt = lay_out(tmp_path)
    script = """
import sys
for number in range(200):
    save(text=str(number))
ask()
"""
    async with FakeBroker(attempt.paths.run_dir) as broker:
        answered = broker.model_handler

        async def only_after_a_cut(
            reader: asyncio.StreamReader, writer: asyncio.StreamWriter
        ) -> None:
            broker.acks = False
            await broker.until(lambda: broker.of(VitalsSampled))
            for other in broker._open - {writer}:
                other.close()
            await broker.until(lambda: len(broker.openings) == 2)
            broker.acks = True
            await answered(reader, writer)

        broker.model_handler = only_after_a_cut
        assert await play(attempt, script)
    assert len(broker.openings) == 2
    said = [item.item.text for item in broker.of(TranscriptChanged)]
    assert said == [str(number) for number in range(200)]
    assert sorted(broker.envelopes) == list(range(1, len(broker.envelopes) + 1))


async def test_a_broker_that_stays_away_ends_the_agent(tmp_path: Path) -> None:
    attempt = lay_out(tmp_path)
    async with FakeBroker(attempt.paths.run_dir) as broker, asyncio.TaskGroup() as tasks:
        story = tasks.create_task(play(attempt, "import time\nsave(text='x')\ntime.sleep(60)"))
        await broker.until(lambda: broker.of(TranscriptChanged))
        await broker.vanish()
        assert not await story
    assert not broker.of(Claimed)


async def test_a_broker_that_comes_back_gets_the_claim_of_its_absence(tmp_path: Path) -> None:
    attempt = lay_out(tmp_path)
    ended = tmp_path / "ended"
    script = (
        f"import atexit, signal, sys, time\nsignal.signal(15, lambda *_: sys.exit(0))\n"
        f"atexit.register(lambda: open('{ended}', 'w').close())\nsave(text='x')\ntime.sleep(60)"
    )
    async with FakeBroker(attempt.paths.run_dir) as broker, asyncio.TaskGroup() as tasks:
        story = tasks.create_task(play(attempt, script))
        await broker.until(lambda: broker.of(TranscriptChanged))
        await broker.vanish()
        async with asyncio.timeout(20):
            while not ended.exists():  # noqa: ASYNC110 - a file has no event to wait for
                await asyncio.sleep(0.02)
        await broker.listen()
        assert await story
    claim = told_by(broker)
    assert claim.stop is not None
    assert claim.stop.reason is StopReason.BROKER_LOST
    assert claim.verifier is None


async def test_without_enrolment_there_is_no_attempt(tmp_path: Path) -> None:
    attempt = lay_out(tmp_path)
    async with FakeBroker(attempt.paths.run_dir) as broker:
        broker.refuse = "token used"
        with pytest.raises(EnrolError, match="token used"):
            await play(attempt, WORKS)
    assert not broker.events


async def test_a_reader_with_a_bug_does_not_end_the_run(tmp_path: Path) -> None:
    attempt = lay_out(tmp_path)
    async with FakeBroker(attempt.paths.run_dir) as broker:
        assert await play(
            attempt, "print('raise', flush=True)\nprint('raise', flush=True)\n" + WORKS
        )
    warnings = [warned for warned in broker.of(Warned) if warned.what == "session_reader"]
    assert len(warnings) == 1
    assert told_by(broker).wait == WaitStatus(exit_code=0)


async def test_the_relay_is_closed_when_the_agent_has_ended(tmp_path: Path) -> None:
    attempt = lay_out(
        tmp_path, test_script='python3 -c "$PROBE" && echo 1 > "$LOGS/verifier/reward.txt"'
    )
    async with FakeBroker(attempt.paths.run_dir) as broker:
        await play(attempt, "ask()")
        asked = len(broker.heads)
    events = broker.events
    (ended,) = (i for i, event in enumerate(events) if isinstance(event, HarnessEnded))
    (config,) = broker.of(ConfigWritten)
    assert config.base_url is not None
    port = int(config.base_url.rsplit(":", 1)[1])
    with pytest.raises(ConnectionRefusedError):
        await asyncio.open_connection("127.0.0.1", port)
    assert (asked, ended > 0) == (1, True)
