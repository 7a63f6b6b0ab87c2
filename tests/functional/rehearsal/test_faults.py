"""Every sample fault in each dialect, with and without stream, to the byte on a real socket."""

import base64
import hashlib
import json
import select
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from functional.rehearsal.listener import Heard, listen
from functional.rehearsal.player import CHAT, GEMINI, MESSAGES, RESPONSES, Rehearsal
from functional.rehearsal.raw_client import RawClient, Received
from stanchion.rehearsal.script import load_script

SCRIPTS = sorted((Path(__file__).parent / "scripts").glob("*.toml"))
NAMES = [path.stem for path in SCRIPTS]
TURNS = [tomllib.loads(path.read_text())["turn"][0] for path in SCRIPTS]
KEY = "sk-rehearsed-0123456789"
KEY_BASE64 = base64.b64encode(KEY.encode()).decode()
TEXT = "Here is the answer."
FINISHES = {
    CHAT: ("stop", "length"),
    RESPONSES: ("completed", "max_output_tokens"),
    MESSAGES: ("end_turn", "max_tokens"),
    GEMINI: ("STOP", "MAX_TOKENS"),
}
KEEP_ALIVE = b": keep-alive\n\n"


@dataclass(frozen=True)
class Case:
    """One request: a sample, a dialect, a way to answer."""

    name: str
    path: str
    stream: bool

    @property
    def turn(self) -> int:
        return NAMES.index(self.name)

    @property
    def target(self) -> str:
        if self.path != GEMINI:
            return self.path
        action = "streamGenerateContent?alt=sse" if self.stream else "generateContent"
        return f"{self.path}:{action}"

    def body(self) -> bytes:
        if self.path == GEMINI:
            return self._contents()
        messages = [{"role": "user", "content": f"Do {self.name}, {self.path}, {self.stream}."}]
        for _ in range(self.turn):
            messages += [
                {"role": "assistant", "content": "so"},
                {"role": "user", "content": "go on"},
            ]
        conversation = "input" if self.path == RESPONSES else "messages"
        fields: dict[str, Any] = {"model": "m", conversation: messages, "stream": self.stream}
        if self.path == RESPONSES:
            fields |= {"tools": [{"type": "function", "name": "bash"}]}
        elif self.path == MESSAGES:
            fields |= {"max_tokens": 100, "tools": [{"name": "bash", "input_schema": {}}]}
        else:
            fields |= {"tools": [{"type": "function", "function": {"name": "bash"}}]}
            fields |= {"stream_options": {"include_usage": True}} if self.stream else {}
        return json.dumps(fields).encode()

    def _contents(self) -> bytes:
        contents = [{"role": "user", "parts": [{"text": f"Do {self.name}, {self.stream}."}]}]
        for _ in range(self.turn):
            contents += [{"role": "model", "parts": []}, {"role": "user", "parts": []}]
        tools = [{"functionDeclarations": [{"name": "bash"}]}]
        return json.dumps({"contents": contents, "tools": tools}).encode()

    def send(self, port: int) -> RawClient:
        header = {
            MESSAGES: {"x-api-key": KEY},
            GEMINI: {"x-goog-api-key": KEY},
        }.get(self.path, {"Authorization": f"Bearer {KEY}"})
        return RawClient(port, self.target, self.body(), header)


@pytest.fixture(scope="module")
def rehearsal(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rehearsal]:
    """One process whose script is all samples, one after the other."""
    turns = [path.read_text().removeprefix("version = 1\n") for path in SCRIPTS]
    script = "\n".join(["version = 1", *turns])
    with Rehearsal(tmp_path_factory.mktemp("faults"), script, key=KEY) as started:
        yield started
        assert started.end() == 0


