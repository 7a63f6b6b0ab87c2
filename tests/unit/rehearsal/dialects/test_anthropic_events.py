import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stanchion.rehearsal.dialects.anthropic_events import event, message_events, stop_reason
from stanchion.rehearsal.dialects.building import sealed
from stanchion.rehearsal.script import ToolCall, Usage
from stanchion.rehearsal.turns import Answer, Asked, Ending
from unit.rehearsal.dialects.answers import IDENTITY, answer
from unit.rehearsal.dialects.test_anthropic_messages import asked

STREAM: Asked = asked(stream=True)
CALL = ToolCall(name="Bash", arguments={"command": "echo 'ä' && ls", "description": "list"})


def sent(said: Answer) -> list[dict[str, Any]]:
    """The documents, each under the name that its event line has."""
    documents = []
    for data in message_events(STREAM, said, IDENTITY):
        name, line, *end = data.decode().split("\n")
        assert end == ["", ""]
        documents.append(json.loads(line.removeprefix("data: ")))
        assert name == f"event: {documents[-1]['type']}"
    return documents


def types(said: Answer) -> list[str]:
    return [document["type"] for document in sent(said)]


def test_a_message_streams_block_by_block_in_the_vendors_order() -> None:
    said = answer(reasoning="one two three four", text="hi", calls=(CALL,))
    documents = sent(said)
    assert [document["type"] for document in documents] == [
        "message_start",
        "content_block_start",
        "ping",
        "content_block_delta",
        "content_block_delta",
        "content_block_delta",
        "content_block_stop",
        "content_block_start",
        "content_block_delta",
        "content_block_stop",
        "content_block_start",
        *["content_block_delta"] * (len(documents) - 14),
        "content_block_stop",
        "message_delta",
        "message_stop",
    ]
    start = documents[0]["message"]
    assert (start["content"], start["stop_reason"], start["role"]) == ([], None, "assistant")
    assert start["usage"]["input_tokens"] == 10
    assert start["usage"]["output_tokens"] == 1
    blocks = [d for d in documents if d["type"] == "content_block_start"]
    assert [block["index"] for block in blocks] == [0, 1, 2]
    assert [block["content_block"] for block in blocks] == [
        {"type": "thinking", "thinking": "", "signature": ""},
        {"type": "text", "text": ""},
        {
            "type": "tool_use",
            "id": "toolu_0123456789abcdef01230000",
            "name": "Bash",
            "input": {},
        },
    ]
    assert documents[5]["delta"] == {
        "type": "signature_delta",
        "signature": sealed("one two three four"),
    }
    assert documents[-2] == {
        "type": "message_delta",
        "delta": {"stop_reason": "tool_use", "stop_sequence": None},
        "usage": {
            "input_tokens": 10,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": 0,
            "output_tokens": 5,
            "output_tokens_details": {"thinking_tokens": 2},
        },
    }


def test_the_input_of_a_tool_comes_as_fragments_that_begin_empty() -> None:
    fragments = [
        document["delta"]["partial_json"]
        for document in sent(answer(calls=(CALL,)))
        if document["type"] == "content_block_delta"
    ]
    assert fragments[0] == ""
    assert len(fragments) > 2
    assert json.loads("".join(fragments)) == CALL.arguments


def test_usage_is_absent_where_the_script_has_none_and_details_where_unknown() -> None:
    assert "usage" not in json.dumps(sent(answer(text="hi", usage=None)))
    plain = sent(answer(text="hi", usage=Usage(prompt_tokens=1, completion_tokens=0)))
    assert plain[0]["message"]["usage"]["output_tokens"] == 0
    assert "output_tokens_details" not in plain[-2]["usage"]


def test_a_paused_turn_leaves_its_thinking_open() -> None:
    assert types(answer(reasoning="thinking", paused=True)) == [
        "message_start",
        "content_block_start",
        "ping",
        "content_block_delta",
    ]
    assert types(answer(paused=True)) == ["message_start"]


@pytest.mark.parametrize(
    ("finish", "reason"),
    [
        (None, "end_turn"),
        ("stop", "end_turn"),
        ("tool_calls", "tool_use"),
        ("length", "max_tokens"),
        ("refusal", "refusal"),
        ("anything", "anything"),
    ],
)
def test_the_scripts_words_are_the_vendors(finish: str | None, reason: str) -> None:
    assert stop_reason(answer(finish=finish)) == reason
    assert sent(answer(finish=finish))[-2]["delta"]["stop_reason"] == reason


def test_an_ending_may_be_missing() -> None:
    marker = answer(text="hi", ending=Ending.MARKER)
    assert types(marker)[-2:] == ["content_block_stop", "message_stop"]
    assert types(answer(text="hi", ending=Ending.NOTHING))[-1] == "content_block_stop"
    assert stop_reason(marker) is None


def test_what_is_echoed_is_text_in_deltas_of_its_own() -> None:
    texts = [
        document["delta"]["text"]
        for document in sent(answer(text="hi", echo=("a b c d", "e")))
        if document["type"] == "content_block_delta"
    ]
    assert texts == ["hi", "a b c d", "e"]


def test_an_event_is_named_by_its_type() -> None:
    assert event({"type": "ping"}) == b'event: ping\ndata: {"type":"ping"}\n\n'


@given(reasoning=st.text(), text=st.text(), arguments=st.dictionaries(st.text(), st.text()))
def test_the_deltas_join_to_what_the_script_said(
    reasoning: str, text: str, arguments: dict[str, object]
) -> None:
    said = answer(
        reasoning=reasoning, text=text, calls=(ToolCall(name="Bash", arguments=arguments),)
    )
    joined = {"thinking": "", "text": "", "partial_json": "", "signature": ""}
    for document in sent(said):
        if document["type"] == "content_block_delta":
            for field in joined.keys() & document["delta"].keys():
                joined[field] += document["delta"][field]
    assert (joined["thinking"], joined["text"]) == (reasoning, text)
    assert json.loads(joined["partial_json"]) == arguments


def test_a_call_that_is_cut_at_the_limit_is_no_json() -> None:
    documents = sent(answer(calls=(CALL,), finish="length", cut_call=True))
    pieces = [d["delta"]["partial_json"] for d in documents if d["type"] == "content_block_delta"]
    with pytest.raises(json.JSONDecodeError):
        json.loads("".join(pieces))
    assert documents[-2]["delta"]["stop_reason"] == "max_tokens"
