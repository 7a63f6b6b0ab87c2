from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes.any_json import ANY_JSON
from stanchion.harness_adapters.base import Saved, TaskListSaved
from stanchion.harness_adapters.qwen_code.session import QwenCodeSession
from stanchion.protocol.evidence import SessionState
from stanchion.protocol.transcript import ItemKind, TranscriptItem
from stanchion.protocol.usage import Usage
from unit.harness_adapters.stream_json_lines import ROOT, answered, line, steps, text

KNOWN = {"input_tokens": 900, "output_tokens": 60, "cache_read_input_tokens": 0}


def said(*blocks: dict[str, Any], within: str | None = None, usage: Any = None) -> bytes:
    usage = usage or {"input_tokens": 0, "output_tokens": 0}
    body = {"id": f"m{hash(str(blocks))}", "content": blocks, "usage": usage}
    return line("assistant", message=body, parent_tool_use_id=within)


def call(name: str, tool: str = "run_shell_command", **arguments: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": name, "name": tool, "input": arguments}


def result(**fields: Any) -> bytes:
    return line("result", **{"is_error": False, "subtype": "success", "result": "Done.", **fields})


def read(*printed: bytes) -> tuple[QwenCodeSession, list[Saved]]:
    session = QwenCodeSession()
    return session, [item for each in printed for item in session.output(each)]


def test_a_response_of_several_lines_is_one_step_with_its_usage() -> None:
    session, saved = read(
        said({"type": "thinking", "thinking": "hm"}),
        said(text("I look.")),
        said(call("a"), call("b"), usage=KNOWN),
        answered("a"),
        answered("b"),
        said(text("Done."), usage=KNOWN),
        result(),
    )
    assert steps(saved) == [(ROOT, "tool_use", True), (ROOT, "end_turn", True)]
    assert (session.end().state, session.end().steps) == (SessionState.GOOD, 2)
    items = [item for item in saved if isinstance(item, TranscriptItem)]
    ends = [item.usage for item in items if item.kind is ItemKind.STEP_END]
    assert ends == [Usage(input_tokens=900, output_tokens=60)] * 2


def test_a_step_of_nothing_but_thoughts_or_wrong_calls_never_counts() -> None:
    _, saved = read(
        said(call("a"), usage=KNOWN),
        answered("a", "params must have required property 'command'", is_error=True),
        said({"type": "thinking", "thinking": "hm"}, usage=KNOWN),
        result(result=""),
    )
    assert steps(saved) == [(ROOT, "tool_use", False), (ROOT, "unknown", False)]


def test_an_error_of_the_provider_is_no_step_although_it_looks_like_the_models_words() -> None:
    error = "[API Error: 400 no]"
    session, saved = read(said(text(error)), result(result=error))
    assert steps(saved) == []
    (item,) = saved
    assert isinstance(item, TranscriptItem)
    assert (item.kind, item.text) == (ItemKind.ERROR, error)
    assert (session.end().state, session.end().detail) == (SessionState.ERROR, error)


def test_a_stream_that_broke_off_is_a_step_that_never_counts() -> None:
    broken = "I am writing[API Error: terminated]"
    session, saved = read(said(text(broken), usage=KNOWN), result(result=broken))
    assert steps(saved) == [(ROOT, "unknown", False)]
    assert session.end().detail == "[API Error: terminated]"


def test_a_sub_agent_has_a_conversation_of_its_own_and_its_end_is_not_the_runs() -> None:
    session, saved = read(
        said(call("a", "agent"), usage=KNOWN),
        line("user", message={"content": [text("Sub.")]}, parent_tool_use_id="a", uuid="u"),
        said(call("b"), within="a", usage=KNOWN),
        answered("b", within="a"),
        said(text("Sub done."), within="a", usage=KNOWN),
        result(is_error=True, error={"message": "sub"}),
    )
    assert session.end().state is SessionState.ERROR
    saved += [*session.output(answered("a")), *session.output(said(text("Done."), usage=KNOWN))]
    assert session.end().state is SessionState.MID_TURN
    saved += session.output(result())
    assert session.end().state is SessionState.GOOD
    assert steps(saved)[0] == ("a", "tool_use", True)
    assert steps(saved)[-1] == (ROOT, "end_turn", True)
    items = [item for item in saved if isinstance(item, TranscriptItem)]
    assert {item.parent_session for item in items if item.session == "a"} == {ROOT}


def test_the_task_list_is_followed_once_it_was_taken() -> None:
    todos = [{"id": "1", "content": "write", "status": "in_progress"}]
    _, saved = read(
        said(call("a", "todo_write", todos=todos), call("b", "todo_write", x=1), usage=KNOWN),
        answered("a"),
        answered("b"),
    )
    lists = [item.items for item in saved if isinstance(item, TaskListSaved)]
    assert [[(one.content, one.status) for one in items] for items in lists] == [
        [("write", "in_progress")]
    ]


@pytest.mark.parametrize(
    ("fields", "state"),
    [
        ({"result": " "}, SessionState.EMPTY),
        ({"result": None}, SessionState.EMPTY),
        ({"is_error": None}, SessionState.ERROR),
        ({"permission_denials": [{"tool_name": "x"}]}, SessionState.REJECTED),
    ],
)
def test_the_word_success_alone_is_no_good_end(
    fields: dict[str, object], state: SessionState
) -> None:
    session, _ = read(said(text("x"), usage=KNOWN), result(**fields))
    assert session.end().state is state


def test_without_a_line_nothing_is_known() -> None:
    session, saved = read(b"hello", b'{"type": "result", "is_error": false, "result": "x"}')
    assert saved == session.rows([(1,)]) == []
    assert (session.end().state, session.end().steps) == (SessionState.UNKNOWN, None)


NAMES = ("id", "content", "usage", "result", "is_error", "parent_tool_use_id", "error")


@given(
    st.sampled_from(["assistant", "user", "result", "system", "x"]),
    st.dictionaries(st.sampled_from(NAMES), ANY_JSON),
    st.dictionaries(st.sampled_from(NAMES), ANY_JSON),
)
def test_garbage_never_raises(
    kind: str, fields: dict[str, object], message: dict[str, object]
) -> None:
    session, _ = read(line(kind, **{"message": message, **fields}), line(kind, **fields))
    session.end()
