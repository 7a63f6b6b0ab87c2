"""Starts the real rehearsal process and talks to it with the standard library alone.

The client and the reader of event streams share no code with what they test.
"""

import http.client
import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

CHAT = "/v1/chat/completions"
MESSAGES = "/v1/messages"
RESPONSES = "/v1/responses"
GEMINI = "/v1beta/models/m"
TIMEOUT_S = 20


@dataclass(frozen=True)
class Response:
    """A response whose end has arrived."""

    status: int
    headers: dict[str, str]
    body: bytes


class Rehearsal:
    """One `python -m stanchion.rehearsal` process."""

    def __init__(
        self, folder: Path, script: str | None = None, *options: str, key: str = ""
    ) -> None:
        self.log = folder / "witness.jsonl"
        arguments = [sys.executable, "-m", "stanchion.rehearsal", "--log", str(self.log)]
        if script is not None:
            path = folder / "rehearsal.toml"
            path.write_text(script)
            arguments += ["--script", str(path)]
        if key:
            arguments += ["--key-stdin"]
        self.key = key
        self.process = subprocess.Popen(
            [*arguments, *options],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        assert self.process.stdin
        assert self.process.stdout
        if key:
            self.process.stdin.write(key.encode() + b"\n")
            self.process.stdin.flush()
        self.ready = self.process.stdout.readline()
        assert self.ready, self.process.communicate(timeout=TIMEOUT_S)
        self.port: int = json.loads(self.ready)["port"]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate(timeout=TIMEOUT_S)

    def connect(self) -> http.client.HTTPConnection:
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=TIMEOUT_S)

    def send(
        self, body: bytes, *, path: str = CHAT, method: str = "POST", key: str | None = None
    ) -> Response:
        connection = self.connect()
        connection.request(method, path, body, self.headers(key))
        answer = connection.getresponse()
        content = answer.read()
        connection.close()
        return Response(answer.status, {k.lower(): v for k, v in answer.getheaders()}, content)

    def headers(self, key: str | None = None) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.key if key is None else key}"}

    def end(self) -> int:
        """Ask it to stop as a supervisor would, and wait for its exit code."""
        self.process.terminate()
        return self.process.wait(timeout=TIMEOUT_S)

    def witnessed(self) -> list[dict[str, Any]]:
        """The log of a process that has ended, so that no line can still be on its way."""
        if self.process.poll() is None:
            self.end()
        return [json.loads(line) for line in self.log.read_text().splitlines()]


def request(
    *turns: str, stream: bool = True, tools: tuple[str, ...] = ("bash",), **fields: object
) -> bytes:
    """A chat request after `turns` assistant messages."""
    messages: list[dict[str, object]] = [
        {"role": "system", "content": "You are an agent."},
        {"role": "user", "content": "Do the task."},
    ]
    for text in turns:
        messages += [{"role": "assistant", "content": text}, {"role": "user", "content": "go on"}]
    offered = [{"type": "function", "function": {"name": name}} for name in tools]
    document = {"model": "some/model", "messages": messages, "stream": stream, **fields}
    return json.dumps(document | ({"tools": offered} if offered else {})).encode()


def read_events(stream: bytes) -> list[str]:
    """The data of each event, read as the HTML standard's event stream section tells it."""
    events: list[str] = []
    data: list[str] = []
    for line in stream.decode().splitlines():
        name, _, value = line.partition(":")
        if line == "":
            events += ["\n".join(data)] if data else []
            data = []
        elif name == "data":
            data.append(value.removeprefix(" "))
    assert not data, "the stream ended inside an event"
    return events


def joined(stream: bytes) -> dict[str, Any]:
    """What a client makes of a stream: text, reasoning, calls, finish and usage put together."""
    *chunks, end = read_events(stream)
    assert end == "[DONE]"
    whole: dict[str, Any] = {"reasoning": "", "text": "", "calls": {}, "finish": [], "usage": None}
    for chunk in map(json.loads, chunks):
        whole["usage"] = chunk.get("usage") or whole["usage"]
        for choice in chunk["choices"]:
            delta = choice["delta"]
            whole["reasoning"] += delta.get("reasoning_content") or ""
            whole["text"] += delta.get("content") or ""
            whole["finish"] += [choice["finish_reason"]] if choice["finish_reason"] else []
            for part in delta.get("tool_calls", ()):
                call = whole["calls"].setdefault(part["index"], {"id": "", "name": "", "text": ""})
                call["id"] += part.get("id", "")
                call["name"] += part["function"].get("name", "")
                call["text"] += part["function"].get("arguments", "")
    return whole


def open_descriptors() -> tuple[int, int]:
    """A pipe whose writing end a child may inherit."""
    reader, writer = os.pipe()
    os.set_inheritable(writer, True)
    return reader, writer
