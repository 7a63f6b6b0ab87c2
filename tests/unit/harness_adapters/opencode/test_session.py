import json

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from stanchion.harness_adapters.base import Saved, TaskListSaved
from stanchion.harness_adapters.opencode.session import OpenCodeSession
from stanchion.protocol.events import StepSaved
from stanchion.protocol.evidence import SessionState
from stanchion.protocol.transcript import ItemKind, TranscriptItem
from stanchion.protocol.usage import Usage

ROOT, CHILD = "ses_root", "ses_child"


class Log:
    """Writes rows as OpenCode does and reads them at once."""

    def __init__(self) -> None:
        self.session = OpenCodeSession()
        self.cursor = 0
        self.started(ROOT)

    def row(self, kind: str, data: object) -> list[Saved]:
        self.cursor += 1
        return self.session.rows([(self.cursor, ROOT, self.cursor, f"{kind}.1", json.dumps(data))])

    def started(self, session: str, parent: str | None = None) -> None:
        info = {"id": session} if parent is None else {"id": session, "parentID": parent}
        self.row("session.created", {"sessionID": session, "info": info})

    def message(self, name: str, *, session: str = ROOT, **info: object) -> list[Saved]:
        base = {"id": name, "sessionID": session, "role": "assistant", "time": {"created": 1}}
        return self.row("message.updated", {"info": {**base, **info}})

    def part(self, message: str, name: str, *, session: str = ROOT, **part: object) -> list[Saved]:
        base = {"id": name, "messageID": message, "sessionID": session}
        return self.row("message.part.updated", {"part": {**base, **part}, "time": 5})

    def tool(
        self, message: str, name: str, status: str, *, tool: str = "bash", **more: object
    ) -> list[Saved]:
        state = {"status": status, "input": {}, **more}
        return self.part(message, name, type="tool", tool=tool, callID="c", state=state)

    def finish(self, message: str, name: str, reason: str, tokens: object = None) -> list[Saved]:
        return self.part(message, name, type="step-finish", reason=reason, tokens=tokens)


def steps(saved: list[Saved]) -> list[bool]:
    return [item.counts for item in saved if isinstance(item, StepSaved)]


def test_a_step_counts_once_however_often_it_is_saved() -> None:
    log = Log()
    log.message("m")
    assert steps(log.finish("m", "f", "stop")) == [True]
    assert steps(log.finish("m", "f", "stop")) == []
    assert log.session.end().steps == 1


def test_reasons_that_are_no_complete_response_never_count() -> None:
    log = Log()
    log.message("m")
    for index, reason in enumerate(["unknown", "error", "content-filter", "other", ""]):
        assert steps(log.finish("m", f"f{index}", reason)) == [False]
    assert steps(log.finish("m", "length", "length")) == [True]


def test_compactions_user_messages_and_unknown_messages_never_count() -> None:
    log = Log()
    log.message("c", summary=True)
    log.message("u", role="user", summary={"diffs": []})
    for message in ("c", "u", "nobody"):
        assert steps(log.finish(message, f"f-{message}", "stop")) == [False]
    assert log.session.end().steps == 0


def test_a_step_of_nothing_but_invalid_calls_does_not_count() -> None:
    log = Log()
    log.message("m")
    assert steps(log.finish("m", "f0", "tool-calls")) == [False]
    log.tool("m", "a", "completed", tool="invalid")
    log.tool("m", "b", "error", error="The bash tool was called with invalid arguments: x")
    assert steps(log.finish("m", "f1", "tool-calls")) == [False]
    log.tool("m", "c", "error", error="exit 1")
    assert steps(log.finish("m", "f2", "tool-calls")) == [True]


