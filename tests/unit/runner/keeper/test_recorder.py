"""What of an event stream ends up in the result folder."""

import json
from pathlib import Path

import msgspec
import pytest

from stanchion.protocol.codec import encode
from stanchion.protocol.events import (
    AssertedBy,
    ConfigWritten,
    Event,
    FileSent,
    HarnessEnded,
    IsolationChecked,
    OutputStream,
    OutputWritten,
    Stage,
    StageChanged,
    StageState,
    StreamEntry,
    TaskListChanged,
    TranscriptChanged,
    VerifierEnded,
)
from stanchion.protocol.evidence import VerifierRun, WaitStatus
from stanchion.protocol.transcript import ItemKind, TaskListItem, TranscriptItem
from stanchion.runner.keeper.recorder import MAX_LISTS, Recorder


def entry(
    event: Event | bytes, *, at_ms: int = 5, by: AssertedBy = AssertedBy.SANDBOX
) -> StreamEntry:
    raw = event if isinstance(event, bytes) else encode(event)
    return StreamEntry(cursor="e.1", at_ms=at_ms, asserted_by=by, event=msgspec.Raw(raw))


@pytest.fixture
def recorder(tmp_path: Path) -> Recorder:
    return Recorder(tmp_path)


def verifier_ended(text: str | None, name: str | None) -> VerifierEnded:
    return VerifierEnded(
        run=VerifierRun(
            wait=WaitStatus(exit_code=0),
            timed_out=False,
            reward_text=text,
            reward_file=name,
            duration_ms=70,
        )
    )


def test_outputs_and_transcript_are_written_as_they_come(
    recorder: Recorder, tmp_path: Path
) -> None:
    item = TranscriptItem(id="1", session="s", kind=ItemKind.TEXT, text="hello")
    for event in (
        TranscriptChanged(item=item),
        OutputWritten(stream=OutputStream.HARNESS_STDOUT, data=b"out\n"),
        OutputWritten(stream=OutputStream.HARNESS_STDERR, data=b"err\n"),
        OutputWritten(stream=OutputStream.VERIFIER, data=b"1 passed\n"),
        FileSent(purpose="answer", path="/work/a", offset=0, data=b"x", last=True),
        verifier_ended("1\n", "reward.txt"),
    ):
        recorder.take(entry(event))

    assert json.loads((tmp_path / "transcript.jsonl").read_text())["text"] == "hello"
    assert (tmp_path / "harness.log").read_bytes() == b"out\nerr\n"
    assert (tmp_path / "verifier" / "output.txt").read_bytes() == b"1 passed\n"
    assert (tmp_path / "verifier" / "reward.txt").read_text() == "1\n"
    assert (tmp_path / "artifacts" / "work" / "a").read_bytes() == b"x"


@pytest.mark.parametrize("name", ["reward.json", "../../evil", None])
def test_a_reward_has_one_of_two_names(
    recorder: Recorder, tmp_path: Path, name: str | None
) -> None:
    recorder.take(entry(verifier_ended("{}", name)))

    expected = "reward.json" if name == "reward.json" else "reward.txt"
    assert [path.name for path in (tmp_path / "verifier").iterdir()] == [expected]


def test_no_reward_leaves_no_file(recorder: Recorder, tmp_path: Path) -> None:
    recorder.take(entry(verifier_ended(None, None)))

    assert not (tmp_path / "verifier").exists()


def test_the_moments_that_host_facts_need_are_kept(recorder: Recorder) -> None:
    opened = StageChanged(stage=Stage.SANDBOX, state=StageState.STARTED)
    recorder.take(entry(opened, at_ms=1, by=AssertedBy.HOST))
    complete = StageChanged(stage=Stage.LOAD, state=StageState.COMPLETE, duration_ms=3)
    recorder.take(entry(complete, at_ms=7))
    recorder.take(entry(IsolationChecked(mode="M2", checks={})))
    written = ConfigWritten(
        model="m", base_url=None, output_limit=8_000, context=None, effort="max"
    )
    recorder.take(entry(written))
    ended = HarnessEnded(wait=WaitStatus(exit_code=0), namespace_empty=True)
    recorder.take(entry(ended, at_ms=99))

    moments = recorder.moments
    assert (moments.first_event_ms, moments.agent_ended_ms) == (7, 99)
    assert (moments.stage_ms, moments.isolation) == ({Stage.LOAD: 3}, "M2")
    assert (moments.written_output_limit, moments.written_effort) == (8_000, "max")


def test_events_of_a_later_version_are_passed_over(recorder: Recorder, tmp_path: Path) -> None:
    recorder.take(entry(b'{"type":"from_the_future","x":1}'))

    assert (tmp_path / "harness.log").read_bytes() == b""


def test_a_file_that_cannot_be_written_does_not_stop_the_recording(
    recorder: Recorder, tmp_path: Path
) -> None:
    (tmp_path / "artifacts").write_text("in the way")
    recorder.take(entry(FileSent(purpose="answer", path="/work/a", offset=0, data=b"x", last=True)))
    recorder.take(entry(OutputWritten(stream=OutputStream.HARNESS_STDOUT, data=b"on\n")))

    assert (tmp_path / "harness.log").read_bytes() == b"on\n"


def test_the_agents_own_lists_are_kept_whole_by_session(recorder: Recorder, tmp_path: Path) -> None:
    for session, status in (("a", "pending"), ("b", "pending"), ("a", "completed")):
        item = TaskListItem(content="look", status=status)
        recorder.take(entry(TaskListChanged(session=session, items=(item,))))

    lists = json.loads((tmp_path / "tasks.json").read_text())
    assert {name: items[0]["status"] for name, items in lists.items()} == {
        "a": "completed",
        "b": "pending",
    }


def test_a_sandbox_cannot_make_the_lists_grow_for_ever(recorder: Recorder, tmp_path: Path) -> None:
    for number in range(MAX_LISTS + 5):
        recorder.take(entry(TaskListChanged(session=str(number), items=())))

    assert len(json.loads((tmp_path / "tasks.json").read_text())) == MAX_LISTS
