"""Runs that the real Claude Code printed, replayed. Recorded by record_claude_code.py."""

import pytest

from conformance.harness.recordings import Recorded, Recordings
from stanchion.harness_adapters.base import Saved
from stanchion.harness_adapters.claude_code import FALLBACK_CAP, ClaudeCode
from stanchion.harness_adapters.claude_code.config import VERSION
from stanchion.protocol.events import StepSaved
from stanchion.protocol.evidence import SessionEnd, SessionState
from stanchion.protocol.transcript import ItemKind, TranscriptItem

LIMIT = 128_000


class Recording(Recorded):
    requests: list[tuple[int, str, bool, int]]
    stdout: list[str]


RECORDED = Recordings("claude_code", VERSION, Recording)
ALL = RECORDED.names


def replay(name: str, lines: int | None = None) -> tuple[list[Saved], SessionEnd]:
    session = ClaudeCode().session()
    saved = [
        item
        for line in RECORDED.load(name).stdout[:lines]
        for item in session.output(line.encode())
    ]
    return saved, session.end()


@pytest.mark.parametrize(
    ("name", "exit_code", "state", "counted"),
    [
        ("success", 0, SessionState.GOOD, 2),
        ("length", 1, SessionState.LENGTH, 0),
        ("length-once", 0, SessionState.GOOD, 1),
        ("error-400", 1, SessionState.ERROR, 1),
        ("empty", 0, SessionState.EMPTY, 0),
        ("broken", 1, SessionState.ERROR, 0),
        ("fallback", 0, SessionState.GOOD, 1),
        ("compaction", 1, SessionState.ERROR, 4),
    ],
)
def test_each_end_is_told_whatever_the_exit_code(
    name: str, exit_code: int, state: SessionState, counted: int
) -> None:
    _, end = replay(name)
    assert RECORDED.load(name).returncode == exit_code
    assert (end.state, end.steps) == (state, counted)


@pytest.mark.parametrize("name", ALL)
def test_each_request_is_as_declared_or_what_the_correction_is_declared_for(name: str) -> None:
    requests = RECORDED.load(name).requests
    assert {effort for _, effort, _, _ in requests} == {"max"}
    assert {limit for limit, _, stream, _ in requests if stream} == {LIMIT}
    without = {limit for limit, _, stream, _ in requests if not stream}
    assert without == ({FALLBACK_CAP} if name == "fallback" else set())


@pytest.mark.parametrize("name", ALL)
def test_a_run_that_broke_off_at_any_line_is_never_taken_for_a_good_end(name: str) -> None:
    for cut in range(len(RECORDED.load(name).stdout)):
        assert replay(name, cut)[1].state is not SessionState.GOOD


def test_compactions_are_shown_and_are_no_steps() -> None:
    saved, end = replay("compaction")
    kinds = [item.kind for item in saved if isinstance(item, TranscriptItem)]
    assert kinds.count(ItemKind.COMPACTION) == 3
    assert sum(isinstance(item, StepSaved) for item in saved) == end.steps
