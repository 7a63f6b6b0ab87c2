"""Runs that real harnesses printed, replayed. Recorded by record_printed.py."""

import pytest

from conformance.harness.recordings import Recorded, Recordings
from stanchion.harness_adapters import registry
from stanchion.harness_adapters.base import Saved, TaskListSaved
from stanchion.protocol.events import StepSaved
from stanchion.protocol.evidence import SessionEnd, SessionState
from stanchion.protocol.transcript import ItemKind, TranscriptItem

HARNESSES = ("gemini_cli", "pi", "qwen_code")
LIMIT = 128_000


class Recording(Recorded):
    requests: list[tuple[int, str, bool, int]]
    stdout: list[str]
    rows: tuple[tuple[str, str], ...] = ()
    """Of those that save their session as well: file and line."""


RECORDED = {
    harness: Recordings(harness, registry.adapter(harness).versions[-1], Recording)
    for harness in HARNESSES
}
ALL = [(harness, name) for harness in HARNESSES for name in RECORDED[harness].names]


def replay(harness: str, name: str, lines: int | None = None) -> tuple[list[Saved], SessionEnd]:
    session = registry.adapter(harness).session()
    recording = RECORDED[harness].load(name)
    printed = recording.stdout[:lines]
    saved = session.rows(recording.rows)
    saved += [item for line in printed for item in session.output(line.encode())]
    return saved, session.end()


@pytest.mark.parametrize(
    ("harness", "name", "exit_code", "state", "counted"),
    [
        # It says success of a cut answer too, so there the wire alone decides.
        ("gemini_cli", "success", 0, SessionState.UNKNOWN, 2),
        ("gemini_cli", "length", 0, SessionState.UNKNOWN, 1),
        ("gemini_cli", "thoughts-cut", 0, SessionState.LENGTH, 0),
        ("gemini_cli", "error-400", 400 & 255, SessionState.ERROR, 1),
        ("gemini_cli", "empty", 0, SessionState.EMPTY, 0),
        ("gemini_cli", "broken", 1, SessionState.ERROR, 0),
        ("gemini_cli", "invalid-tool", 0, SessionState.UNKNOWN, 1),
        ("gemini_cli", "sub-agent", 0, SessionState.UNKNOWN, 2),
        ("pi", "success", 0, SessionState.GOOD, 2),
        ("pi", "length", 0, SessionState.LENGTH, 1),
        ("pi", "thoughts-cut", 0, SessionState.LENGTH, 0),
        ("pi", "error-400", 0, SessionState.ERROR, 1),
        ("pi", "empty", 0, SessionState.EMPTY, 0),
        ("pi", "broken", 0, SessionState.ERROR, 0),
        ("pi", "invalid-tool", 0, SessionState.GOOD, 1),
        ("pi", "error-500-once", 0, SessionState.GOOD, 1),
        ("qwen_code", "success", 0, SessionState.GOOD, 2),
        # Of the cut there is no trace: the last response on the wire decides.
        ("qwen_code", "length", 0, SessionState.GOOD, 1),
        ("qwen_code", "thoughts-cut", 0, SessionState.EMPTY, 0),
        ("qwen_code", "error-400", 0, SessionState.ERROR, 1),
        ("qwen_code", "empty", 0, SessionState.EMPTY, 0),
        ("qwen_code", "broken", 0, SessionState.ERROR, 0),
        ("qwen_code", "invalid-tool", 0, SessionState.GOOD, 1),
        ("qwen_code", "task-list", 0, SessionState.GOOD, 2),
        ("qwen_code", "sub-agent", 0, SessionState.GOOD, 2),
    ],
)
def test_each_end_is_told_whatever_the_exit_code(
    harness: str, name: str, exit_code: int, state: SessionState, counted: int
) -> None:
    _, end = replay(harness, name)
    assert RECORDED[harness].load(name).returncode == exit_code
    assert (end.state, end.steps) == (state, counted)


@pytest.mark.parametrize(("harness", "name"), ALL)
def test_each_request_is_as_declared(harness: str, name: str) -> None:
    requests = RECORDED[harness].load(name).requests
    assert {limit for limit, _, _, _ in requests} == {LIMIT}
    assert len({effort for _, effort, _, _ in requests}) == 1


@pytest.mark.parametrize(("harness", "name"), ALL)
def test_a_run_that_broke_off_at_any_line_is_never_taken_for_a_good_end(
    harness: str, name: str
) -> None:
    for cut in range(len(RECORDED[harness].load(name).stdout)):
        assert replay(harness, name, cut)[1].state is not SessionState.GOOD


@pytest.mark.parametrize(("harness", "name"), ALL)
def test_the_thoughts_and_the_end_of_each_step_are_in_the_transcript(
    harness: str, name: str
) -> None:
    saved, _ = replay(harness, name)
    items = [item for item in saved if isinstance(item, TranscriptItem)]
    ends = [item.usage for item in items if item.kind is ItemKind.STEP_END]
    assert len(ends) == sum(isinstance(item, StepSaved) for item in saved)
    assert None not in ends
    thought = "hm" in [item.text for item in items if item.kind is ItemKind.REASONING]
    assert thought or not ends or name in {"length", "thoughts-cut", "error-500-once"}


def test_the_task_list_is_followed() -> None:
    saved, _ = replay("qwen_code", "task-list")
    lists = [item.items for item in saved if isinstance(item, TaskListSaved)]
    assert [(one.content, one.status) for one in lists[-1]] == [("write it", "in_progress")]
