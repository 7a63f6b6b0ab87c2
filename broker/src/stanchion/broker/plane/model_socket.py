"""The model socket of one attempt: requests in by one connection each, responses out.

It decides nothing about a request but its framing and lease; the exchange does. Response heads are
built here from our own reason phrases; body bytes pass unchanged. After one response, or any
refusal, the connection is closed, and bytes behind a request are never read as another one.
"""

import asyncio
import http
from collections.abc import Callable, Coroutine
from typing import Protocol, cast

import httptools
import msgspec

from stanchion.broker.plane.http_gate import (
    LOCAL,
    MAX_BODY_BYTES,
    MAX_HEAD_BYTES,
    Accepted,
    Denial,
    Route,
    read_head,
)
from stanchion.broker.plane.limits import Limits
from stanchion.broker.plane.replies import constant_reply
from stanchion.protocol.dialects import Dialect

MAX_BODIES_BYTES = 2 * MAX_BODY_BYTES
"""Held at a time per attempt, over all its connections: its memory is the broker's."""
COPIED_BYTES = 8 * 1024
"""Up to here a chunk and its framing are cheaper as one piece than as three."""
MAX_FRAMING_BYTES = 8 * 1024 * 1024
"""Chunk heads and trailers on top of a body."""


class ModelRequest(msgspec.Struct, frozen=True):
    """A request that came whole."""

    route: Route
    forwarded: tuple[tuple[str, str], ...]
    session: str | None
    body: bytes
    model: str | None = None
    """That of the path, where it stands there."""


class Attended(Protocol):
    """The attempt that a socket belongs to: identity is the listener."""

    limits: Limits
    connections: int
    """How many are open now."""
    body_bytes: int
    """Of requests, held over all of them."""

    @property
    def dialect(self) -> Dialect:
        """In whose words it is refused."""

    def lease_problem(self, lease: str) -> str | None:
        """Why the lease is not accepted."""

    def denied(self, word: str) -> None:
        """A request was refused."""

    def local_answer(self, route: Route) -> bytes:
        """The JSON of a route that is answered here."""

    def serve(self, request: ModelRequest, down: "ModelConnection") -> Coroutine[None, None, None]:
        """Answer a model request."""

    def start(self, coroutine: Coroutine[None, None, None]) -> None:
        """Run a task that the attempt owns."""


