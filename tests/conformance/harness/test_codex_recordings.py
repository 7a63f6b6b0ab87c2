"""Runs that the real Codex saved, replayed. Recorded by record_codex.py."""

import msgspec
import pytest

from conformance.harness.recordings import Recorded, Recordings, items
from stanchion.harness_adapters.base import Saved
from stanchion.harness_adapters.codex import FLAGS, Codex
from stanchion.harness_adapters.codex.config import STREAM_RETRIES, VERSION
from stanchion.protocol.events import StepSaved
from stanchion.protocol.evidence import (
    Claim,
    Evidence,
    SessionEnd,
    SessionState,
    WaitStatus,
    WireFacts,
)
from stanchion.protocol.exchange import ErrorClass, Finish
from stanchion.protocol.outcome import EndReason, classify
from stanchion.protocol.transcript import ItemKind


class Recording(Recorded):
    requests: list[tuple[int | None, str, int, int]]
    """Limit, effort, status of the answer, how many."""
    stdout: list[str]
    rows: list[tuple[str, str]]


RECORDED = Recordings("codex", VERSION, Recording)
ALL = RECORDED.names


def replay(name: str, rows: int | None = None) -> tuple[list[Saved], SessionEnd]:
    recording = RECORDED.load(name)
    session = Codex().session()
    saved = session.rows(recording.rows[:rows])
    for line in recording.stdout[:rows]:
        saved += session.output(line.encode())
    return saved, session.end()


def steps(name: str) -> list[tuple[str, bool]]:
    return [(one.reason, one.counts) for one in replay(name)[0] if isinstance(one, StepSaved)]


@pytest.mark.parametrize(
    ("name", "exit_code", "state", "counted"),
    [
        ("success", 0, SessionState.GOOD, 2),
        ("two-calls", 0, SessionState.GOOD, 2),
        ("retried", 0, SessionState.GOOD, 2),
        ("no-usage", 0, SessionState.GOOD, 2),
        ("no-finish", 0, SessionState.GOOD, 2),
        ("invalid-call", 0, SessionState.GOOD, 1),
        ("empty", 0, SessionState.EMPTY, 0),
        ("length", 1, SessionState.LENGTH, 2),
        ("error-400", 1, SessionState.ERROR, 1),
        ("error-401", 1, SessionState.ERROR, 1),
        ("error-429", 1, SessionState.ERROR, 1),
        ("gave-up", 1, SessionState.ERROR, 1),
        ("compaction", -15, SessionState.MID_TURN, 1),
        ("killed", -15, SessionState.MID_TURN, 0),
    ],
)
def test_each_end_is_told_whatever_the_exit_code(
    name: str, exit_code: int, state: SessionState, counted: int
) -> None:
    _, end = replay(name)
    assert RECORDED.load(name).returncode == exit_code
    assert (end.state, end.steps) == (state, counted)


WIRE = {
    "empty": WireFacts(last_finish=Finish.STOP, last_result_ok=True),
    "length": WireFacts(last_finish=Finish.LENGTH, last_result_ok=True, length_stops=1),
    "error-400": WireFacts(last_result_ok=False),
    "error-401": WireFacts(last_result_ok=False, provider_refused=ErrorClass.AUTH),
    "error-429": WireFacts(last_result_ok=False, gave_up=True),
    "gave-up": WireFacts(last_result_ok=False),
    "killed": WireFacts(last_finish=Finish.TOOL_USE, last_result_ok=True),
}
"""What the broker saw beside it, where that is not one clean response after another."""
CLEAN = WireFacts(last_finish=Finish.STOP, last_result_ok=True)


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("success", EndReason.COMPLETED),
        ("retried", EndReason.COMPLETED),
        ("no-usage", EndReason.COMPLETED),
        ("empty", EndReason.SESSION_ERROR),
        ("length", EndReason.LENGTH_STOP),
        ("error-400", EndReason.HARNESS_EXIT),
        ("error-401", EndReason.PROVIDER_REFUSED),
        ("error-429", EndReason.RATE_LIMITED),
        ("gave-up", EndReason.HARNESS_EXIT),
        ("killed", EndReason.HARNESS_SIGNAL),
    ],
)
def test_each_end_has_its_reason_and_none_that_failed_is_clean(
    name: str, reason: EndReason
) -> None:
    code = RECORDED.load(name).returncode
    wait = WaitStatus(exit_code=code) if code >= 0 else WaitStatus(signal=-code)
    wire = msgspec.structs.replace(WIRE.get(name, CLEAN), exchanges=2, completed=1, whole=1)
    seen = Evidence(claim=Claim(wait=wait, session=replay(name)[1]), wire=wire)
    assert classify(seen).reason is reason


