import asyncio
from pathlib import Path

import pytest

from fakes.attempt import lay_out
from fakes.fake_broker import FakeBroker
from functional.supervisor.story import WORKS, play, told_by
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
    TaskListChanged,
    TranscriptChanged,
    VerifierEnded,
    VitalsSampled,
    Warned,
)
from stanchion.protocol.evidence import AnswerState, SessionState, WaitStatus


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
