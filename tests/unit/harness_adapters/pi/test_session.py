import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes.any_json import ANY_JSON
from stanchion.harness_adapters.base import Saved
from stanchion.harness_adapters.pi.session import PiSession
from stanchion.protocol.events import StepSaved
from stanchion.protocol.evidence import SessionState
from stanchion.protocol.transcript import ItemKind, TranscriptItem
from stanchion.protocol.usage import Usage

BEGUN = b'{"type": "session", "id": "s"}'
SETTLED = b'{"type": "agent_settled"}'


def line(kind: str, **fields: Any) -> bytes:
    return json.dumps({"type": kind, **fields}).encode()


def answer(stop: str, *blocks: dict[str, Any], **more: Any) -> list[bytes]:
    """A response and the end of its turn, `results` between them."""
    results = more.pop("results", [])
    message = {"role": "assistant", "content": blocks, "stopReason": stop, "timestamp": 5, **more}
    ended = [line("message_end", message=result) for result in results]
    turn = line("turn_end", message=message, toolResults=results)
    return [line("message_end", message=message), *ended, turn]


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def call(name: str) -> dict[str, Any]:
    return {"type": "toolCall", "id": name, "name": "bash", "arguments": {"command": "ls"}}


def result(name: str, words: str, *, wrong: bool = False) -> dict[str, Any]:
    return {"role": "toolResult", "toolCallId": name, "content": [text(words)], "isError": wrong}


def read(*printed: bytes) -> tuple[PiSession, list[Saved]]:
    session = PiSession()
    return session, [item for each in (BEGUN, *printed) for item in session.output(each)]


def steps(saved: list[Saved]) -> list[tuple[str, bool]]:
    return [(step.reason, step.counts) for step in saved if isinstance(step, StepSaved)]


def test_a_step_is_saved_once_its_tools_have_run() -> None:
    usage = {"input": 100, "output": 30, "cacheRead": 900, "cacheWrite": 0, "reasoning": 20}
    calling = answer("toolUse", call("a"), results=[result("a", "ok")], usage=usage)
    session, saved = read(*calling, *answer("stop", text("Done.")), SETTLED)
    assert steps(saved) == [("toolUse", True), ("stop", True)]
    assert (session.end().state, session.end().steps) == (SessionState.GOOD, 2)
    items = [item for item in saved if isinstance(item, TranscriptItem)]
    ends = [item.usage for item in items if item.kind is ItemKind.STEP_END]
    assert ends[0] == Usage(
        input_tokens=1000, output_tokens=30, reasoning_tokens=20, cache_read_tokens=900
    )
    assert ends[1] is None
    tools = [item.tool for item in items if item.tool]
    assert [(tool.status, tool.output) for tool in tools] == [
        ("running", None),
        ("completed", "ok"),
    ]


def test_wrong_calls_and_answers_without_text_never_count() -> None:
    wrong = result("a", "Validation failed for tool bash", wrong=True)
    thought = {"type": "thinking", "thinking": "hm"}
    session, saved = read(
        *answer("toolUse", call("a"), results=[wrong]), *answer("stop", thought), SETTLED
    )
    assert steps(saved) == [("toolUse", False), ("stop", False)]
    assert session.end().state is SessionState.EMPTY


def test_a_failed_try_is_no_step_and_the_next_one_mends_it() -> None:
    failed = answer("error", errorMessage="500: busy")
    session, saved = read(*failed, SETTLED)
    assert steps(saved) == []
    assert (session.end().state, session.end().detail) == (SessionState.ERROR, "500: busy")
    session, _ = read(*failed, line("agent_start"), *answer("stop", text("Done.")), SETTLED)
    assert session.end().state is SessionState.GOOD


@pytest.mark.parametrize(
    ("printed", "state"),
    [
        (answer("stop", text("Done.")), SessionState.MID_TURN),
        ([*answer("stop", text("Done.")), SETTLED, line("agent_start")], SessionState.MID_TURN),
        ([*answer("toolUse", call("a")), SETTLED], SessionState.MID_TURN),
        (answer("length", text("I th")), SessionState.LENGTH),
        ([*answer("aborted", text("I th")), SETTLED], SessionState.ERROR),
        ([SETTLED], SessionState.UNKNOWN),
    ],
)
def test_only_a_settled_answer_with_text_is_a_good_end(
    printed: list[bytes], state: SessionState
) -> None:
    assert read(*printed)[0].end().state is state


def test_a_compaction_is_shown_and_is_no_step() -> None:
    _, saved = read(line("compaction_end", result={"summary": "x"}), line("compaction_end"))
    (item,) = saved
    assert isinstance(item, TranscriptItem)
    assert item.kind is ItemKind.COMPACTION


def test_what_is_printed_before_a_session_begins_is_not_its_own() -> None:
    session = PiSession()
    saved = [item for each in answer("stop", text("x")) for item in session.output(each)]
    assert saved == session.rows([(1,)]) == session.output(b"hello") == []
    assert (session.end().state, session.end().steps) == (SessionState.UNKNOWN, None)


NAMES = ("role", "content", "usage", "stopReason", "errorMessage", "toolCallId", "isError")


@given(
    st.sampled_from(["message_end", "turn_end", "agent_settled", "compaction_end", "session"]),
    st.dictionaries(st.sampled_from(NAMES), ANY_JSON),
    st.sampled_from(["assistant", "user", "toolResult", "x"]),
)
def test_garbage_never_raises(kind: str, message: dict[str, object], role: str) -> None:
    session, _ = read(
        line(kind, message={"role": role, **message}), line(kind, message=message), line(kind)
    )
    session.end()
