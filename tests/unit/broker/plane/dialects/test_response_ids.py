"""What a provider calls its response and its tool calls, in every dialect."""

import json
from typing import Any

import pytest

from stanchion.broker.plane.answering import MAX_CALL_IDS
from stanchion.broker.plane.dialects.readers import READERS
from stanchion.broker.plane.response_reader import Form, ResponseReader
from stanchion.protocol.dialects import Dialect
from stanchion.protocol.exchange import ID_LENGTH, Answered

CHAT, RESPONSES, MESSAGES, GEMINI = (
    Dialect.OPENAI_CHAT, Dialect.OPENAI_RESPONSES, Dialect.ANTHROPIC_MESSAGES, Dialect.GEMINI,
)  # fmt: skip


def read(dialect: Dialect, *events: dict[str, Any], mask: Any = str) -> Answered:
    """As a stream; a single document is a whole body."""
    form = Form.EVENTS if len(events) > 1 else Form.JSON
    tap = ResponseReader(READERS[dialect], status=200, form=form, output_limit=None, mask=mask)
    for event in events:
        data = json.dumps(event).encode()
        tap.saw(b"data: " + data + b"\n\n" if form is Form.EVENTS else data)
    return tap.answered(complete=True)


def chat_call(index: int, call: str | None, name: str | None, text: str) -> dict[str, Any]:
    function = {"name": name, "arguments": text}
    return {"index": index, "id": call, "type": "function", "function": function}


def chat(*calls: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
    choice = {"index": 0, "delta": {"tool_calls": list(calls)}, "finish_reason": finish}
    return {"id": "chatcmpl-1", "model": "m", "choices": [choice]}


def item(call: str | None, arguments: str = "{}") -> dict[str, Any]:
    return {"type": "function_call", "id": "fc_1", "call_id": call, "name": "f",
            "arguments": arguments}  # fmt: skip


MESSAGE = {
    "id": "msg_1", "type": "message", "model": "m", "stop_reason": "tool_use",
    "content": [
        {"type": "tool_use", "id": "toolu_1", "name": "f", "input": {}},
        {"type": "tool_use", "name": "f", "input": {}},
    ],
}  # fmt: skip
CANDIDATE = {
    "content": {"parts": [
        {"functionCall": {"id": "g1", "name": "f", "args": {}}},
        {"functionCall": {"name": "f", "args": {}}},
    ]},
    "finishReason": "STOP",
}  # fmt: skip


@pytest.mark.parametrize(
    ("dialect", "events", "response", "calls", "whole"),
    [
        (CHAT,
         [chat(chat_call(0, "call_1", "f", "{")), chat(chat_call(0, None, None, "}")),
          chat(chat_call(1, "call_2", "f", "{}"), chat_call(2, "cut", "f", "{"),
               finish="tool_calls")],
         "chatcmpl-1", ("call_1", "call_2"), 2),
        (RESPONSES,
         [{"type": "response.created", "response": {"id": "resp_1", "model": "m"}},
          {"type": "response.output_item.done", "output_index": 0, "item": item("call_1")},
          {"type": "response.output_item.done", "output_index": 1, "item": item("cut", "{")},
          {"type": "response.completed", "response": {"id": "resp_1", "status": "completed"}}],
         "resp_1", ("call_1",), 1),
        (MESSAGES, [MESSAGE], "msg_1", ("toolu_1",), 2),
        (GEMINI, [{"responseId": "r1", "candidates": [CANDIDATE]}], "r1", ("g1",), 2),
        (CHAT, [{"id": 7, "choices": [{"message": {"content": "x"}, "finish_reason": "stop"}]}],
         None, (), 0),
    ],
)  # fmt: skip
def test_ids_of_what_came_whole_are_on_record(
    dialect: Dialect,
    events: list[dict[str, Any]],
    response: str | None,
    calls: tuple[str, ...],
    whole: int,
) -> None:
    answered = read(dialect, *events)
    assert (answered.response_id, answered.tool_call_ids) == (response, calls)
    assert answered.tool_calls == whole


def test_ids_are_masked_and_short() -> None:
    calls = [chat_call(number, f"sk-secret-{'x' * 300}", "f", "{}") for number in range(300)]
    answered = read(CHAT, chat(*calls, finish="tool_calls"), chat(),
                    mask=lambda text: text.replace("sk-secret", "*********"))  # fmt: skip

    assert len(answered.tool_call_ids) == MAX_CALL_IDS
    assert {len(one) for one in answered.tool_call_ids} == {ID_LENGTH}
    assert not any("sk-secret" in one for one in answered.tool_call_ids)
