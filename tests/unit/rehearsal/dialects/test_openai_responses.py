import json
from typing import Any

import pytest

from stanchion.rehearsal.dialects import openai_responses
from stanchion.rehearsal.dialects.building import digest
from stanchion.rehearsal.dialects.reply import End
from stanchion.rehearsal.turns import Asked, Refusal
from unit.rehearsal.dialects.answers import IDENTITY, answer

USER: dict[str, Any] = {"role": "user", "content": [{"type": "input_text", "text": "go"}]}
SAID: dict[str, Any] = {"type": "message", "role": "assistant", "content": []}
CALL: dict[str, Any] = {"type": "function_call", "call_id": "c", "name": "ls", "arguments": "{}"}
PATCH = {**CALL, "type": "custom_tool_call"}
THOUGHTS = {"type": "reasoning"}
GIVEN: dict[str, Any] = {"type": "function_call_output", "call_id": "c", "output": ""}


def body(**fields: object) -> bytes:
    return json.dumps({"model": "any/model", "input": [USER], **fields}).encode()


def asked(**fields: object) -> Asked:
    request = openai_responses.understand(body(**fields))
    assert isinstance(request, Asked)
    return request


def test_a_request_is_understood() -> None:
    raw = body(
        stream=True,
        max_output_tokens=64_000,
        reasoning={"effort": "max", "summary": "auto"},
        tools=[
            {"type": "function", "name": "bash", "parameters": {}},
            {"type": "custom", "name": "apply_patch"},
            {"type": "web_search"},
            {"type": "mcp", "name": "elsewhere"},
            3,
        ],
    )
    assert openai_responses.understand(raw) == Asked(
        model="any/model",
        stream=True,
        include_usage=True,
        tools=("bash", "apply_patch"),
        turns_taken=0,
        body_bytes=len(raw),
        conversation=digest([USER]),
        reasoning_effort="max",
        max_output_tokens=64_000,
        free_tools=frozenset({"apply_patch"}),
    )


def test_what_is_not_said_is_unknown_and_the_conversation_may_be_text() -> None:
    plain = asked(input="go", tools="odd", reasoning=3)
    assert (plain.reasoning_effort, plain.max_output_tokens, plain.max_tokens) == (None,) * 3
    assert (plain.tools, plain.stream, plain.turns_taken) == ((), False, 0)


@pytest.mark.parametrize(
    ("items", "taken"),
    [
        ([USER], 0),
        ([{"role": "developer", "content": "x"}, USER, SAID, USER], 1),
        ([USER, THOUGHTS, SAID, CALL, CALL, GIVEN, GIVEN], 1),
        ([USER, CALL, GIVEN, THOUGHTS, PATCH, GIVEN], 2),
        ([USER, {"type": "item_reference", "id": "rs_1"}, CALL, GIVEN, SAID, USER], 2),
        ([SAID, USER, {"role": "assistant", "content": "x"}, USER], 1),
        ([SAID], 0),
        ([USER, 3, None], 0),
    ],
)
def test_what_the_model_made_in_one_go_is_one_turn(items: list[object], taken: int) -> None:
    assert asked(input=items).turns_taken == taken


@pytest.mark.parametrize(
    ("raw", "param"),
    [(b"{", None), (body(model=""), "model"), (body(input=[]), "input"), (body(input=""), "input")],
)
def test_a_request_that_the_api_would_refuse_is_refused(raw: bytes, param: str | None) -> None:
    refused = openai_responses.understand(raw)
    assert isinstance(refused, Refusal)
    assert (refused.status, refused.param) == (400, param)


def test_a_request_without_stream_gets_one_response() -> None:
    reply = openai_responses.render(asked(), answer(text="hi"), IDENTITY)
    document = json.loads(reply.pieces[0].data)
    assert (reply.content_type, reply.size_bytes) == (
        "application/json",
        len(reply.pieces[0].data),
    )
    assert (document["object"], document["status"]) == ("response", "completed")
    assert document["output"][0]["content"][0]["text"] == "hi"


def test_a_paused_turn_never_ends() -> None:
    paused = answer(reasoning="so", paused=True, gap_ms=0)
    assert openai_responses.render(asked(), paused, IDENTITY).end is End.SILENT
    stream = openai_responses.render(asked(stream=True), paused, IDENTITY)
    assert stream.end is End.SILENT
    assert b"reasoning_summary_text.delta" in stream.pieces[-1].data


def test_an_error_is_in_the_envelope_whole_and_within_a_stream() -> None:
    refusal = Refusal(status=503, message="no", code="server_is_overloaded")
    whole = openai_responses.refuse(refusal, IDENTITY)
    name, data = openai_responses.error_event(refusal).splitlines()[:2]
    error = {
        "message": "no",
        "type": "server_error",
        "param": None,
        "code": "server_is_overloaded",
    }
    assert (whole.status, json.loads(whole.pieces[0].data)) == (503, {"error": error})
    assert name == b"event: error"
    assert json.loads(data.removeprefix(b"data: ")) == {
        "type": "error",
        "sequence_number": 0,
        "error": error,
    }


@pytest.mark.parametrize(
    ("headers", "key"), [({"Authorization": "Bearer k"}, "k"), ({"x-api-key": "k"}, None)]
)
def test_the_key_is_a_bearer_token(headers: dict[str, str], key: str | None) -> None:
    assert openai_responses.presented_key(headers) == key


def test_the_model_list_is_openais() -> None:
    assert json.loads(openai_responses.models(12).pieces[0].data)["object"] == "list"