@pytest.mark.parametrize("name", ALL)
def test_each_request_says_the_effort_and_no_limit_which_is_what_is_corrected(name: str) -> None:
    assert {asked[:2] for asked in RECORDED.load(name).requests} == {(None, "max")}


def test_it_gives_up_after_the_tries_that_it_is_told() -> None:
    assert sum(asked[3] for asked in RECORDED.load("gave-up").requests) == 1 + 1 + STREAM_RETRIES


@pytest.mark.parametrize("name", ALL)
def test_a_run_that_broke_off_at_any_line_is_never_taken_for_a_good_end(name: str) -> None:
    rows = RECORDED.load(name).rows
    for cut in range(len(rows)):
        assert replay(name, cut)[1].state is not SessionState.GOOD


@pytest.mark.parametrize("name", ALL)
def test_lines_one_by_one_give_the_same_as_all_at_once(name: str) -> None:
    session = Codex().session()
    saved: list[Saved] = []
    for row in RECORDED.load(name).rows:
        saved += session.rows([row])
    assert saved == replay(name)[0]


def test_the_whole_conversation_is_there() -> None:
    saved, _ = replay("two-calls")
    assert [item.text for item in items(saved, ItemKind.USER)] == ["Do the task."]
    assert [item.text for item in items(saved, ItemKind.TEXT)] == ["All done."]
    assert [item.text for item in items(saved, ItemKind.REASONING)] == ["hm", "hm"]
    uses = [item.tool for item in items(saved, ItemKind.TOOL) if item.tool is not None]
    ended = {use.arguments: use.output or "" for use in uses if use.status == "completed"}
    assert list(ended) == ['{"cmd":"echo one"}', '{"cmd":"exit 3"}']
    assert "Output:\none" in ended['{"cmd":"echo one"}']
    ends = items(saved, ItemKind.STEP_END)
    assert [item.finish for item in ends] == ["tool_calls", "stop"]
    assert all(item.usage is not None and item.usage.input_tokens for item in ends)
    assert all(item.at_ms is not None for item in ends)


def test_a_step_whose_only_call_was_invalid_never_counts() -> None:
    assert steps("invalid-call") == [("tool_calls", False), ("stop", True)]


def test_a_response_that_was_cut_is_told_apart() -> None:
    assert steps("length") == [("tool_calls", True), ("length", True)]


def test_what_broke_off_is_no_step() -> None:
    assert steps("gave-up") == [("tool_calls", True)]
    assert steps("no-finish") == [("tool_calls", True), ("stop", True)]


def test_tokens_that_nobody_reported_are_unknown() -> None:
    *_, last = items(replay("no-usage")[0], ItemKind.STEP_END)
    assert last.usage is None


def test_a_compaction_is_shown_and_is_no_step() -> None:
    saved, end = replay("compaction")
    assert len(items(saved, ItemKind.COMPACTION)) == 1
    assert sum(isinstance(item, StepSaved) for item in saved) == end.steps == 1


def test_an_error_of_the_provider_is_said() -> None:
    saved, end = replay("error-400")
    (error,) = items(saved, ItemKind.ERROR)
    assert error.text == end.detail
    assert "status 400" in (end.detail or "")


@pytest.mark.parametrize("name", ALL)
def test_each_recording_is_of_the_command_that_is_planned(name: str) -> None:
    assert RECORDED.load(name).provenance.command == ["codex", *FLAGS]
