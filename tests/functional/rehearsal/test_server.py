import hashlib
import http.client
import json
import select
from pathlib import Path
from typing import Any

import pytest

from functional.rehearsal.player import (
    CHAT,
    GEMINI,
    MESSAGES,
    RESPONSES,
    Rehearsal,
    joined,
    read_events,
    request,
)

SCRIPT = """
version = 1
[defaults]
gap_ms = 0

[[turn]]
reasoning = "I should look at the files before I say anything."
usage = {prompt_tokens = 900, completion_tokens = 60, reasoning_tokens = 20}
[[turn.tool]]
name = "bash"
arguments = {command = "ls", description = "list"}

[[turn]]
text = "Second."
usage = false

[[turn]]
reasoning = "Third, and then nothing."
pause = "forever"

[[turn]]
text = "Too late."
hold_s = 3600
"""
USAGE: Any = {"stream_options": {"include_usage": True}}


def test_a_stream_is_what_the_script_says(tmp_path: Path) -> None:
    with Rehearsal(tmp_path, SCRIPT) as rehearsal:
        response = rehearsal.send(request(tools=("Bash", "read"), **USAGE))
        assert response.status == 200
        assert response.headers["content-type"] == "text/event-stream; charset=utf-8"
        assert response.headers["x-request-id"].startswith("req_")
        whole = joined(response.body)
        call = whole["calls"][0]
        assert whole["reasoning"] == "I should look at the files before I say anything."
        assert (call["name"], json.loads(call["text"])) == (
            "Bash",
            {"command": "ls", "description": "list"},
        )
        assert whole["finish"] == ["tool_calls"]
        assert whole["usage"]["completion_tokens_details"] == {"reasoning_tokens": 20}
        chunks = [json.loads(event) for event in read_events(response.body)[:-1]]
        assert {chunk["model"] for chunk in chunks} == {"some/model"}
        assert len({chunk["id"] for chunk in chunks}) == 1
        assert chunks[0]["id"].startswith("chatcmpl-")
        assert sum("reasoning_content" in str(chunk) for chunk in chunks) > 1


def test_usage_that_the_script_withholds_is_absent(tmp_path: Path) -> None:
    with Rehearsal(tmp_path, SCRIPT) as rehearsal:
        stream = rehearsal.send(request("one", **USAGE)).body
        whole = rehearsal.send(request("one", stream=False)).body
        assert b"usage" not in stream
        assert b"usage" not in whole
        assert joined(stream)["text"] == "Second."


@pytest.mark.parametrize("path", [CHAT, MESSAGES, RESPONSES, f"{GEMINI}:generateContent"])
def test_a_turn_can_name_another_model_than_the_one_asked_for(tmp_path: Path, path: str) -> None:
    script = 'version = 1\n[[turn]]\ntext = "Done."\nmodel = "another"\n'
    offered = {"name": "bash", "function": {"name": "bash"}, "type": "function"}
    asked = {
        "model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "Go."}],
        "input": "Go.", "contents": [{"role": "user", "parts": [{"text": "Go."}]}],
        "tools": [{**offered, "functionDeclarations": [{"name": "bash"}]}],
    }  # fmt: skip
    with Rehearsal(tmp_path, script) as rehearsal:
        answer = json.loads(rehearsal.send(json.dumps(asked).encode(), path=path).body)
        assert answer.get("model", answer.get("modelVersion")) == "another", answer
        assert rehearsal.witnessed()[0]["model"] == "m"


def test_without_stream_the_answer_is_one_object_of_known_length(tmp_path: Path) -> None:
    with Rehearsal(tmp_path, SCRIPT) as rehearsal:
        response = rehearsal.send(request(stream=False))
        assert response.headers["content-type"] == "application/json"
        assert int(response.headers["content-length"]) == len(response.body)
        (choice,) = json.loads(response.body)["choices"]
        assert choice["finish_reason"] == "tool_calls"
        assert json.loads(choice["message"]["tool_calls"][0]["function"]["arguments"]) == {
            "command": "ls",
            "description": "list",
        }


