import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stanchion.rehearsal.dialects import openai_chat
from stanchion.rehearsal.dialects.reply import End, Reply
from stanchion.rehearsal.script import ToolCall, Usage
from stanchion.rehearsal.turns import Asked, Ending
from unit.rehearsal.dialects.answers import IDENTITY, USAGE, answer
from unit.rehearsal.dialects.test_openai_chat import asked

HEAD = {
    "id": "chatcmpl-0123456789abcdef0123456789abcdef",
    "created": 1_700_000_000,
    "model": "any/model",
    "service_tier": "default",
    "system_fingerprint": "fp_rehearsal",
}


CALL = ToolCall(name="bash", arguments={"command": "echo 'ä' && ls", "description": "list"})


STREAM = asked(stream=True)
STREAM_WITH_USAGE = asked(stream=True, stream_options={"include_usage": True})
WHOLE = asked()


def events(reply: Reply) -> list[Any]:
    """Each piece is one event; the end marker stays a string."""
    found: list[Any] = []
    for piece in reply.pieces:
        assert piece.data.startswith(b"data: ")
        assert piece.data.endswith(b"\n\n")
        assert piece.data.count(b"\n") == 2
        payload = piece.data[6:-2].decode()
        found.append(payload if payload == "[DONE]" else json.loads(payload))
    return found


def deltas(reply: Reply) -> list[dict[str, Any]]:
    return [
        event["choices"][0]["delta"]
        for event in events(reply)
        if event != "[DONE]" and event["choices"]
    ]


