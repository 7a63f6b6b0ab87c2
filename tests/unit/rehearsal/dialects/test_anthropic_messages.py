import json
from typing import Any

import pytest

from stanchion.rehearsal.dialects import anthropic_messages
from stanchion.rehearsal.dialects.building import digest
from stanchion.rehearsal.dialects.reply import End
from stanchion.rehearsal.script import ToolCall
from stanchion.rehearsal.turns import Asked, Ending, Refusal
from unit.rehearsal.dialects.answers import IDENTITY, answer

CALL = ToolCall(name="Bash", arguments={"command": "ls"})


def body(**fields: object) -> bytes:
    request = {
        "model": "claude-any",
        "max_tokens": 1000,
        "messages": [{"role": "user", "content": "go"}],
        **fields,
    }
    return json.dumps(request).encode()


def asked(**fields: object) -> Asked:
    request = anthropic_messages.understand(body(**fields))
    assert isinstance(request, Asked)
    return request


def whole(**fields: Any) -> dict[str, Any]:
    reply = anthropic_messages.render(asked(), answer(**fields), IDENTITY)
    document: dict[str, Any] = json.loads(reply.pieces[0].data)
    return document


def test_a_request_is_understood() -> None:
    raw = body(
        stream=True,
        max_tokens=64_000,
        tools=[{"name": "Bash", "input_schema": {}}, {"type": "odd"}, 3],
        thinking={"type": "enabled", "budget_tokens": 16_000},
        output_config={"effort": "max"},
    )
    assert anthropic_messages.understand(raw) == Asked(
        model="claude-any",
        stream=True,
        include_usage=True,
        tools=("Bash",),
        turns_taken=0,
        body_bytes=len(raw),
        conversation=digest([{"role": "user", "content": "go"}]),
        max_tokens=64_000,
        reasoning_effort="max",
        thinking_type="enabled",
        thinking_budget_tokens=16_000,
    )


def test_what_is_not_said_is_unknown() -> None:
    plain = asked(tools="odd", thinking=3, output_config=[])
    assert (plain.reasoning_effort, plain.thinking_type, plain.thinking_budget_tokens) == (
        None,
        None,
        None,
    )
    assert (plain.tools, plain.stream) == ((), False)


@pytest.mark.parametrize(
    ("roles", "taken"),
    [
        (["user"], 0),
        (["user", "assistant", "user"], 1),
        (["user", "assistant", "assistant", "user", "assistant"], 2),
        (["assistant", "user", "assistant", "user"], 1),
        (["assistant"], 0),
    ],
)
def test_neighbouring_assistant_messages_are_one_turn(roles: list[str], taken: int) -> None:
    messages: list[object] = [{"role": role, "content": "x"} for role in roles]
    assert asked(messages=messages).turns_taken == taken


@pytest.mark.parametrize(
    ("raw", "param"),
    [
        (b"{", None),
        (body(model=""), "model"),
        (body(messages=[]), "messages"),
        (body(max_tokens=None), "max_tokens"),
        (body(max_tokens=0), "max_tokens"),
        (body(max_tokens=True), "max_tokens"),
        (body(max_tokens="9"), "max_tokens"),
    ],
)
def test_a_request_that_the_api_would_refuse_is_refused(raw: bytes, param: str | None) -> None:
    refused = anthropic_messages.understand(raw)
    assert isinstance(refused, Refusal)
    assert (refused.status, refused.param) == (400, param)


def test_tokens_are_counted_without_a_limit() -> None:
    raw = body(max_tokens=None)
    counting = anthropic_messages.understand_count(raw)
    assert isinstance(counting, Asked)
    reply = anthropic_messages.counted(counting)
    assert json.loads(reply.pieces[0].data) == {"input_tokens": -(-len(raw) // 4)}
    assert isinstance(anthropic_messages.understand_count(b"[]"), Refusal)


@pytest.mark.parametrize(
    ("headers", "key"),
    [
        ({"x-api-key": "k"}, "k"),
        ({"Authorization": "Bearer k"}, "k"),
        ({"x-api-key": "a", "Authorization": "Bearer b"}, "a"),
        ({"Authorization": "Basic k"}, None),
        ({}, None),
    ],
)
def test_the_key_is_in_either_header(headers: dict[str, str], key: str | None) -> None:
    assert anthropic_messages.presented_key(headers) == key


def test_a_request_without_stream_gets_one_message() -> None:
    document = whole(reasoning="why", text="hi", echo=("!", "?"), calls=(CALL,))
    assert document["content"][0].pop("signature")
    assert document == {
        "id": "msg_0123456789abcdef01234567",
        "type": "message",
        "role": "assistant",
        "model": "claude-any",
        "content": [
            {"type": "thinking", "thinking": "why"},
            {"type": "text", "text": "hi!?"},
            {
                "type": "tool_use",
                "id": "toolu_0123456789abcdef01230000",
                "name": "Bash",
                "input": {"command": "ls"},
            },
        ],
        "stop_reason": "tool_use",
        "stop_sequence": None,
        "usage": {
            "input_tokens": 10,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": 0,
            "output_tokens": 5,
            "output_tokens_details": {"thinking_tokens": 2},
            "service_tier": "standard",
        },
    }


def test_one_message_leaves_out_what_the_turn_has_not() -> None:
    document = whole(usage=None, ending=Ending.NOTHING)
    assert document["content"] == []
    assert document["stop_reason"] is None
    assert "usage" not in document


def test_a_paused_turn_never_ends() -> None:
    paused = answer(reasoning="so", paused=True, gap_ms=0)
    assert anthropic_messages.render(asked(), paused, IDENTITY).end is End.SILENT
    stream = anthropic_messages.render(asked(stream=True), paused, IDENTITY)
    assert stream.end is End.SILENT
    assert b"thinking_delta" in stream.pieces[-1].data


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, "invalid_request_error"),
        (401, "authentication_error"),
        (402, "billing_error"),
        (403, "permission_error"),
        (404, "not_found_error"),
        (409, "conflict_error"),
        (413, "request_too_large"),
        (418, "invalid_request_error"),
        (429, "rate_limit_error"),
        (500, "api_error"),
        (503, "api_error"),
        (504, "timeout_error"),
        (529, "overloaded_error"),
    ],
)
def test_an_error_has_anthropics_envelope_and_the_word_for_its_status(
    status: int, kind: str
) -> None:
    refusal = Refusal(status=status, message="no")
    reply = anthropic_messages.refuse(refusal, IDENTITY)
    assert reply.status == status
    assert json.loads(reply.pieces[0].data) == {
        "type": "error",
        "error": {"type": kind, "message": "no"},
        "request_id": "req_0123456789abcdef0123456789abcdef",
    }
    name, data = anthropic_messages.error_event(refusal).splitlines()[:2]
    assert name == b"event: error"
    assert json.loads(data.removeprefix(b"data: "))["error"] == {"type": kind, "message": "no"}


def test_the_model_list_has_one_model() -> None:
    document = json.loads(anthropic_messages.models(1_700_000_000).pieces[0].data)
    (model,) = document["data"]
    assert model["created_at"] == "2023-11-14T22:13:20Z"
    assert (document["first_id"], document["last_id"]) == (model["id"], model["id"])
    assert document["has_more"] is False
