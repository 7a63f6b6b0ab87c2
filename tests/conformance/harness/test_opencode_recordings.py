"""Sessions that the real OpenCode saved, replayed. Recorded by record_opencode.py."""

import msgspec
import pytest

from conformance.harness.recordings import Recorded, Recordings, items, steps
from stanchion.harness_adapters.base import Saved, TaskListSaved
from stanchion.harness_adapters.opencode import EVENTS, OpenCode
from stanchion.harness_adapters.opencode.config import VERSION
from stanchion.protocol.evidence import SessionEnd, SessionState
from stanchion.protocol.transcript import ItemKind


class Recording(Recorded):
    stderr: str
    stdout: list[str]
    rows: list[tuple[int, str, int, str, str]]


RECORDED = Recordings("opencode", VERSION, Recording)
ALL = RECORDED.names


def replay(name: str) -> tuple[list[Saved], SessionEnd]:
    recording = RECORDED.load(name)
    session = OpenCode().session()
    saved = session.rows(recording.rows)
    for line in recording.stdout:
        saved += session.output(line.encode())
    return saved, session.end()


@pytest.mark.parametrize(
    ("name", "exit_code", "state", "counted"),
    [
        ("success", 0, SessionState.GOOD, 7),
        ("length", 0, SessionState.LENGTH, 1),
        ("killed", -15, SessionState.MID_TURN, 0),
        ("error-400", 1, SessionState.ERROR, 1),
        ("unknown-finish", 0, SessionState.GOOD, 1),
        ("invalid-tool", 0, SessionState.GOOD, 1),
        ("empty", 0, SessionState.EMPTY, 1),
        ("content-filter", 1, SessionState.ERROR, 0),
        ("rejected", 0, SessionState.REJECTED, 1),
        ("compaction", 0, SessionState.GOOD, 2),
    ],
)
def test_each_end_is_told_whatever_the_exit_code(
    name: str, exit_code: int, state: SessionState, counted: int
) -> None:
    _, end = replay(name)
    assert RECORDED.load(name).returncode == exit_code
    assert (end.state, end.steps) == (state, counted)


def test_the_whole_conversation_is_there_with_the_sub_agents() -> None:
    saved, _ = replay("success")
    roots = {item.session for item in items(saved, ItemKind.USER) if item.parent_session is None}
    assert len(roots) == 1
    tools = [item for item in items(saved, ItemKind.TOOL) if item.tool]
    ended = [
        (item.tool.name, item.parent_session in roots)
        for item in tools
        if item.tool and item.tool.status == "completed"
    ]
    assert ended == [
        ("bash", False),
        ("todowrite", False),
        ("bash", True),
        ("task", False),
        ("todowrite", False),
    ]
    assert [item.text for item in items(saved, ItemKind.TEXT)] == [
        "The sub-task is done.",
        "All done.",
    ]
    assert [item.text for item in items(saved, ItemKind.USER)] == [
        "Do the task.",
        "do the sub-task",
    ]
    assert len(items(saved, ItemKind.REASONING)) == 6
    assert len(items(saved, ItemKind.STEP_END)) == 7


def test_the_task_list_is_followed() -> None:
    saved, _ = replay("success")
    lists = [item for item in saved if isinstance(item, TaskListSaved)]
    assert [[line.status for line in item.items] for item in lists] == [
        ["completed", "in_progress"],
        ["completed", "completed"],
    ]


def test_streams_without_a_finish_reason_are_steps_that_never_count() -> None:
    saved, _ = replay("unknown-finish")
    assert steps(saved) == [("unknown", False), ("unknown", False), ("stop", True)]


def test_steps_of_invalid_calls_never_count() -> None:
    saved, _ = replay("invalid-tool")
    assert steps(saved) == [("tool-calls", False), ("tool-calls", False), ("stop", True)]


def test_a_compaction_is_shown_and_is_no_progress() -> None:
    saved, _ = replay("compaction")
    assert steps(saved) == [("tool-calls", True), ("stop", False), ("stop", True)]
    assert "Summary: one was echoed." in [item.text for item in items(saved, ItemKind.COMPACTION)]


def test_an_error_of_the_provider_is_said() -> None:
    saved, end = replay("error-400")
    (error,) = items(saved, ItemKind.ERROR)
    assert error.text == end.detail == "APIError 400: this request is refused"


@pytest.mark.parametrize("name", ALL)
def test_rows_one_by_one_give_the_same_as_all_at_once(name: str) -> None:
    session = OpenCode().session()
    saved: list[Saved] = []
    for row in RECORDED.load(name).rows:
        saved += session.rows([row])
    whole, _ = replay(name)
    assert saved == whole


@pytest.mark.parametrize("name", ALL)
def test_a_run_that_broke_off_at_any_row_is_never_taken_for_a_good_end(name: str) -> None:
    """Nothing is good before the final answer's own finish is saved."""
    rows = RECORDED.load(name).rows
    final = max(
        (index for index, row in enumerate(rows) if '"finish":"stop"' in row[4]), default=len(rows)
    )
    first_final = next(
        (
            index
            for index, row in enumerate(rows)
            if '"finish":"stop"' in row[4]
            and message(row) == message(rows[min(final, len(rows) - 1)])
        ),
        len(rows),
    )
    for cut in range(first_final + 1):
        session = OpenCode().session()
        session.rows(rows[:cut])
        assert session.end().state is not SessionState.GOOD


def message(row: tuple[int, str, int, str, str]) -> str:
    info = msgspec.json.decode(row[4]).get("info", {})
    return str(info.get("id"))


@pytest.mark.parametrize("name", ALL)
def test_each_recording_is_of_the_query_that_is_planned(name: str) -> None:
    assert RECORDED.load(name).provenance.query == EVENTS