def test_text_streams_as_role_then_deltas_then_finish_then_done() -> None:
    reply = openai_chat.render(STREAM, answer(reasoning="one two three four", text="hi"), IDENTITY)
    assert (reply.status, reply.content_type) == (200, "text/event-stream; charset=utf-8")
    assert (reply.end, reply.size_bytes) == (End.CLEAN, None)
    choices = [
        ({"role": "assistant", "content": ""}, None),
        ({"reasoning_content": "one two three "}, None),
        ({"reasoning_content": "four"}, None),
        ({"content": "hi"}, None),
        ({}, "stop"),
    ]
    assert events(reply) == [
        *(
            {
                **HEAD,
                "object": "chat.completion.chunk",
                "choices": [
                    {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
                ],
            }
            for delta, finish in choices
        ),
        "[DONE]",
    ]


def test_tool_calls_stream_as_a_head_and_fragments_of_arguments() -> None:
    read = ToolCall(name="read", arguments={})
    reply = openai_chat.render(STREAM, answer(calls=(CALL, read)), IDENTITY)
    role, *fragments, end = deltas(reply)
    assert role == {"role": "assistant", "content": None}
    assert end == {}
    calls = [fragment["tool_calls"][0] for fragment in fragments]
    first, *arguments = [call for call in calls if call["index"] == 0]
    assert first == {
        "index": 0,
        "id": "call_0123456789abcdef01230000",
        "type": "function",
        "function": {"name": "bash", "arguments": ""},
    }
    assert all(set(call) == {"index", "function"} for call in arguments)
    assert len(arguments) > 1
    joined = "".join(call["function"]["arguments"] for call in arguments)
    assert json.loads(joined) == CALL.arguments
    second = [call for call in calls if call["index"] == 1]
    assert second[0]["id"] == "call_0123456789abcdef01230001"
    assert "".join(call["function"]["arguments"] for call in second) == "{}"
    assert events(reply)[-2]["choices"][0]["finish_reason"] == "tool_calls"


def test_asked_for_usage_comes_in_a_last_chunk_without_choices() -> None:
    *before, last, done = events(openai_chat.render(STREAM_WITH_USAGE, answer(text="hi"), IDENTITY))
    assert all(event["usage"] is None for event in before)
    assert last["choices"] == []
    assert last["usage"] == {
        "prompt_tokens": 10,
        "completion_tokens": 5,
        "total_tokens": 15,
        "completion_tokens_details": {"reasoning_tokens": 2},
    }
    assert done == "[DONE]"


@pytest.mark.parametrize(
    ("request_", "usage"), [(STREAM, USAGE), (STREAM_WITH_USAGE, None), (STREAM, None)]
)
def test_usage_is_absent_where_it_was_not_asked_for_or_the_script_has_none(
    request_: Asked, usage: Usage | None
) -> None:
    reply = openai_chat.render(request_, answer(text="hi", usage=usage), IDENTITY)
    assert all("usage" not in event for event in events(reply)[:-1])
    assert all(event["choices"] for event in events(reply)[:-1])


def test_unknown_reasoning_tokens_are_left_out() -> None:
    counts = Usage(prompt_tokens=1, completion_tokens=2)
    reply = openai_chat.render(STREAM_WITH_USAGE, answer(usage=counts), IDENTITY)
    assert "completion_tokens_details" not in events(reply)[-2]["usage"]


def test_gaps_stand_between_the_pieces_not_before_the_first() -> None:
    reply = openai_chat.render(STREAM, answer(text="hi", gap_ms=9), IDENTITY)
    assert [piece.delay_ms for piece in reply.pieces] == [0, 9, 9, 9]


def test_a_paused_turn_stops_after_its_reasoning() -> None:
    paused = answer(reasoning="thinking", paused=True)
    reply = openai_chat.render(STREAM, paused, IDENTITY)
    assert deltas(reply) == [
        {"role": "assistant", "content": ""},
        {"reasoning_content": "thinking"},
    ]
    assert reply.end is End.SILENT
    whole = openai_chat.render(WHOLE, paused, IDENTITY)
    assert (whole.pieces, whole.end, whole.size_bytes) == ((), End.SILENT, None)


@pytest.mark.parametrize("finish", ["length", "content_filter", "anything"])
def test_the_scripts_finish_is_sent_verbatim(finish: str) -> None:
    stream = openai_chat.render(STREAM, answer(calls=(CALL,), finish=finish), IDENTITY)
    assert events(stream)[-2]["choices"][0]["finish_reason"] == finish
    whole = openai_chat.render(WHOLE, answer(finish=finish), IDENTITY)
    assert json.loads(whole.pieces[0].data)["choices"][0]["finish_reason"] == finish


def test_a_request_without_stream_gets_one_object() -> None:
    full = answer(reasoning="why", text="hi", calls=(CALL,))
    reply = openai_chat.render(WHOLE, full, IDENTITY)
    assert (reply.content_type, len(reply.pieces)) == ("application/json", 1)
    assert reply.size_bytes == len(reply.pieces[0].data)
    document = json.loads(reply.pieces[0].data)
    arguments = document["choices"][0]["message"]["tool_calls"][0]["function"].pop("arguments")
    assert json.loads(arguments) == CALL.arguments
    assert document == {
        **HEAD,
        "object": "chat.completion",
        "choices": [
            {
                "index": 0,
                "message": {
                    "role": "assistant",
                    "content": "hi",
                    "refusal": None,
                    "reasoning_content": "why",
                    "tool_calls": [
                        {
                            "id": "call_0123456789abcdef01230000",
                            "type": "function",
                            "function": {"name": "bash"},
                        }
                    ],
                },
                "logprobs": None,
                "finish_reason": "tool_calls",
            }
        ],
        "usage": {
            "prompt_tokens": 10,
            "completion_tokens": 5,
            "total_tokens": 15,
            "completion_tokens_details": {"reasoning_tokens": 2},
        },
    }


def test_one_object_leaves_out_what_the_turn_has_not() -> None:
    document = json.loads(openai_chat.render(WHOLE, answer(usage=None), IDENTITY).pieces[0].data)
    assert "usage" not in document
    assert document["choices"][0]["message"] == {
        "role": "assistant",
        "content": None,
        "refusal": None,
    }


@pytest.mark.parametrize(("ending", "last"), [(Ending.MARKER, "[DONE]"), (Ending.NOTHING, "hi")])
def test_an_ending_may_be_missing(ending: Ending, last: str) -> None:
    said = answer(text="hi", ending=ending)
    sent = events(openai_chat.render(STREAM_WITH_USAGE, said, IDENTITY))
    assert last in str(sent[-1])
    assert all(event == "[DONE]" or event["usage"] is None for event in sent)
    assert all(
        choice["finish_reason"] is None
        for event in sent
        if event != "[DONE]"
        for choice in event["choices"]
    )
    document = json.loads(openai_chat.render(WHOLE, said, IDENTITY).pieces[0].data)
    assert document["choices"][0]["finish_reason"] is None


def test_what_is_echoed_follows_the_text_in_deltas_of_its_own() -> None:
    said = answer(text="hi", echo=("a b c d", "e"))
    sent = deltas(openai_chat.render(STREAM, said, IDENTITY))
    assert [delta.get("content") for delta in sent] == ["", "hi", "a b c d", "e", None]
    document = json.loads(openai_chat.render(WHOLE, said, IDENTITY).pieces[0].data)
    assert document["choices"][0]["message"]["content"] == "hia b c de"


@given(reasoning=st.text(), text=st.text(), arguments=st.dictionaries(st.text(), st.text()))
def test_the_deltas_join_to_what_the_script_said(
    reasoning: str, text: str, arguments: dict[str, object]
) -> None:
    call = ToolCall(name="bash", arguments=arguments)
    said = answer(reasoning=reasoning, text=text, calls=(call,))
    sent = deltas(openai_chat.render(STREAM, said, IDENTITY))
    assert "".join(delta.get("reasoning_content", "") for delta in sent) == reasoning
    assert "".join(delta.get("content") or "" for delta in sent) == text
    joined = "".join(
        fragment["function"]["arguments"]
        for delta in sent
        for fragment in delta.get("tool_calls", ())
    )
    assert json.loads(joined) == arguments


def test_a_call_that_is_cut_at_the_limit_is_no_json() -> None:
    said = answer(calls=(CALL,), finish="length", cut_call=True)
    streamed = openai_chat.render(STREAM, said, IDENTITY)
    parts = [part for delta in deltas(streamed) for part in delta.get("tool_calls", ())]
    arguments = "".join(part["function"]["arguments"] for part in parts)
    document = json.loads(openai_chat.render(WHOLE, said, IDENTITY).pieces[0].data)
    (choice,) = document["choices"]
    assert choice["finish_reason"] == "length"
    assert choice["message"]["tool_calls"][0]["function"]["arguments"] == arguments
    with pytest.raises(json.JSONDecodeError):
        json.loads(arguments)
