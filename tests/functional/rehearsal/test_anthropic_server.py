"""The messages API as a whole process: routes, keys, errors, counting, and the witness."""

import json
from pathlib import Path
from typing import Any

import pytest

from functional.rehearsal.listener import listen
from functional.rehearsal.player import MESSAGES, Rehearsal
from functional.rehearsal.raw_client import RawClient, Received

COUNT = "/v1/messages/count_tokens"
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
"""


def body(turns: int = 0, **fields: object) -> bytes:
    messages = [{"role": "user", "content": "Do the task."}]
    for _ in range(turns):
        messages += [{"role": "assistant", "content": "so"}, {"role": "user", "content": "go on"}]
    offered = [{"name": "Bash", "input_schema": {"type": "object"}}]
    request: dict[str, object] = {"model": "claude-any", "max_tokens": 64_000, "tools": offered}
    return json.dumps({**request, "messages": messages, "stream": True, **fields}).encode()


def send(rehearsal: Rehearsal, sent: bytes, path: str = MESSAGES, **headers: str) -> Received:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return RawClient(rehearsal.port, path, sent, named).receive()


def error(received: Received) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(received.entity)
    assert document["type"] == "error"
    assert document["request_id"] == received.headers["request-id"]
    found: dict[str, Any] = document["error"]
    return found


def test_a_conversation_goes_turn_by_turn_as_the_witness_saw(tmp_path: Path) -> None:
    with Rehearsal(tmp_path, SCRIPT) as rehearsal:
        first = send(
            rehearsal,
            body(
                thinking={"type": "enabled", "budget_tokens": 16_000},
                output_config={"effort": "max"},
            ),
            MESSAGES + "?beta=true",
        )
        second = send(rehearsal, body(1, stream=False))
        lines = rehearsal.witnessed()
    heard = listen(first)
    assert heard.reasoning == "I should look at the files first."
    assert (heard.finish, heard.done) == ("tool_use", True)
    assert heard.usage
    assert heard.usage["output_tokens_details"] == {"thinking_tokens": 20}
    assert b'"name":"Bash"' in first.entity
    assert (listen(second).text, listen(second).finish) == ("Done.", "end_turn")
    assert [line["turn"] for line in lines] == [0, 1]
    assert (lines[0]["path"], lines[0]["tools"]) == (MESSAGES, ["Bash"])
    assert (lines[0]["max_tokens"], lines[0]["reasoning_effort"]) == (64_000, "max")
    assert (lines[0]["thinking_type"], lines[0]["thinking_budget_tokens"]) == ("enabled", 16_000)
    assert (lines[1]["thinking_type"], lines[1]["reasoning_effort"]) == (None, None)


def test_the_key_is_taken_from_either_header(tmp_path: Path) -> None:
    with Rehearsal(tmp_path, SCRIPT, key="s3cret") as rehearsal:
        assert send(rehearsal, body(), x_api_key="s3cret").status == 200
        assert send(rehearsal, body(), Authorization="Bearer s3cret").status == 200
        for headers in ({}, {"x_api_key": "other"}, {"Authorization": "Basic s3cret"}):
            refused = send(rehearsal, body(), **headers)
            assert (refused.status, error(refused)["type"]) == (401, "authentication_error")
        assert [line["key_ok"] for line in rehearsal.witnessed()] == [
            True,
            True,
            False,
            False,
            False,
        ]


@pytest.mark.parametrize(
    ("sent", "part"),
    [
        (b"{", "not JSON"),
        (body(max_tokens=None), "max_tokens: is None"),
        (body(tools=[{"name": "Read"}]), "does not offer"),
    ],
)
def test_a_wrong_request_is_an_error_in_the_vendors_envelope(
    tmp_path: Path, sent: bytes, part: str
) -> None:
    with Rehearsal(tmp_path, SCRIPT) as rehearsal:
        refused = send(rehearsal, sent)
        assert (refused.status, error(refused)["type"]) == (400, "invalid_request_error")
        assert part in error(refused)["message"]


def test_tokens_are_counted_and_take_no_turn(tmp_path: Path) -> None:
    with Rehearsal(tmp_path, SCRIPT) as rehearsal:
        sent = body(max_tokens=None)
        counted = send(rehearsal, sent, COUNT)
        assert json.loads(counted.entity) == {"input_tokens": -(-len(sent) // 4)}
        refused = send(rehearsal, b"[]", COUNT)
        assert error(refused)["type"] == "invalid_request_error"
        lines = rehearsal.witnessed()
        assert [line["turn"] for line in lines] == [None, None]
        assert [line["model"] for line in lines] == ["claude-any", None]


def test_what_is_shared_speaks_to_the_one_who_asks(tmp_path: Path) -> None:
    with Rehearsal(tmp_path, SCRIPT) as rehearsal:
        unknown = send(rehearsal, b"", "/v1/files", anthropic_version="2023-06-01")
        assert (unknown.status, error(unknown)["type"]) == (404, "not_found_error")
        assert f"POST {COUNT}" in error(unknown)["message"]
        connection = rehearsal.connect()
        connection.request("GET", "/v1/models", headers={"anthropic-version": "2023-06-01"})
        document = json.loads(connection.getresponse().read())
        connection.close()
        assert [model["type"] for model in document["data"]] == ["model"]