def test_a_tool_is_shown_when_it_starts_and_when_it_ends_not_for_each_row() -> None:
    log = Log()
    log.message("m")
    shown = [
        [item.tool.status for item in saved if isinstance(item, TranscriptItem) and item.tool]
        for saved in (
            log.tool("m", "p", "pending"),
            log.tool("m", "p", "running"),
            log.tool("m", "p", "running", metadata={"output": "x"}),
            log.tool("m", "p", "completed", output="done"),
        )
    ]
    assert shown == [[], ["running"], [], ["completed"]]


def test_an_errors_text_is_shown_as_the_tools_output() -> None:
    log = Log()
    log.message("m")
    (item,) = log.tool("m", "p", "error", error="not found", input={"a": 1})
    assert isinstance(item, TranscriptItem)
    assert item.tool is not None
    assert (item.tool.output, item.tool.arguments) == ("not found", '{"a": 1}')


def test_a_sub_agents_items_name_the_session_they_belong_to() -> None:
    log = Log()
    log.started(CHILD, ROOT)
    log.message("m", session=CHILD)
    (item,) = log.part("m", "t", session=CHILD, type="text", text="hi")
    assert isinstance(item, TranscriptItem)
    assert (item.session, item.parent_session, item.at_ms) == (CHILD, ROOT, 5)
    log.message("m", session=CHILD, finish="stop")
    assert log.session.end().state is SessionState.UNKNOWN


def test_a_second_session_without_a_parent_does_not_take_over() -> None:
    log = Log()
    log.message("m", finish="length")
    log.started("ses_other")
    log.message("n", session="ses_other", finish="stop")
    assert log.session.end().state is SessionState.LENGTH


def test_texts_are_told_by_who_said_them() -> None:
    log = Log()
    log.message("u", role="user")
    log.message("a")
    log.message("c", summary=True)
    kinds = [
        saved[0].kind
        for saved in (
            log.part("u", "1", type="text", text="do"),
            log.part("a", "2", type="text", text="did"),
            log.part("a", "3", type="reasoning", text="why"),
            log.part("c", "4", type="text", text="so far"),
            log.part("u", "5", type="compaction"),
        )
        if isinstance(saved[0], TranscriptItem)
    ]
    assert kinds == [
        ItemKind.USER,
        ItemKind.TEXT,
        ItemKind.REASONING,
        ItemKind.COMPACTION,
        ItemKind.COMPACTION,
    ]
    assert log.part("a", "6", type="text", text="") == []
    assert log.part("a", "7", type="step-start") == []


def test_an_error_is_shown_once_and_forgotten_when_it_is_taken_back() -> None:
    log = Log()
    error = {"name": "APIError", "data": {"message": "no", "statusCode": 400}}
    assert len(log.message("m", error=error)) == 1
    assert log.message("m", error=error) == []
    assert log.session.end().detail == "APIError 400: no"
    log.message("m", finish="stop")
    assert log.session.end().state is SessionState.EMPTY


def test_blank_text_and_removed_text_are_no_answer() -> None:
    log = Log()
    log.message("m", finish="stop")
    log.part("m", "t", type="text", text=" \n")
    assert log.session.end().state is SessionState.EMPTY
    log.part("m", "t2", type="text", text="hi")
    assert log.session.end().state is SessionState.GOOD
    log.row("message.part.removed", {"sessionID": ROOT, "messageID": "m", "partID": "t2"})
    log.row("message.part.removed", {"sessionID": ROOT, "messageID": "nobody", "partID": "t"})
    assert log.session.end().state is SessionState.EMPTY
    log.row("message.removed", {"sessionID": ROOT, "messageID": "m"})
    assert log.session.end().state is SessionState.UNKNOWN


def test_the_task_list_is_the_whole_list_of_the_completed_call() -> None:
    log = Log()
    log.message("m")
    todos = [{"content": "a", "status": "pending", "priority": "high"}]
    assert not any(
        isinstance(item, TaskListSaved)
        for item in log.tool("m", "p", "running", tool="todowrite", input={"todos": todos})
    )
    saved = log.tool("m", "p", "completed", tool="todowrite", input={"todos": todos})
    (lists,) = [item for item in saved if isinstance(item, TaskListSaved)]
    assert [(item.content, item.status, item.priority) for item in lists.items] == [
        ("a", "pending", "high")
    ]
    assert len(log.tool("m", "q", "completed", tool="todowrite", input={"todos": 3})) == 1


