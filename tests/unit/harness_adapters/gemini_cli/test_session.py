import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes.any_json import ANY_JSON
from stanchion.harness_adapters.base import Saved
from stanchion.harness_adapters.gemini_cli.session import GeminiCliSession
from stanchion.protocol.events import StepSaved
from stanchion.protocol.evidence import SessionState
from stanchion.protocol.transcript import ItemKind, TranscriptItem
from stanchion.protocol.usage import Usage

MAIN, SUB = "work/chats/session-1.jsonl", "work/chats/1/2.jsonl"
TOKENS = {"input": 900, "output": 40, "cached": 0, "thoughts": 20}


def head(path: str, session: str, kind: str = "main") -> tuple[str, str]:
    return path, json.dumps({"sessionId": session, "kind": kind})


def record(path: str, name: str, content: Any = "", **fields: Any) -> tuple[str, str]:
    plain = {"type": "gemini", "id": name, "content": content, "tokens": TOKENS}
    return path, json.dumps({**plain, **fields})


def call(name: str, status: str = "success", **response: str) -> dict[str, Any]:
    answer = {"functionResponse": {"response": response or {"output": "ok"}}}
    return {
        "id": name,
        "name": "run_shell_command",
        "args": {},
        "status": status,
        "result": [answer],
    }


def printed(kind: str, **fields: Any) -> bytes:
    return json.dumps({"type": kind, **fields}).encode()


def read(rows: list[tuple[str, str]], *lines: bytes) -> tuple[GeminiCliSession, list[Saved]]:
    session = GeminiCliSession()
    saved = session.rows(rows)
    for line in (printed("init", session_id="1"), *lines):
        assert session.output(line) == []
    return session, saved


def steps(saved: list[Saved]) -> list[tuple[str, str, bool]]:
    return [(s.session, s.reason, s.counts) for s in saved if isinstance(s, StepSaved)]


def test_a_response_that_is_saved_again_with_its_tools_is_one_step() -> None:
    thought = {"subject": "Look", "description": "hm"}
    _, saved = read([
        head(MAIN, "1"),
        record(MAIN, "u", [{"text": "Do it."}], type="user"),
        record(MAIN, "a", thoughts=[thought]),
        record(MAIN, "a", thoughts=[thought], toolCalls=[call("c")]),
        record(MAIN, "r", [{"functionResponse": {}}], type="user"),
        record(MAIN, "b", "Done."),
        record(MAIN, "b", "Done."),
    ])  # fmt: skip
    assert steps(saved) == [("1", "tool_calls", True), ("1", "answered", True)]
    items = [item for item in saved if isinstance(item, TranscriptItem)]
    assert [(item.kind, item.text) for item in items if item.text] == [
        (ItemKind.USER, "Do it."),
        (ItemKind.REASONING, "Look\nhm"),
        (ItemKind.TEXT, "Done."),
    ]
    (tool,) = [item.tool for item in items if item.tool]
    assert (tool.status, tool.output) == ("completed", "ok")
    ends = [item.usage for item in items if item.kind is ItemKind.STEP_END]
    assert ends == [Usage(input_tokens=900, output_tokens=60, reasoning_tokens=20)] * 2


def test_wrong_calls_never_count() -> None:
    wrong = call("c", "error", error="params must have required property 'command'")
    _, saved = read([head(MAIN, "1"), record(MAIN, "a", toolCalls=[wrong])])
    assert steps(saved) == [("1", "tool_calls", False)]


def test_a_sub_agent_has_a_conversation_of_its_own() -> None:
    _, saved = read([head(MAIN, "1"), head(SUB, "2", "subagent"), record(SUB, "a", "Sub.")])
    assert steps(saved) == [("2", "answered", True)]
    (text,) = [i for i in saved if isinstance(i, TranscriptItem) and i.kind is ItemKind.TEXT]
    assert (text.session, text.parent_session) == ("2", "1")


def test_a_file_without_a_head_belongs_to_no_session() -> None:
    assert read([record(MAIN, "a", "Done.")])[1] == []


ANSWER = printed("message", role="assistant", content="Done.")
SUCCESS = printed("result", status="success")


@pytest.mark.parametrize(
    ("lines", "state"),
    [
        ([ANSWER, SUCCESS], SessionState.UNKNOWN),
        ([ANSWER], SessionState.MID_TURN),
        ([SUCCESS], SessionState.EMPTY),
        ([ANSWER, printed("tool_use"), printed("tool_result"), SUCCESS], SessionState.EMPTY),
        ([ANSWER, printed("result", status="error")], SessionState.ERROR),
        (
            [printed("error", message="it exceeded the token limit"), printed("result")],
            SessionState.LENGTH,
        ),
        (
            [printed("error", message="thoughts but no final response text"), printed("result")],
            SessionState.EMPTY,
        ),
    ],
)
def test_no_end_is_good_by_its_own_word_and_failures_are_named(
    lines: list[bytes], state: SessionState
) -> None:
    assert read([], *lines)[0].end().state is state


def test_without_a_line_nothing_is_known() -> None:
    session = GeminiCliSession()
    assert session.output(b"hello") == session.output(SUCCESS) == session.rows([(1,)]) == []
    assert (session.end().state, session.end().steps) == (SessionState.UNKNOWN, None)


NAMES = ("id", "type", "content", "thoughts", "tokens", "toolCalls", "status", "error", "role")


@given(
    st.sampled_from(["gemini", "user", "init", "message", "result", "error"]),
    st.dictionaries(st.sampled_from(NAMES), ANY_JSON),
)
def test_garbage_never_raises(kind: str, fields: dict[str, object]) -> None:
    line = json.dumps({"type": kind, "id": "a", **fields})
    session, _ = read([head(MAIN, "1"), (MAIN, line)])
    session.output(line.encode())
    session.end()