def test_a_retry_gets_the_same_turn_and_side_requests_take_none(tmp_path: Path) -> None:
    with Rehearsal(tmp_path, SCRIPT) as rehearsal:
        for body in (request(), request(tools=()), request(), request("one"), request("one")):
            assert rehearsal.send(body).status == 200
        past = rehearsal.send(request(*"abcdef"))
        assert joined(past.body)["text"] == "All turns of the script are done."
        assert [line["turn"] for line in rehearsal.witnessed()] == [0, None, 0, 1, 1, 6]


def test_the_witness_holds_the_digest_of_each_byte_that_crossed(tmp_path: Path) -> None:
    bodies = [
        request(max_tokens=64_000, reasoning_effort="max"),
        request("one", stream=False, max_completion_tokens=8_000),
        b"\x00 not json \xff",
        request(tools=("read",)),
    ]
    with Rehearsal(tmp_path, SCRIPT) as rehearsal:
        responses = [rehearsal.send(body) for body in bodies]
        lines = rehearsal.witnessed()
    assert [response.status for response in responses] == [200, 200, 400, 400]
    for body, response, line in zip(bodies, responses, lines, strict=True):
        assert line["body_sha256"] == hashlib.sha256(body).hexdigest()
        assert line["body_bytes"] == len(body)
        assert line["response_sha256"] == hashlib.sha256(response.body).hexdigest()
        assert line["response_bytes"] == len(response.body)
        assert line["request_id"] == response.headers["x-request-id"]
        assert line["status"] == response.status
        assert (line["complete"], line["client_gone"], line["path"]) == (True, False, CHAT)
    assert (lines[0]["max_tokens"], lines[0]["max_completion_tokens"]) == (64_000, None)
    assert (lines[0]["reasoning_effort"], lines[0]["tools"]) == ("max", ["bash"])
    assert (lines[1]["max_completion_tokens"], lines[1]["stream"]) == (8_000, False)
    assert (lines[2]["model"], lines[2]["tools"]) == (None, None)
    assert (lines[3]["turn"], lines[3]["tools"]) == (0, ["read"])


def test_a_tool_that_is_not_offered_is_a_clear_400(tmp_path: Path) -> None:
    with Rehearsal(tmp_path, SCRIPT) as rehearsal:
        response = rehearsal.send(request(tools=("read",)))
        error = json.loads(response.body)["error"]
        assert (response.status, error["code"]) == (400, "tool_not_offered")
        assert "'bash'" in error["message"]


@pytest.mark.parametrize("key", ["", "wrong", "s3cre", "s3cret2", "kéy"])
def test_another_key_is_refused_and_the_right_one_is_taken(tmp_path: Path, key: str) -> None:
    with Rehearsal(tmp_path, SCRIPT, key="s3cret") as rehearsal:
        for method, path in (("POST", CHAT), ("GET", "/v1/models"), ("GET", "/other")):
            response = rehearsal.send(request(), method=method, path=path, key=key)
            assert response.status == 401
            assert json.loads(response.body)["error"]["code"] == "invalid_api_key"
        assert rehearsal.send(request()).status == 200
        assert [line["key_ok"] for line in rehearsal.witnessed()] == [False, False, False, True]
        assert "s3cret" not in rehearsal.log.read_text()


def test_without_a_key_any_is_taken(tmp_path: Path) -> None:
    with Rehearsal(tmp_path, SCRIPT) as rehearsal:
        assert rehearsal.send(request(), key="whatever").status == 200
        assert rehearsal.witnessed()[0]["key_ok"] is None


def test_models_are_listed_and_unknown_urls_are_named(tmp_path: Path) -> None:
    with Rehearsal(tmp_path, SCRIPT) as rehearsal:
        models = rehearsal.send(b"", method="GET", path="/v1/models")
        assert [model["id"] for model in json.loads(models.body)["data"]] == ["rehearsal"]
        for method, path in (("GET", CHAT), ("POST", "/v1/embeddings"), ("HEAD", "/v1/models")):
            assert rehearsal.send(b"", method=method, path=path).status == 404
        lines = rehearsal.witnessed()
        assert [line["status"] for line in lines] == [200, 404, 404, 404]
        assert [line["response_bytes"] for line in lines][3] == 0


