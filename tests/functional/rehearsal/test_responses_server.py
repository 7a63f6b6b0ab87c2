"""The responses API as a whole process: what OpenAI's own SDK makes of it, and the witness."""

import json
from pathlib import Path
from typing import Any

import openai
import pytest

from functional.rehearsal.player import RESPONSES, Rehearsal
from functional.rehearsal.raw_client import RawClient

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
[[turn.tool]]
name = "apply_patch"
arguments = {input = "*** Begin Patch"}

[[turn]]
text = "Done."

[[turn]]
text = "Too long."
finish = "length"

[[turn]]
text = "Never said."
fault = {kind = "error_event", after = 4, error_code = "server_is_overloaded", message = "busy"}
"""
TOOLS: list[Any] = [
    {"type": "function", "name": "Bash", "parameters": {"type": "object"}, "strict": False},
    {"type": "custom", "name": "apply_patch"},
]


def conversation(turns: int) -> list[Any]:
    items: list[Any] = [{"role": "user", "content": "Do the task."}]
    for _ in range(turns):
        items += [{"role": "assistant", "content": "so"}, {"role": "user", "content": "go on"}]
    return items


def client(rehearsal: Rehearsal) -> openai.OpenAI:
    return openai.OpenAI(
        base_url=f"http://127.0.0.1:{rehearsal.port}/v1",
        api_key=rehearsal.key or "any",
        max_retries=0,
        timeout=20,
    )


def asked(turns: int, **fields: Any) -> dict[str, Any]:
    common = {"model": "gpt-any", "max_output_tokens": 64_000, "tools": TOOLS}
    return {**common, "input": conversation(turns), **fields}


def test_a_conversation_goes_turn_by_turn_as_the_witness_saw(tmp_path: Path) -> None:
    with Rehearsal(tmp_path, SCRIPT) as rehearsal:
        with client(rehearsal).responses.stream(**asked(0, reasoning={"effort": "max"})) as stream:
            first = stream.get_final_response()
        replayed = [item.model_dump(exclude_none=True) for item in first.output]
        given = [
            {"type": "function_call_output", "call_id": replayed[1]["call_id"], "output": "a"},
            {"type": "custom_tool_call_output", "call_id": replayed[2]["call_id"], "output": "b"},
        ]
        second = client(rehearsal).responses.create(
            **asked(0, input=[*conversation(0), *replayed, *given])
        )
        lines = rehearsal.witnessed()
    thoughts, bash, patch = first.output
    assert thoughts.type == "reasoning"
    assert thoughts.summary[0].text == "I should look at the files first."
    assert bash.type == "function_call"
    assert (bash.name, json.loads(bash.arguments)) == ("Bash", {"command": "ls"})
    assert patch.type == "custom_tool_call"
    assert patch.input == "*** Begin Patch"
    assert first.usage is not None
    assert (first.usage.input_tokens, first.usage.output_tokens_details.reasoning_tokens) == (
        900,
        20,
    )
    assert (second.status, second.output_text) == ("completed", "Done.")
    assert [line["turn"] for line in lines] == [0, 1]
    assert (lines[0]["path"], lines[0]["tools"]) == (RESPONSES, ["Bash", "apply_patch"])
    assert (lines[0]["max_output_tokens"], lines[0]["max_tokens"]) == (64_000, None)
    assert (lines[0]["reasoning_effort"], lines[1]["reasoning_effort"]) == ("max", None)


def test_a_length_stop_is_an_incomplete_response(tmp_path: Path) -> None:
    with Rehearsal(tmp_path, SCRIPT) as rehearsal:
        events = list(client(rehearsal).responses.create(**asked(2), stream=True))
        whole = client(rehearsal).responses.create(**asked(2))
    last = events[-1]
    assert last.type == "response.incomplete"
    for response in (last.response, whole):
        assert response.status == "incomplete"
        assert response.incomplete_details is not None
        assert response.incomplete_details.reason == "max_output_tokens"
        assert response.output_text == "Too long."
    assert [event.sequence_number for event in events] == list(range(len(events)))


def test_an_error_within_a_stream_reaches_the_sdk(tmp_path: Path) -> None:
    with Rehearsal(tmp_path, SCRIPT) as rehearsal:
        stream = client(rehearsal).responses.create(**asked(3), stream=True)
        with pytest.raises(openai.APIError, match="busy") as raised:
            list(stream)
    assert raised.value.code == "server_is_overloaded"


def test_the_key_is_demanded_and_other_paths_are_unknown(tmp_path: Path) -> None:
    body = json.dumps(asked(1)).encode()
    with Rehearsal(tmp_path, SCRIPT, key="s3cret") as rehearsal:
        wrong = RawClient(rehearsal.port, RESPONSES, body, {"Authorization": "Bearer no"}).receive()
        right = {"Authorization": "Bearer s3cret"}
        good = RawClient(rehearsal.port, RESPONSES, body, right).receive()
        other = RawClient(rehearsal.port, f"{RESPONSES}/compact", body, right).receive()
        lines = rehearsal.witnessed()
    assert (wrong.status, good.status, other.status) == (401, 200, 404)
    assert json.loads(wrong.entity)["error"]["code"] == "invalid_api_key"
    assert f"POST {RESPONSES}" in json.loads(other.entity)["error"]["message"]
    assert [line["key_ok"] for line in lines] == [False, True, True]
