import hashlib
import json

from stanchion.rehearsal.turns import Asked
from stanchion.rehearsal.witness import Exchange


def exchange() -> Exchange:
    return Exchange(at_ms=12, request_id="req_1", method="POST", path="/v1/chat/completions")


def test_a_request_that_broke_off_leaves_unknowns_and_no_zeros() -> None:
    line = exchange().line()
    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1
    assert json.loads(line) == {
        "at_ms": 12,
        "request_id": "req_1",
        "method": "POST",
        "path": "/v1/chat/completions",
        "status": None,
        "turn": None,
        "model": None,
        "max_tokens": None,
        "max_completion_tokens": None,
        "reasoning_effort": None,
        "thinking_type": None,
        "thinking_budget_tokens": None,
        "max_output_tokens": None,
        "stream": None,
        "tools": None,
        "body_sha256": None,
        "body_bytes": None,
        "response_sha256": hashlib.sha256(b"").hexdigest(),
        "response_bytes": 0,
        "complete": False,
        "client_gone": False,
        "key_ok": None,
        "fault": None,
    }


def test_a_full_exchange_is_witnessed_by_digest_never_by_content() -> None:
    seen = exchange()
    seen.body = b'{"secret": "prompt"}'
    seen.asked = Asked(
        model="m",
        stream=True,
        include_usage=False,
        tools=("bash",),
        turns_taken=1,
        body_bytes=20,
        conversation="c",
        max_tokens=64_000,
        max_completion_tokens="odd",
        reasoning_effort="max",
        thinking_type="enabled",
        thinking_budget_tokens=16_000,
    )
    seen.turn, seen.status, seen.key_ok, seen.complete = 1, 200, True, True
    seen.fault = "stall"
    seen.sent(b"data: one\n\n")
    seen.sent(b"data: two\n\n")
    raw = seen.line()
    assert b"prompt" not in raw
    line = json.loads(raw)
    assert line["body_sha256"] == hashlib.sha256(seen.body).hexdigest()
    assert line["response_sha256"] == hashlib.sha256(b"data: one\n\ndata: two\n\n").hexdigest()
    assert (line["body_bytes"], line["response_bytes"]) == (20, 22)
    assert (line["max_tokens"], line["max_completion_tokens"]) == (64_000, "odd")
    assert (line["model"], line["turn"], line["reasoning_effort"]) == ("m", 1, "max")
    assert (line["thinking_type"], line["thinking_budget_tokens"]) == ("enabled", 16_000)
    assert line["fault"] == "stall"
    assert (line["tools"], line["stream"], line["key_ok"]) == (["bash"], True, True)
    assert (line["complete"], line["client_gone"], line["status"]) == (True, False, 200)
