"""What no recording shows; the recordings are in tests/conformance/harness."""

import json

import pytest

from stanchion.harness_adapters.base import Saved
from stanchion.harness_adapters.codex.session import CodexSession
from stanchion.protocol.events import StepSaved
from stanchion.protocol.evidence import SessionState
from stanchion.protocol.transcript import ItemKind, TranscriptItem

Row = tuple[str, str]


def row(type_: str, file: str = "a", **payload: object) -> Row:
    line = {"timestamp": "2026-12-01T00:00:00.000Z", "type": type_, "payload": payload}
    return file, json.dumps(line)


def item(type_: str, **payload: object) -> Row:
    return row("response_item", type=type_, **payload)


def event(type_: str, **payload: object) -> Row:
    return row("event_msg", type=type_, **payload)


META = row("session_meta", id="root")
TEXT = item("message", id="m", role="assistant", content=[{"type": "output_text", "text": "x"}])
CALL = item("function_call", call_id="c", name="exec_command", arguments="{}")
OUTPUT = item("function_call_output", call_id="c", output="done")
COUNTED = row("token_usage_record", response_id="r", usage={"input_tokens": 1})
COMPLETE = event("task_complete")


def read(*rows: Row) -> tuple[list[Saved], CodexSession]:
    session = CodexSession()
    return session.rows(rows), session


def steps(saved: list[Saved]) -> list[tuple[str, bool]]:
    return [(step.reason, step.counts) for step in saved if isinstance(step, StepSaved)]


def test_nothing_saved_is_unknown_and_lines_of_no_session_are_nothing() -> None:
    saved, session = read(TEXT, COUNTED, COMPLETE, ("a", "garbage"))
    assert saved == []
    assert (session.end().state, session.end().steps) == (SessionState.UNKNOWN, None)
    assert session.output(b'{"type":"turn.completed"}') == []


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ((TEXT, COUNTED, COMPLETE), [("stop", True)]),
        ((TEXT, COMPLETE), [("stop", True)]),
        ((COUNTED, COMPLETE), [("unknown", False)]),
        ((COMPLETE,), []),
        ((CALL, OUTPUT), [("tool_calls", True)]),
        ((CALL, COUNTED), []),
        ((CALL, COUNTED, TEXT), [("tool_calls", False)]),
        ((TEXT, event("turn_aborted")), []),
        ((TEXT, event("task_complete", error={"message": "broke off"})), []),
    ],
    ids=["counted", "no counts", "empty", "nothing", "called", "running", "lost", "aborted", "cut"],
)
def test_a_step_is_a_whole_response_and_counts_with_content(
    rows: tuple[Row, ...], expected: list[tuple[str, bool]]
) -> None:
    saved, _ = read(META, *rows)
    assert steps(saved) == expected


def test_an_earlier_text_is_not_the_answer_of_an_empty_last_response() -> None:
    _, session = read(META, TEXT, CALL, COUNTED, OUTPUT, COUNTED, COMPLETE)
    assert session.end().state is SessionState.EMPTY


def test_text_beside_a_call_is_no_answer() -> None:
    _, session = read(META, TEXT, CALL, COUNTED, OUTPUT, COMPLETE)
    assert session.end().state is SessionState.EMPTY


def test_another_turn_takes_the_end_back() -> None:
    _, session = read(META, TEXT, COUNTED, COMPLETE, event("task_started"))
    assert session.end().state is SessionState.MID_TURN


def test_another_file_is_a_sub_agents_and_does_not_end_the_run() -> None:
    saved, session = read(
        META,
        row("session_meta", "b", id="child"),
        row(
            "response_item", "b", type="message", id="n", role="assistant", content=[{"text": "y"}]
        ),
        row("token_usage_record", "b", response_id="s", usage={}),
        row("event_msg", "b", type="task_complete"),
    )
    texts = [one for one in saved if isinstance(one, TranscriptItem) and one.text == "y"]
    assert [(one.session, one.parent_session) for one in texts] == [("child", "root")]
    assert (session.end().state, session.end().steps) == (SessionState.MID_TURN, 1)


def test_a_free_tool_and_thoughts_are_in_the_transcript() -> None:
    saved, _ = read(
        META,
        item("reasoning", id="t", summary=[], content=[{"text": "hm"}]),
        item("custom_tool_call", call_id="p", name="apply_patch", input="*** Begin"),
        item("custom_tool_call_output", call_id="p", output=[{"text": "ok"}]),
        item("function_call_output", call_id="nobody", output="?"),
    )
    items = [one for one in saved if isinstance(one, TranscriptItem)]
    assert [one.text for one in items if one.kind is ItemKind.REASONING] == ["hm"]
    uses = [one.tool for one in items if one.tool is not None]
    assert [(use.name, use.status, use.arguments, use.output) for use in uses] == [
        ("apply_patch", "running", "*** Begin", None),
        ("apply_patch", "completed", "*** Begin", "ok"),
    ]
