"""Gemini's API as a whole process: what Google's own SDK makes of it, and the witness."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from google import genai
from google.genai import errors, types

from functional.rehearsal.player import Rehearsal
from functional.rehearsal.raw_client import RawClient

MODEL = "gemini-any"
PATH = f"/v1beta/models/{MODEL}"
VERSIONS = ["v1beta", "v1"]
"""The first is the reference's, the second what this SDK asks if nothing is said."""
SCRIPT = """
version = 1
[defaults]
gap_ms = 0

[[turn]]
reasoning = "I should look at the files first."
usage = {prompt_tokens = 900, completion_tokens = 60, reasoning_tokens = 20}
[[turn.tool]]
name = "bash"
arguments = {command = "ls"}

[[turn]]
text = "Done."

[[turn]]
text = "Too long."
finish = "length"

[[turn]]
text = "Never said."
fault = {kind = "error_event", after = 1, error_type = "UNAVAILABLE", message = "busy"}
"""
BASH = types.FunctionDeclaration(name="Bash", parameters_json_schema={"type": "object"})
CONFIG = types.GenerateContentConfig(
    max_output_tokens=64_000,
    thinking_config=types.ThinkingConfig(
        thinking_level=types.ThinkingLevel.HIGH, include_thoughts=True
    ),
    tools=[types.Tool(function_declarations=[BASH])],
    automatic_function_calling=types.AutomaticFunctionCallingConfig(disable=True),
)


def conversation(turns: int) -> list[Any]:
    said = types.Content(role="model", parts=[types.Part(text="so")])
    asked = types.Content(role="user", parts=[types.Part(text="Do the task.")])
    return [asked, *[said, asked] * turns]


@contextmanager
def client(rehearsal: Rehearsal, version: str = "v1beta") -> Iterator[genai.Client]:
    address = f"http://127.0.0.1:{rehearsal.port}"
    options = types.HttpOptions(base_url=address, api_version=version, timeout=20_000)
    found = genai.Client(api_key=rehearsal.key or "any", http_options=options)
    try:
        yield found
    finally:
        found.close()


@pytest.mark.parametrize("version", VERSIONS)
def test_a_conversation_goes_turn_by_turn_as_the_witness_saw(tmp_path: Path, version: str) -> None:
    with Rehearsal(tmp_path, SCRIPT) as rehearsal:
        with client(rehearsal, version) as google:
            asked = {"model": MODEL, "config": CONFIG}
            first = list(google.models.generate_content_stream(contents=conversation(0), **asked))
            said = [part for chunk in first for part in (chunk.parts or [])]
            replayed = types.Content(role="model", parts=said)
            given = types.Part.from_function_response(name="Bash", response={"output": "a"})
            second = google.models.generate_content(
                contents=[*conversation(0), replayed, types.Content(role="user", parts=[given])],
                **asked,
            )
        lines = rehearsal.witnessed()
    thoughts = "".join(part.text or "" for part in said if part.thought)
    assert thoughts == "I should look at the files first."
    (call,) = [part for part in said if part.function_call]
    assert call.function_call is not None
    assert (call.function_call.name, call.function_call.args) == ("Bash", {"command": "ls"})
    assert call.thought_signature
    usage = first[-1].usage_metadata
    assert usage is not None
    assert (usage.candidates_token_count, usage.thoughts_token_count) == (40, 20)
    assert second.text == "Done."
    assert second.model_version == MODEL
    assert [line["turn"] for line in lines] == [0, 1]
    assert [line["path"] for line in lines] == [
        f"/{version}/models/{MODEL}:streamGenerateContent",
        f"/{version}/models/{MODEL}:generateContent",
    ]
    for line in lines:
        assert (line["model"], line["tools"]) == (MODEL, ["Bash"])
        assert (line["max_output_tokens"], line["reasoning_effort"]) == (64_000, "HIGH")
    assert [line["stream"] for line in lines] == [True, False]


def test_a_length_stop_and_an_error_within_a_stream_reach_the_sdk(tmp_path: Path) -> None:
    with Rehearsal(tmp_path, SCRIPT) as rehearsal, client(rehearsal) as google:
        asked = {"model": MODEL, "config": CONFIG}
        cut = google.models.generate_content(contents=conversation(2), **asked)
        assert cut.candidates
        assert cut.candidates[0].finish_reason is types.FinishReason.MAX_TOKENS
        stream = google.models.generate_content_stream(contents=conversation(3), **asked)
        with pytest.raises(errors.APIError, match="busy") as raised:
            list(stream)
    assert raised.value.status == "UNAVAILABLE"


def test_the_key_is_demanded_and_other_paths_are_unknown(tmp_path: Path) -> None:
    body = json.dumps({"contents": [{"parts": [{"text": "go"}]}]}).encode()
    paths = [":generateContent", ":streamGenerateContent?alt=sse", ":countTokens", ""]
    with Rehearsal(tmp_path, SCRIPT, key="s3cret") as rehearsal:

        def sent(path: str, key: str = "s3cret") -> Any:
            return RawClient(rehearsal.port, path, body, {"x-goog-api-key": key}).receive()

        wrong = sent(f"{PATH}:generateContent", "no")
        found = [sent(PATH + path) for path in paths]
        array = sent(f"{PATH}:streamGenerateContent")
        lines = rehearsal.witnessed()
    assert [answer.status for answer in (wrong, *found, array)] == [400, 200, 200, 404, 404, 400]
    assert json.loads(wrong.entity)["error"]["details"][0]["reason"] == "API_KEY_INVALID"
    assert json.loads(found[2].entity)["error"]["status"] == "NOT_FOUND"
    assert "MODEL:generateContent" in json.loads(found[2].entity)["error"]["message"]
    assert [line["key_ok"] for line in lines] == [False, *[True] * 5]


def test_models_are_listed(tmp_path: Path) -> None:
    with Rehearsal(tmp_path, SCRIPT) as rehearsal, client(rehearsal) as google:
        assert [model.name for model in google.models.list()] == ["models/rehearsal"]