@pytest.fixture(
    params=[CHAT, RESPONSES, MESSAGES, GEMINI], ids=["chat", "responses", "anthropic", "gemini"]
)
def path(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def line_of(rehearsal: Rehearsal, received: Received) -> dict[str, Any]:
    """The witness's line, written at the latest by the time two later requests are answered."""
    for _ in range(2):
        assert rehearsal.send(b"", method="GET", path="/v1/models").status == 200
    name = received.headers.get("x-request-id") or received.headers["request-id"]
    lines = [json.loads(line) for line in rehearsal.log.read_text().splitlines()]
    (found,) = [line for line in lines if line["request_id"] == name]
    return dict(found)


def enough(case: Case) -> Any:
    """When a client of an endless answer has seen enough of it."""
    if case.name == "drip-for-ever":
        sign = KEEP_ALIVE if case.stream else b"\n"
        return lambda received: received.entity.count(sign) >= 3
    if case.name == "stall-for-ever":
        events = 4 if case.stream else 0
        return lambda received: received.status and received.entity.count(b"\n\n") >= events
    return lambda _received: False


@pytest.mark.parametrize("stream", [True, False], ids=["stream", "single"])
@pytest.mark.parametrize("name", NAMES)
def test_a_fault_is_what_it_says_and_the_witness_saw_each_byte(
    rehearsal: Rehearsal, name: str, path: str, stream: bool
) -> None:
    case = Case(name, path, stream)
    client = case.send(rehearsal.port)
    received = client.receive(enough(case))
    if name == "stall-for-ever":
        assert rehearsal.send(b"", method="GET", path="/v1/models").status == 200
        assert not select.select([client.sock], [], [], 0)[0]
    client.close()
    check(case, received, listen(received))
    line = line_of(rehearsal, received)
    entity = received.entity
    if name == "drip-for-ever":
        missing = line["response_bytes"] - len(entity)
        entity += ((KEEP_ALIVE if stream else b"\n") * (missing + 1))[:missing]
    assert line["response_sha256"] == hashlib.sha256(entity).hexdigest()
    assert line["body_sha256"] == hashlib.sha256(case.body()).hexdigest()
    assert (line["status"], line["turn"]) == (received.status, case.turn)
    assert (line["fault"], line["key_ok"]) == (TURNS[case.turn]["fault"]["kind"], True)
    assert line["complete"] == (received.end == "whole")
    assert line["client_gone"] == (received.end == "open")


def check(case: Case, received: Received, heard: Heard) -> None:
    """The promise of each sample, by the first words of its name."""
    if case.name.startswith(("status", "redirect", "key-echo-body", "garbage")):
        check_replaced(case, received, heard)
    elif case.name.startswith(("cut", "stall-for-ever", "drip-for-ever", "error-event")):
        check_broken(case, received, heard)
    else:
        check_said(case, received, heard)


def check_replaced(case: Case, received: Received, heard: Heard) -> None:
    assert received.end == "whole"
    if case.name.startswith("status"):
        check_status(case, received, heard)
    elif case.name == "redirect":
        assert (received.status, received.entity) == (307, b"")
        assert received.headers["location"] == "http://127.0.0.1:9/v1/elsewhere"
    elif case.name.startswith("key-echo-body"):
        assert received.status == 401
        assert heard.error
        assert (KEY_BASE64 if "base64" in case.name else KEY) in heard.error["message"]
    elif case.name == "garbage-html":
        assert received.headers["content-type"] == "text/html; charset=utf-8"
        assert b"<html>" in received.entity
    elif case.name == "garbage-empty":
        assert (received.status, received.entity) == (200, b"")
    else:
        assert len(heard.unreadable) == 1
        ends_there = case.name == "garbage-line" or not case.stream
        assert heard.done != ends_there


def check_status(case: Case, received: Received, heard: Heard) -> None:
    assert heard.error
    if case.name == "status-429-then-ok":
        assert (received.status, received.headers["retry-after"]) == (429, "1")
        words = {MESSAGES: "rate_limit_error", GEMINI: "RESOURCE_EXHAUSTED"}
        assert kind(heard.error) == words.get(case.path, "requests")
        assert heard.error["message"] == "Slow down."
    elif case.name == "status-503-retry-after-date":
        assert received.headers["retry-after"] == "Wed, 21 Oct 2015 07:28:00 GMT"
        assert (received.status, received.headers["x-should-retry"]) == (503, "false")
    else:
        assert (received.status, kind(heard.error)) == (402, "billing_error")


def kind(error: dict[str, Any]) -> object:
    """The error's own word, which Google calls status."""
    return error.get("type", error.get("status"))


def check_broken(case: Case, received: Received, heard: Heard) -> None:
    assert received.status == 200
    assert not heard.done
    assert heard.finish is None
    if case.name.startswith("error-event"):
        assert received.end == "whole"
        # Gemini has no events before the first words: what comes before the error is more of them.
        assert TEXT.startswith(heard.text) if case.path == GEMINI else heard.text == ""
        assert heard.error
        assert heard.events == (0 if not case.stream else 5 if "midway" in case.name else 1)
    elif case.name.startswith("cut"):
        assert received.end == ("reset" if case.name == "cut-rst" else "fin")
        assert len(heard.unreadable) == (not case.stream or case.name == "cut-inside-an-event")
        if case.stream:
            assert heard.events == (3 if case.name == "cut-inside-an-event" else 4)
        else:
            assert 0 < len(received.entity) < int(received.headers["content-length"])
    else:
        assert received.end == "open"
        assert heard.events == (0 if not case.stream else 4 if "stall" in case.name else 1)


def check_said(case: Case, received: Received, heard: Heard) -> None:
    assert (received.status, received.end) == (200, "whole")
    assert heard.unreadable == []
    assert heard.reasoning == "I should look before I say anything."
    assert heard.text.startswith(TEXT)
    assert bool(heard.usage) == (
        case.name != "missing-usage"
        and (case.path in {MESSAGES, GEMINI} or not case.name.startswith("no-"))
        if case.stream
        else case.name != "missing-usage"
    )
    ordinary, cut = FINISHES[case.path]
    finishes = {"length": cut, "unknown-finish": "eos_token_found"}
    unfinished = case.name.startswith("no-finish")
    assert heard.finish == (None if unfinished else finishes.get(case.name, ordinary))
    marked = case.name == "no-finish-done" and case.path != GEMINI  # which has no marker
    assert heard.done == (case.stream and (marked or not unfinished))
    assert heard.comments == (3 if case.stream and case.name == "drip-for-a-while" else 0)
    check_echo(case, received, heard)


def check_echo(case: Case, received: Received, heard: Heard) -> None:
    header = received.headers.get("x-debug-authorization")
    spoken = KEY_BASE64 if "base64" in case.name else KEY
    assert header == (f"Bearer {spoken}" if case.name.startswith("key-echo-header") else None)
    if not case.name.startswith("key-echo-text"):
        assert heard.text == TEXT
        return
    assert heard.text == f"{TEXT} Your key is {spoken}"
    # Responses say a text once more as a whole, where no delta has it.
    said_again = case.stream and case.path == RESPONSES
    said_once = not case.stream or "deltas" not in case.name
    assert (spoken.encode() in received.entity) == (said_once or said_again)
    halved = case.name.endswith(("split", "deltas")) and case.stream
    if said_again and "deltas" in case.name:
        deltas = [chunk for chunk in received.chunks if b"output_text.delta" in chunk]
        assert not any(spoken.encode() in chunk for chunk in deltas)
        return
    assert any(spoken.encode() in chunk for chunk in received.chunks) == (
        case.stream and not halved
    )


def test_each_kind_of_fault_has_a_sample() -> None:
    assert {turn["fault"]["kind"] for turn in TURNS} == {
        *("status", "error_event", "cut", "stall", "drip", "slow_headers", "missing_usage"),
        *("length", "redirect", "key_echo", "garbage", "no_finish", "unknown_finish"),
    }


def test_a_counted_fault_is_over_after_its_times_and_for_another_conversation_is_not(
    rehearsal: Rehearsal, path: str
) -> None:
    case = Case("status-429-then-ok", path, stream=True)
    again = b"again, " + case.path.encode()
    body = case.body().replace(b"Do status", again)
    other = case.body().replace(b"Do status", b"other " + again)
    header = {"Authorization": f"Bearer {KEY}"}
    received = [
        RawClient(rehearsal.port, case.target, sent, header).receive()
        for sent in (body, body, other, body)
    ]
    assert [answer.status for answer in received] == [429, 200, 429, 200]
    assert listen(received[1]).text == TEXT
    lines = [line_of(rehearsal, answer) for answer in received]
    assert [line["fault"] for line in lines] == ["status", None, "status", None]


@pytest.mark.parametrize("sample", SCRIPTS, ids=NAMES)
def test_a_sample_is_a_script_of_its_own(sample: Path) -> None:
    head, _, turn = sample.read_text().partition("\n\n")
    assert head == "version = 1"
    assert turn.count("[[turn]]") == 1
    assert len(load_script(sample).turn) == 1
