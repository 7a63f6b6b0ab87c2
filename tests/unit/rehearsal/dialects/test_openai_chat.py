import json

import pytest

from stanchion.rehearsal.dialects import openai_chat
from stanchion.rehearsal.dialects.building import digest
from stanchion.rehearsal.turns import Asked, Refusal
from unit.rehearsal.dialects.answers import IDENTITY


def body(**fields: object) -> bytes:
    request = {"model": "any/model", "messages": [{"role": "user", "content": "go"}], **fields}
    return json.dumps(request).encode()


def asked(**fields: object) -> Asked:
    request = openai_chat.understand(body(**fields))
    assert isinstance(request, Asked)
    return request


def test_a_request_is_understood() -> None:
    raw = body(
        stream=True,
        stream_options={"include_usage": True},
        tools=[{"type": "function", "function": {"name": "bash"}}, {"type": "odd"}, 3],
        max_tokens=64_000,
        max_completion_tokens=None,
        reasoning_effort="max",
    )
    assert openai_chat.understand(raw) == Asked(
        model="any/model",
        stream=True,
        include_usage=True,
        tools=("bash",),
        turns_taken=0,
        body_bytes=len(raw),
        conversation=digest([{"role": "user", "content": "go"}]),
        max_tokens=64_000,
        max_completion_tokens=None,
        reasoning_effort="max",
    )


@pytest.mark.parametrize(
    ("roles", "taken"),
    [
        (["user"], 0),
        (["system", "user", "assistant", "tool"], 1),
        (["user", "assistant", "tool", "tool", "assistant", "user", "assistant"], 3),
        (["assistant", "user", "assistant"], 1),
        (["system"], 0),
        (["system", "assistant"], 0),
    ],
)
def test_turns_taken_are_the_assistants_words_after_the_first_users(
    roles: list[str], taken: int
) -> None:
    messages: list[object] = [{"role": role, "content": "x"} for role in roles]
    assert asked(messages=messages).turns_taken == taken
    assert asked(messages=["odd", *messages]).turns_taken == taken


@pytest.mark.parametrize(
    ("raw", "param", "part"),
    [
        (b"{", None, "not JSON"),
        (b'{"model": "\xff"}', None, "not JSON"),
        (b"", None, "not JSON"),
        (b"[]", None, "not a JSON object"),
        (b"{}", "model", "model must be"),
        (body(model=3), "model", "model must be"),
        (body(model=""), "model", "model must be"),
        (body(messages="go"), "messages", "messages must be"),
        (body(messages=[]), "messages", "messages must be"),
    ],
)
def test_a_request_that_no_provider_would_take_is_refused(
    raw: bytes, param: str | None, part: str
) -> None:
    refused = openai_chat.understand(raw)
    assert isinstance(refused, Refusal)
    assert (refused.status, refused.param) == (400, param)
    assert part in refused.message


def test_an_error_has_openais_envelope() -> None:
    refusal = Refusal(status=401, message="no", code="invalid_api_key")
    reply = openai_chat.refuse(refusal, IDENTITY)
    assert (reply.status, reply.content_type) == (401, "application/json")
    assert reply.size_bytes == len(reply.pieces[0].data)
    assert json.loads(reply.pieces[0].data) == {
        "error": {
            "message": "no",
            "type": "invalid_request_error",
            "param": None,
            "code": "invalid_api_key",
        }
    }


@pytest.mark.parametrize(
    ("status", "kind", "code"),
    [
        (400, "invalid_request_error", None),
        (429, "requests", "rate_limit_exceeded"),
        (500, "server_error", None),
        (503, "server_error", None),
    ],
)
def test_an_error_is_named_by_its_status_unless_it_has_a_name(
    status: int, kind: str, code: str | None
) -> None:
    plain = openai_chat.refuse(Refusal(status=status, message="no"), IDENTITY)
    error = json.loads(plain.pieces[0].data)["error"]
    assert (error["type"], error["code"]) == (kind, code)
    named = Refusal(status=status, message="no", kind="insufficient_quota", code="quota")
    event = openai_chat.error_event(named)
    assert event.startswith(b"data: ")
    assert event.endswith(b"\n\n")
    error = json.loads(event[6:])["error"]
    assert (error["type"], error["code"]) == ("insufficient_quota", "quota")


@pytest.mark.parametrize(
    ("headers", "key"),
    [
        ({"Authorization": "Bearer k"}, "k"),
        ({"Authorization": "k"}, None),
        ({"x-api-key": "k"}, None),
        ({}, None),
    ],
)
def test_the_key_is_the_bearer_token(headers: dict[str, str], key: str | None) -> None:
    assert openai_chat.presented_key(headers) == key


def test_the_model_list_has_one_model() -> None:
    document = json.loads(openai_chat.models(7).pieces[0].data)
    assert document == {
        "object": "list",
        "data": [{"id": "rehearsal", "object": "model", "created": 7, "owned_by": "rehearsal"}],
    }
