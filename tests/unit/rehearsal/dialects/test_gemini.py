import json
from typing import Any

import pytest

from stanchion.rehearsal.dialects.building import digest
from stanchion.rehearsal.dialects.gemini import KEY_REFUSED, MODELS_PATH, Gemini, at
from stanchion.rehearsal.dialects.reply import End
from stanchion.rehearsal.turns import Asked, Refusal
from unit.rehearsal.dialects.answers import IDENTITY, answer

USER: dict[str, Any] = {"role": "user", "parts": [{"text": "go"}]}
SAID: dict[str, Any] = {"role": "model", "parts": [{"text": "so"}]}
WHOLE = Gemini(model="gemini-any", action="generateContent", alt=None)
STREAM = Gemini(model="gemini-any", action="streamGenerateContent", alt="sse")


def body(**fields: object) -> bytes:
    return json.dumps({"contents": [USER], **fields}).encode()


def asked(dialect: Gemini = WHOLE, **fields: object) -> Asked:
    request = dialect.understand(body(**fields))
    assert isinstance(request, Asked)
    return request


@pytest.mark.parametrize(
    ("path", "served"),
    [
        (f"{MODELS_PATH}/gemini-2.5-pro:generateContent", True),
        (f"{MODELS_PATH}/gemini-2.5-pro:streamGenerateContent", True),
        ("/v1/models/gemini-2.5-pro:generateContent", True),
        (f"{MODELS_PATH}/gemini-2.5-pro:countTokens", False),
        (f"{MODELS_PATH}/:generateContent", False),
        (f"{MODELS_PATH}/a/b:generateContent", False),
        (f"{MODELS_PATH}/gemini-2.5-pro", False),
        (MODELS_PATH, False),
        ("/v1beta/files", False),
    ],
)
def test_an_address_is_served_by_its_action(path: str, served: bool) -> None:
    named = at(path, "sse")
    assert named is not None
    assert named.is_served is served


@pytest.mark.parametrize("path", ["/v1/models", "/v1betas", "/v2/models/m:x", "/", ""])
def test_other_paths_are_of_other_dialects(path: str) -> None:
    assert at(path, None) is None


def test_a_request_is_understood_with_the_model_of_its_path() -> None:
    raw = body(
        generationConfig={
            "maxOutputTokens": 64_000,
            "thinkingConfig": {"thinkingLevel": "high", "thinkingBudget": -1},
        },
        tools=[
            {"functionDeclarations": [{"name": "bash"}, {"name": 3}, "odd"]},
            {"googleSearch": {}},
            {"functionDeclarations": [{"name": "read"}]},
            5,
        ],
    )
    assert STREAM.understand(raw) == Asked(
        model="gemini-any",
        stream=True,
        include_usage=True,
        tools=("bash", "read"),
        turns_taken=0,
        body_bytes=len(raw),
        conversation=digest([USER]),
        max_output_tokens=64_000,
        reasoning_effort="high",
        thinking_budget_tokens=-1,
    )


def test_the_other_spelling_of_a_field_is_the_same_field() -> None:
    config = {"max_output_tokens": 5, "thinking_config": {"thinking_level": "HIGH"}}
    found = asked(generation_config=config, tools=[{"function_declarations": [{"name": "ls"}]}])
    assert (found.max_output_tokens, found.reasoning_effort, found.tools) == (5, "HIGH", ("ls",))


def test_what_is_not_said_is_unknown() -> None:
    plain = asked(tools="odd", generationConfig=3)
    assert (plain.max_output_tokens, plain.reasoning_effort) == (None, None)
    assert (plain.thinking_budget_tokens, plain.tools, plain.stream) == (None, (), False)


@pytest.mark.parametrize(
    ("contents", "taken"),
    [
        ([USER], 0),
        ([USER, SAID, USER], 1),
        ([USER, SAID, SAID, USER, SAID], 2),
        ([SAID, USER, SAID], 1),
        ([{"parts": []}, SAID], 1),
        ([SAID], 0),
        ([3, None], 0),
    ],
)
def test_neighbouring_contents_of_the_model_are_one_turn(
    contents: list[object], taken: int
) -> None:
    assert asked(contents=contents).turns_taken == taken


@pytest.mark.parametrize(
    ("dialect", "raw", "part"),
    [
        (WHOLE, b"{", "not JSON"),
        (WHOLE, b"[]", "JSON object"),
        (WHOLE, body(contents=[]), "contents must be"),
        (WHOLE, body(contents="go"), "contents must be"),
        (Gemini(model="m", action="streamGenerateContent", alt=None), body(), "alt=sse"),
    ],
)
def test_a_request_that_cannot_be_answered_is_refused(
    dialect: Gemini, raw: bytes, part: str
) -> None:
    refused = dialect.understand(raw)
    assert isinstance(refused, Refusal)
    assert refused.status == 400
    assert part in refused.message


def test_a_request_gets_a_stream_or_one_response() -> None:
    reply = WHOLE.render(asked(), answer(text="hi"), IDENTITY)
    assert reply.content_type == "application/json"
    document = json.loads(reply.pieces[0].data)
    assert document["candidates"][0]["content"]["parts"][0]["text"] == "hi"
    streamed = STREAM.render(asked(STREAM), answer(text="hi"), IDENTITY)
    assert streamed.content_type.startswith("text/event-stream")
    assert len(streamed.pieces) == 2


def test_a_paused_turn_never_ends() -> None:
    paused = answer(reasoning="so", paused=True)
    assert WHOLE.render(asked(), paused, IDENTITY).end is End.SILENT
    stream = STREAM.render(asked(STREAM), paused, IDENTITY)
    assert stream.end is End.SILENT
    assert b'"thought":true' in stream.pieces[-1].data


@pytest.mark.parametrize(
    ("refusal", "word"),
    [
        (Refusal(status=400, message="no"), "INVALID_ARGUMENT"),
        (Refusal(status=429, message="no"), "RESOURCE_EXHAUSTED"),
        (Refusal(status=503, message="no"), "UNAVAILABLE"),
        (Refusal(status=529, message="no"), "UNAVAILABLE"),
        (Refusal(status=402, message="no"), "FAILED_PRECONDITION"),
        (Refusal(status=500, message="no", kind="odd"), "odd"),
    ],
)
def test_an_error_is_in_googles_envelope_whole_and_within_a_stream(
    refusal: Refusal, word: str
) -> None:
    whole = WHOLE.refuse(refusal, IDENTITY)
    error = {"error": {"code": refusal.status, "message": "no", "status": word}}
    assert (whole.status, json.loads(whole.pieces[0].data)) == (refusal.status, error)
    data = WHOLE.error_event(refusal)
    assert json.loads(data.removeprefix(b"data: ")) == error


def test_a_code_is_the_reason_among_the_details() -> None:
    error = json.loads(WHOLE.refuse(KEY_REFUSED, IDENTITY).pieces[0].data)["error"]
    assert error["details"] == [
        {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID"}
    ]


@pytest.mark.parametrize(
    ("headers", "key"),
    [
        ({"x-goog-api-key": "k", "Authorization": "Bearer other"}, "k"),
        ({"Authorization": "Bearer k"}, "k"),
        ({"x-api-key": "k"}, None),
    ],
)
def test_the_key_has_a_header_of_its_own(headers: dict[str, str], key: str | None) -> None:
    assert WHOLE.presented_key(headers) == key


def test_the_model_list_is_googles() -> None:
    listed = json.loads(WHOLE.models(12).pieces[0].data)
    assert [model["name"] for model in listed["models"]] == ["models/rehearsal"]
