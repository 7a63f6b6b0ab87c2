"""Raw bytes to a model socket, and what a provider must have seen of them."""

import json
import re
import socket
from dataclasses import dataclass
from pathlib import Path

from fakes.launches import KEY, LIMIT, MODEL
from fakes.raw_sink import ANSWER_BODY, RawSink, SunkRequest
from fakes.refusals import constant_reply
from stanchion.broker.plane import replies
from stanchion.protocol.dialects import Dialect

BODY = json.dumps({"model": MODEL, "max_tokens": LIMIT, "reasoning_effort": "max"}).encode()
SENTINEL = BODY[:-1] + b',"user":"sentinel"}'
REQUEST_LINE = b"POST /v1/chat/completions HTTP/1.1"
WAIT_S = 20.0
LENGTH = b"content-length: %d" % len(BODY)
OURS = frozenset({b"host", b"content-length", b"accept-encoding", b"connection", b"authorization"})
LISTED = frozenset({b"accept", b"content-type", b"user-agent", b"x-session-id"})
STATUSES = (400, 401, 403, 404, 413, 415, 431, 502, 503, 504)
CONSTANTS = frozenset(
    constant_reply(word, dialect, status)
    for word in replies._SENTENCES
    for dialect in Dialect
    for status in STATUSES
)
HEAD = re.compile(rb"HTTP/1\.1 ([0-9]{3}) [A-Za-z ]+\r\n((?:[a-z-]+: [ -~]*\r\n)*)\r\n")


@dataclass(frozen=True)
class Reply:
    """Status 0: the connection ended without a word."""

    status: int
    body: bytes
    interim: int = 0
    """How many `100 Continue` came before."""


NOT_FOUND = Reply(404, constant_reply("not_found"))
BAD_REQUEST = Reply(400, constant_reply("bad_request"))


@dataclass(frozen=True)
class Target:
    """A model socket, the lease for it, and the provider behind it."""

    run: str
    directory: Path
    lease: str
    sink: RawSink

    def head(self, *fields: bytes, line: bytes = REQUEST_LINE, end: bytes = b"\r\n") -> bytes:
        """A request head with the lease."""
        lines = [line, b"x-stanchion-lease: " + self.lease.encode(), *fields]
        return b"".join(part + end for part in [*lines, b""])

    def send(self, *pieces: bytes, half_close: bool = False) -> Reply:
        """All pieces, one after the other, and the whole answer."""
        with socket.socket(socket.AF_UNIX) as client:
            client.settimeout(WAIT_S)
            client.connect(str(self.directory / "model.sock"))
            try:
                for piece in pieces:
                    client.sendall(piece)
                if half_close:
                    client.shutdown(socket.SHUT_WR)
            except BrokenPipeError:
                pass  # refused before its end
            return parsed(received(client))

    def ask(self, *fields: bytes, body: bytes = BODY) -> Reply:
        """One ordinary request."""
        return self.send(self.head(*fields, b"content-length: %d" % len(body)) + body)

    def assert_nothing_came_but(self, *bodies: bytes) -> None:
        """An ordinary request after it all shows that nothing else was left on any connection."""
        assert self.ask(body=SENTINEL) == Reply(200, ANSWER_BODY)
        came = self.sink.taken()
        assert [request.body for request in came] == [*bodies, SENTINEL]
        assert self.sink.surplus == b""
        for request in came:
            assert_reframed(request)

    def post(self, place: str, *fields: bytes, method: str = "POST") -> Reply:
        """An ordinary body to another place."""
        line = f"{method} {place} HTTP/1.1".encode()
        return self.send(self.head(*fields, LENGTH, line=line) + BODY)


def received(client: socket.socket) -> bytes:
    """Everything until the end; a reset is an end."""
    answer = b""
    try:
        while data := client.recv(65536):
            answer += data
    except ConnectionResetError:
        pass
    return answer


def parsed(answer: bytes) -> Reply:
    """The one response, framed without a doubt."""
    interim = 0
    while answer.startswith(b"HTTP/1.1 100 "):
        answer = answer.partition(b"\r\n\r\n")[2]
        interim += 1
    if answer == b"":
        return Reply(0, b"", interim)
    head = HEAD.match(answer)
    assert head is not None, answer
    fields = dict(line.split(b": ", 1) for line in head[2].split(b"\r\n") if line)
    body = answer[head.end() :]
    assert fields[b"connection"] == b"close"
    assert int(fields[b"content-length"]) == len(body)
    return Reply(int(head[1]), body, interim)


def assert_refused(reply: Reply) -> None:
    """With a constant, or without a word; never with what came."""
    assert reply.status == 0 or 400 <= reply.status < 500, reply
    assert reply.body == b"" or reply.body in CONSTANTS, reply


def assert_reframed(request: SunkRequest) -> None:
    """Request line, header names, length and key are ours, whatever was asked for."""
    assert request.request_line == REQUEST_LINE
    names = [name for name, _ in request.fields]
    assert len(set(names)) == len(names)
    assert {b"host", b"content-length", b"authorization"} <= set(names) <= OURS | LISTED
    fields = dict(request.fields)
    assert fields[b"content-length"] == b"%d" % len(request.body)
    assert fields[b"authorization"] == b"Bearer " + KEY.encode()
    assert re.fullmatch(rb"[ -~\r\n]+", request.head)