class ModelConnection(asyncio.Protocol):
    """One connection, from its first byte to its close."""

    __slots__ = (
        "_accepted", "_asked", "_attempt", "_body", "_body_bytes", "_chunked", "_finished",
        "_head", "_limits", "_lingering", "_loop", "_on_gone", "_on_pause", "_on_resume",
        "_parser", "_raw_bytes", "_surplus_bytes", "_timer", "_transport", "gone", "started",
    )  # fmt: skip

    def __init__(self, attempt: Attended, loop: asyncio.AbstractEventLoop) -> None:
        self._attempt = attempt
        self._limits = attempt.limits
        self._loop = loop
        self._body: list[bytes] = []
        self._on_gone: Callable[[], None] = _nothing
        self._on_pause: Callable[[], None] = _nothing
        self._on_resume: Callable[[], None] = _nothing
        self._transport: asyncio.Transport | None = None
        self._accepted: Accepted | None = None
        self._parser: httptools.HttpRequestParser | None = None
        """Of a body in chunks; one with a length needs none."""
        self._head: bytearray | None = None
        """What came of one that did not come at once."""
        self._body_bytes = 0
        self._raw_bytes = 0
        self._surplus_bytes = 0
        self._asked = False
        self._timer: asyncio.TimerHandle | None = None
        self._chunked = False
        self._finished = False
        self._lingering = False
        """Whether a refusal is out and the rest of its request is let pass."""
        self.gone = False
        self.started = False
        """Whether a response has begun."""

    # asyncio.Protocol

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        self._attempt.connections += 1
        if self._attempt.connections > self._limits.connections:
            self._attempt.denied("too_many_connections")
            self._close()
        else:
            self._deadline(self._limits.request_head_s, "request_head_too_slow")

    def data_received(self, data: bytes) -> None:
        if self._asked or self._finished:
            self._ignore(data)
            return
        if self._accepted is not None:
            self._take_body(data)
            return
        looked, came = 0, cast("bytes | bytearray", data)
        if self._head is not None:
            looked = max(0, len(self._head) - 3)
            self._head += data
            came = self._head
        end = came.find(b"\r\n\r\n", looked)
        if end > MAX_HEAD_BYTES or (end < 0 and len(came) > MAX_HEAD_BYTES):
            self._refuse(Denial.HEAD_TOO_LARGE)
        elif end >= 0:
            self._head, whole = None, bytes(came)
            self._take_head(whole[: end + 4], whole)
        elif self._head is None:
            self._head = bytearray(data)

    def eof_received(self) -> None:
        self._leave()

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - asyncio's signature
        self._attempt.connections -= 1
        self._attempt.body_bytes -= self._body_bytes
        self._body_bytes = 0
        self._cancel_deadline()
        self._leave()
        # What refers to each other is freed at once then, not when the collector comes.
        self._parser = None
        self._on_gone = self._on_pause = self._on_resume = _nothing

    def pause_writing(self) -> None:
        self._on_pause()

    def resume_writing(self) -> None:
        self._on_resume()

    # the request

    def _take_head(self, head: bytes, came: bytes) -> None:
        """The head, and all that came with it in front.

        Only a body in chunks needs a parser: of any other the gate has read one plain length, and
        nothing else of the head says where it ends (RFC 9112, section 6.3).
        """
        accepted = read_head(head)
        if isinstance(accepted, Denial):
            self._refuse(accepted)
            return
        if self._attempt.lease_problem(accepted.lease) is not None:
            self._refuse(Denial.UNAUTHORIZED)
            return
        self._accepted = accepted
        if accepted.expects_continue and self._transport is not None:
            self._transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        if accepted.length is None:
            self._parser = httptools.HttpRequestParser(self)
            self._feed(came)
        else:
            self._take_sized(came[len(head) :], accepted.length)
        if not self._asked and not self._finished:
            self._deadline(self._limits.request_body_s, "request_body_too_slow")

    def _take_body(self, data: bytes) -> None:
        length = None if self._accepted is None else self._accepted.length
        if length is None:
            self._feed(data)
        else:
            self._take_sized(data, length)

    def _take_sized(self, data: bytes, length: int) -> None:
        """Bytes of a body whose length the head says; what follows it is ignored."""
        missing = length - self._body_bytes
        if data and missing:
            self.on_body(data if len(data) <= missing else data[:missing])
        if self._body_bytes == length:
            self.on_message_complete()

    def _feed(self, data: bytes) -> None:
        """Bytes of a request in chunks."""
        self._raw_bytes += len(data)
        if self._parser is None or self._raw_bytes > MAX_BODY_BYTES + MAX_FRAMING_BYTES:
            self._refuse(Denial.TOO_LARGE)
            return
        try:
            self._parser.feed_data(data)
        except (httptools.HttpParserError, httptools.HttpParserUpgrade):
            if not self._asked:
                self._refuse(Denial.BAD_REQUEST)

    def on_body(self, data: bytes) -> None:
        """Called by the parser."""
        if self._asked or self._finished:
            return
        self._body_bytes += len(data)
        self._attempt.body_bytes += len(data)
        if self._body_bytes > MAX_BODY_BYTES:
            self._refuse(Denial.TOO_LARGE)
        elif self._attempt.body_bytes > MAX_BODIES_BYTES:
            self._refuse(Denial.BODIES_FULL)
        else:
            self._body.append(data)

    def on_message_complete(self) -> None:
        """Called by the parser; what follows is ignored."""
        accepted = self._accepted
        if self._asked or self._finished or accepted is None:
            return
        self._asked = True
        self._cancel_deadline()
        pieces, self._body = self._body, []
        body = pieces[0] if len(pieces) == 1 else b"".join(pieces)
        if accepted.route in LOCAL:
            self.reply(LOCAL[accepted.route], self._attempt.local_answer(accepted.route))
            return
        request = ModelRequest(
            accepted.route, accepted.forwarded, accepted.session, body, accepted.model
        )
        self._attempt.start(self._attempt.serve(request, self))

    def _refuse(self, denial: Denial) -> None:
        if self._finished:
            return
        self._body = []
        self._attempt.denied(denial.word)
        self._lingering = True
        self.refuse(denial.status, denial.word)

    # the response

    def refuse(self, status: int, word: str, headers: list[tuple[str, str]] | None = None) -> None:
        """A whole response of the broker's own, by a word of its table."""
        self.reply(status, constant_reply(word, self._attempt.dialect, status), headers)

    def reply(self, status: int, body: bytes, headers: list[tuple[str, str]] | None = None) -> None:
        """A whole response, in JSON where the headers do not say otherwise."""
        kept = [(n, v) for n, v in headers or [] if n != "content-type" or v]
        if not any(name == "content-type" for name, _ in kept):
            kept.append(("content-type", "application/json"))
        self.respond(status, body, kept)

    def respond(self, status: int, body: bytes, headers: list[tuple[str, str]]) -> None:
        """A whole response with these headers."""
        head = self._head_of(status, [*headers, ("content-length", str(len(body)))])
        if head and self._transport is not None:
            self._transport.write(head if self._is_head() else head + body)
        self._close()

    def begin(self, status: int, headers: list[tuple[str, str]], length: int | None) -> None:
        """A response whose body follows; without a length it is chunked."""
        self._chunked = length is None
        framing = (
            ("transfer-encoding", "chunked") if length is None else ("content-length", str(length))
        )
        head = self._head_of(status, [*headers, framing])
        if head and self._transport is not None:
            self._transport.write(head)

    def write(self, data: bytes) -> None:
        """Body bytes."""
        if not data or self._transport is None or self.gone:
            return
        if not self._chunked:
            self._transport.write(data)
        elif len(data) <= COPIED_BYTES:
            self._transport.write(b"%x\r\n%b\r\n" % (len(data), data))
        else:
            self._transport.writelines((b"%x\r\n" % len(data), data, b"\r\n"))

    def finish(self, last: bytes = b"") -> None:
        """The body is whole with these bytes."""
        if self._transport is not None and not self.gone:
            if self._chunked:
                chunk = b"%x\r\n%b\r\n" % (len(last), last) if last else b""
                last = chunk + b"0\r\n\r\n"
            if last:
                self._transport.write(last)
        self._close()

    def abort(self) -> None:
        """Cut the response so that the reader sees that it is not whole.

        What was written before still goes out: a chunked body ends without its last chunk.
        """
        self._close()

    def watch(
        self,
        *,
        on_gone: Callable[[], None],
        on_pause: Callable[[], None],
        on_resume: Callable[[], None],
    ) -> None:
        """Say when the reader is gone, or slow."""
        self._on_gone, self._on_pause, self._on_resume = on_gone, on_pause, on_resume

    def _is_head(self) -> bool:
        return self._accepted is not None and self._accepted.is_head

    def _head_of(self, status: int, headers: list[tuple[str, str]]) -> bytes:
        """The one that goes back; empty = there is nobody, or it went already."""
        if self._transport is None or self.started or self.gone:
            return b""
        self.started = True
        lines = "".join([f"{name}: {value}\r\n" for name, value in headers])
        head = f"HTTP/1.1 {status} {_PHRASES.get(status, 'Unknown')}\r\n{lines}"
        return f"{head}connection: close\r\n\r\n".encode("ascii")

    def _close(self) -> None:
        self._finished = True
        self._cancel_deadline()
        if self._transport is None:
            return
        if self._lingering and self._transport.can_write_eof():
            self._transport.write_eof()
            self._timer = self._loop.call_later(self._limits.refused_s, self._transport.abort)
        else:
            self._transport.close()
            if self._transport.get_write_buffer_size() > 0:
                self._timer = self._loop.call_later(self._limits.flush_s, self._transport.abort)

    def _ignore(self, data: bytes) -> None:
        """Bytes behind a request are read so that its end is seen, and bounded."""
        self._surplus_bytes += len(data)
        most = self._limits.refused_bytes if self._lingering else self._limits.surplus_bytes
        if self._surplus_bytes > most and self._transport is not None:
            if not self._finished:
                self._attempt.denied("bytes_behind_request")
            self._transport.abort()

    def _leave(self) -> None:
        if not self.gone and not self._finished:
            self.gone = True
            self._on_gone()
            if not self._asked:
                self._close()

    def _deadline(self, delay_s: float, word: str) -> None:
        self._cancel_deadline()
        self._timer = self._loop.call_later(delay_s, self._late, word)

    def _cancel_deadline(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _late(self, word: str) -> None:
        self._attempt.denied(word)
        self._close()


def _nothing() -> None:
    """Nobody watches yet."""


_PHRASES = {status.value: status.phrase for status in http.HTTPStatus}
