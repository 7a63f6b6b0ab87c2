from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from fakes.any_json import ANY_JSON
from stanchion.harness_adapters.base import Saved
from stanchion.harness_adapters.claude_code.session import ClaudeCodeSession
from stanchion.protocol.evidence import SessionState
from stanchion.protocol.transcript import ItemKind, TranscriptItem
from unit.harness_adapters.stream_json_lines import ROOT, answered, line, steps, text


def said(message: str, *blocks: dict[str, Any], within: str | None = None, **fields: Any) -> bytes:
    body = {"id": message, "model": "m", "content": blocks}
    return line("assistant", message=body, parent_tool_use_id=within, **fields)


def call(name: str, tool: str = "Bash") -> dict[str, Any]:
    return {"type": "tool_use", "id": name, "name": tool, "input": {"command": "ls"}}


def result(**fields: Any) -> bytes:
    plain = {"is_error": False, "stop_reason": "end_turn", "result": "Done."}
    return line("result", **{**plain, **fields})


def read(*printed: bytes) -> tuple[ClaudeCodeSession, list[Saved]]:
    session = ClaudeCodeSession()
    return session, [item for each in printed for item in session.output(each)]


def test_a_response_is_one_step_however_many_blocks_it_has() -> None:
    session, saved = read(
        said("1", {"type": "thinking", "thinking": "hm"}),
        said("1", text("I look."), {"type": "thinking", "thinking": ""}),
        said("1", call("a")),
        said("1", call("b")),
        answered("a"),
        answered("b"),
        said("2", text("Done.")),
        result(),
    )
    assert steps(saved) == [(ROOT, "tool_use", True), (ROOT, "end_turn", True)]
    assert (session.end().state, session.end().steps) == (SessionState.GOOD, 2)


def test_a_response_that_something_else_follows_is_unknown() -> None:
    nudge = line("user", message={"content": [text("Resume directly.")]})
    _, saved = read(said("1", text("I th")), nudge, said("2", text("x")), said("3", text("y")))
    assert steps(saved) == [(ROOT, "unknown", False), (ROOT, "unknown", False)]


def test_a_step_of_nothing_but_thoughts_or_calls_that_are_none_never_counts() -> None:
    wrong = "<tool_use_error>Error: No such tool available: Foo</tool_use_error>"
    _, saved = read(
        said("1", call("a", "Foo")),
        answered("a", wrong, is_error=True),
        said("2", {"type": "thinking", "thinking": "hm"}),
        result(result=""),
    )
    assert steps(saved) == [(ROOT, "tool_use", False), (ROOT, "end_turn", False)]


def test_a_sub_agent_has_a_conversation_of_its_own() -> None:
    session, saved = read(
        said("1", call("a", "Agent")),
        said("2", call("b"), within="a"),
        answered("b", within="a"),
        said("3", text("Sub done."), within="a"),
        answered("a", [{"type": "text", "text": "Sub done."}]),
        said("4", text("Done.")),
        result(),
    )
    assert steps(saved) == [
        ("a", "tool_use", True),
        ("a", "end_turn", True),
        (ROOT, "tool_use", True),
        (ROOT, "end_turn", True),
    ]
    items = [item for item in saved if isinstance(item, TranscriptItem)]
    assert {item.parent_session for item in items if item.session == "a"} == {ROOT}
    assert {item.parent_session for item in items if item.session == ROOT} == {None}
    assert session.end().steps == 4


def test_a_call_is_told_again_with_its_result() -> None:
    _, saved = read(said("1", call("a")), answered("a", "no", is_error=True), answered("zz"))
    tools = [item.tool for item in saved if isinstance(item, TranscriptItem) and item.tool]
    assert [(tool.status, tool.output) for tool in tools] == [("running", None), ("error", "no")]
    assert tools[0].arguments == '{"command": "ls"}'


def test_an_error_that_it_wrote_itself_is_no_step() -> None:
    body = {"id": "x", "model": "<synthetic>", "content": [text("API Error: 400")]}
    session, saved = read(
        line("assistant", message=body, error="max_output_tokens", uuid="u"),
        result(is_error=True, result="API Error: 400"),
    )
    assert steps(saved) == []
    (error,) = saved
    assert isinstance(error, TranscriptItem)
    assert (error.kind, error.text) == (ItemKind.ERROR, "API Error: 400")
    assert session.end().state is SessionState.LENGTH


def test_a_result_is_the_end_only_until_the_model_speaks_again() -> None:
    session, _ = read(said("1", text("x")), result(), said("2", text("more")))
    assert session.end().state is SessionState.MID_TURN
    session.output(result())
    assert session.end().state is SessionState.GOOD


def test_nothing_is_over_while_a_task_runs_in_the_background() -> None:
    tasks = [{"task_id": "1", "description": "sub"}]
    session, _ = read(
        line("system", subtype="background_tasks_changed", tasks=tasks),
        said("1", text("x")),
        result(),
    )
    assert session.end().state is SessionState.MID_TURN
    session.output(line("system", subtype="background_tasks_changed", tasks=[]))
    assert session.end().state is SessionState.GOOD


def test_a_compaction_is_shown_and_is_no_step() -> None:
    _, saved = read(line("system", subtype="compact_boundary", uuid="u"))
    (item,) = saved
    assert isinstance(item, TranscriptItem)
    assert item.kind is ItemKind.COMPACTION


def test_without_a_line_nothing_is_known() -> None:
    session, saved = read(b"hello", b'{"type": "result", "is_error": false, "result": "x"}')
    assert saved == session.rows([(1,)]) == []
    assert (session.end().state, session.end().steps) == (SessionState.UNKNOWN, None)


NAMES = ("id", "model", "content", "message", "tasks", "result", "is_error", "parent_tool_use_id")


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