def test_usage_is_counted_as_the_provider_did_and_unknown_is_none() -> None:
    log = Log()
    log.message("m")
    cache = {"read": 30, "write": 0}
    tokens = {"input": 70, "output": 15, "reasoning": 5, "cache": cache}
    item, _ = log.finish("m", "f", "stop", tokens=tokens)
    assert isinstance(item, TranscriptItem)
    assert item.usage == Usage(
        input_tokens=100, output_tokens=20, reasoning_tokens=5, cache_read_tokens=30
    )
    zeros = {"input": 0, "output": 0, "reasoning": 0, "cache": {"read": 0, "write": 0}}
    for name, unknown in (("g", zeros), ("h", None)):
        item, _ = log.finish("m", name, "stop", tokens=unknown)
        assert isinstance(item, TranscriptItem)
        assert item.usage is None


def test_without_a_session_steps_are_unknown_and_the_printed_error_is_the_end() -> None:
    session = OpenCodeSession()
    assert session.end().steps is None
    assert session.output(b'{"type":"error","error":{"name":"UnknownError"}}') == []
    assert session.output(b'{"type":"text"}') == []
    assert session.output(b"not json") == []
    end = session.end()
    assert (end.state, end.detail) == (SessionState.ERROR, "UnknownError: no message")


WORDS = st.sampled_from(
    [
        "id",
        "sessionID",
        "messageID",
        "type",
        "tool",
        "state",
        "status",
        "reason",
        "text",
        "info",
        "part",
        "role",
        "finish",
        "error",
        "name",
        "data",
        "tokens",
        "cache",
        "time",
        "summary",
        "step-finish",
        "stop",
        "tool-calls",
        "assistant",
        "user",
        "a",
        "b",
        "running",
        "todowrite",
    ]
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | WORDS | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=6),
    max_leaves=15,
)
KINDS = st.sampled_from(
    ["session.created.1", "message.updated.1", "message.part.updated.1", "message.part.removed.1"]
)
NAMES = st.sampled_from(["a", "b"])
PARTS = st.fixed_dictionaries(
    {"id": NAMES, "sessionID": NAMES, "messageID": NAMES, "type": WORDS},
    optional={"text": VALUES, "tool": WORDS, "state": VALUES, "reason": WORDS, "tokens": VALUES},
)
INFOS = st.fixed_dictionaries(
    {"id": NAMES, "sessionID": NAMES, "role": WORDS},
    optional={"finish": WORDS, "error": VALUES, "summary": VALUES, "time": VALUES},
)
DATA = st.one_of(
    VALUES,
    st.fixed_dictionaries({"part": PARTS, "time": VALUES}),
    st.fixed_dictionaries({"info": INFOS}),
).map(json.dumps)
ROWS = st.lists(
    st.one_of(
        st.tuples(st.integers(), NAMES, st.integers(), KINDS, DATA),
        st.tuples(VALUES, VALUES, VALUES, KINDS | VALUES, DATA | VALUES | st.binary(max_size=9)),
        st.lists(VALUES, max_size=6),
    ),
    max_size=25,
)


@given(ROWS, st.lists(st.binary(max_size=40), max_size=3))
def test_nothing_that_is_saved_or_printed_makes_it_raise_or_say_what_cannot_be_sent(
    rows: list[list[object]], lines: list[bytes]
) -> None:
    session = OpenCodeSession()
    saved = session.rows(rows)
    for line in lines:
        saved += session.output(line)
    end = session.end()
    msgspec.json.encode(end)
    for item in saved:
        msgspec.json.encode(item)
    assert (end.steps or 0) == sum(steps(saved))