def test_a_paused_turn_reasons_and_then_waits_for_the_client_to_go(tmp_path: Path) -> None:
    with Rehearsal(tmp_path, SCRIPT) as rehearsal:
        connection = rehearsal.connect()
        connection.request("POST", CHAT, request("one", "two"), rehearsal.headers())
        answer = connection.getresponse()
        received = b""
        while b"nothing." not in received:
            received += answer.read1()
        assert rehearsal.send(request("one")).status == 200
        assert not _readable(connection)
        answer.close()
        connection.close()
        line = _line_of_turn_2(rehearsal)
        assert line["status"] == 200
        assert (line["complete"], line["client_gone"]) == (False, True)
        assert line["response_sha256"] == hashlib.sha256(received).hexdigest()
        deltas = [json.loads(event)["choices"][0]["delta"] for event in read_events(received)]
        assert "".join(delta.get("reasoning_content", "") for delta in deltas) == (
            "Third, and then nothing."
        )


def test_a_paused_turn_without_stream_sends_headers_only(tmp_path: Path) -> None:
    with Rehearsal(tmp_path, SCRIPT) as rehearsal:
        connection = rehearsal.connect()
        body = request("one", "two", stream=False)
        connection.request("POST", CHAT, body, rehearsal.headers())
        answer = connection.getresponse()
        assert answer.status == 200
        answer.close()
        connection.close()
        line = _line_of_turn_2(rehearsal)
        assert (line["response_bytes"], line["client_gone"]) == (0, True)


def test_a_held_turn_sends_nothing_and_a_stop_is_not_the_clients_going(tmp_path: Path) -> None:
    with Rehearsal(tmp_path, SCRIPT) as rehearsal:
        connection = rehearsal.connect()
        connection.request("POST", CHAT, request(*"abc"), rehearsal.headers())
        assert rehearsal.send(request()).status == 200
        assert not _readable(connection)
        assert rehearsal.end() == 0
        held = rehearsal.witnessed()[1]
        assert (held["turn"], held["status"]) == (3, None)
        assert (held["complete"], held["client_gone"]) == (False, False)
        connection.close()


def test_a_body_beyond_the_limit_is_refused(tmp_path: Path) -> None:
    with Rehearsal(tmp_path, SCRIPT) as rehearsal:
        response = rehearsal.send(b" " * (64 * 1024 * 1024 + 1))
        assert response.status == 413
        assert rehearsal.witnessed()[0]["body_sha256"] is None


def test_the_built_in_script_answers_where_none_is_given(tmp_path: Path) -> None:
    with Rehearsal(tmp_path) as rehearsal:
        whole = joined(rehearsal.send(request(**USAGE)).body)
        assert whole["reasoning"]
        assert whole["text"]
        assert whole["finish"] == ["stop"]
        assert whole["usage"]["total_tokens"] > 0


def _readable(connection: http.client.HTTPConnection) -> bool:
    """Whether a byte has come, now that the process has served a later request to its end."""
    return bool(select.select([connection.sock], [], [], 0)[0])


def _line_of_turn_2(rehearsal: Rehearsal) -> dict[str, object]:
    """The line of a client that went away: written once the process noticed, at the latest by
    the time it has answered two more requests."""
    for _ in range(2):
        assert rehearsal.send(b"", method="GET", path="/v1/models").status == 200
    (line,) = [line for line in rehearsal.witnessed() if line["turn"] == 2]
    return line


def test_repeatable_answers_are_the_same_bytes_for_the_same_request(tmp_path: Path) -> None:
    folders = [tmp_path / name for name in ("one", "two")]
    answers = []
    for folder in folders:
        folder.mkdir()
        with Rehearsal(folder, SCRIPT, "--repeatable") as rehearsal:
            answers += [rehearsal.send(request()), rehearsal.send(request("looked"))]
    first, other, again, _ = answers
    assert first.body == again.body
    assert first.headers["x-request-id"] == again.headers["x-request-id"]
    assert first.headers["x-request-id"] != other.headers["x-request-id"]
