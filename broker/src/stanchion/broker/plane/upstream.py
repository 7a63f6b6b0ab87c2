"""One exchange with the provider on one connection: a request out, the answer in.

It follows no redirect. It decides whether the answer left its connection clean; one that did not is
dropped.

RFC 9112: 6.3 says where a body ends; 9.3 when a connection persists; 9.2 that bytes behind an
answer are no other answer; 9.6 that an answer which begins before the request was read whole is
followed by a close.
"""

import asyncio
import fcntl
import hashlib
import re
import sys
import termios
from collections.abc import Callable
from enum import Enum
from typing import cast

import httptools

from stanchion.broker.plane.pool import Line

_VERSIONS = frozenset({"1.0", "1.1"})
"""Of an answer. The parser knows others, which have another framing."""
MAX_HEAD_BYTES = 64 * 1024
MAX_EARLY_BYTES = 64 * 1024
"""Of a body that nobody takes yet; more of it waits in the kernel."""
_KEEP_ALIVE = re.compile(r"(?:^|[,\s])timeout=(?P<seconds>[0-9]{1,6})(?:$|[,\s])")
_KEEP_ALIVE_MARGIN_S = 1.0


class Ending(Enum):
    """How a response's transport ended."""

    __hash__ = object.__hash__  # members are one of a kind; the library's own is slow

    COMPLETE = "complete"
    CUT = "cut"
    MALFORMED = "malformed"


_COMPLETE = Ending.COMPLETE
"""Looked up once: an enumeration's members are slow to find (3.11), and this is asked often."""


class ResponseHead:
    """Status and headers as they came."""

    __slots__ = ("_first", "headers", "status")

    def __init__(self, status: int, headers: list[tuple[str, str]]) -> None:
        self.status = status
        self.headers = headers
        self._first = {name.lower(): value for name, value in reversed(headers)}

    def get(self, name: str) -> str | None:
        """The first header of this (lower-case) name."""
        return self._first.get(name)

    @property
    def length(self) -> int | None:
        """Announced body bytes."""
        text = self.get("content-length")
        return int(text) if text is not None and text.isdecimal() else None


_NO_HEAD = ResponseHead(0, [])


class Upstream(asyncio.Protocol):
    """The exchange. The body waits, unread, until somebody takes it."""

    __slots__ = (
        "_early", "_early_answer", "_early_bytes", "_ending", "_head_bytes", "_headers", "_heard",
        "_in_body", "_last_piece", "_loop", "_on_body", "_on_end", "_only", "_parser", "_paused",
        "_persists", "_response", "_surplus", "_unread_bytes", "head", "line", "reused", "sent",
    )  # fmt: skip

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self.head: asyncio.Future[ResponseHead | Ending] = loop.create_future()
        self._parser: httptools.HttpResponseParser | None = httptools.HttpResponseParser(self)
        self._headers: list[tuple[bytes, bytes]] = []
        self._only = b""
        """What came now, where it is one piece, as a rule."""
        self._early: list[bytes] = []
        """What came before somebody took it, or behind `_only`."""
        self.line: Line | None = None
        """The connection, once there is one."""
        self.reused = False
        """Whether an earlier request went over it."""
        self.sent = False
        """Whether a byte of the request may have left."""
        self._response = _NO_HEAD
        self._head_bytes = 0
        self._unread_bytes = 0
        self._early_bytes = 0
        self._paused = False
        self._in_body = False
        self._heard = False
        self._early_answer = False
        self._surplus = False
        self._persists = False
        self._last_piece = b""
        self._on_body: Callable[[bytes], None] | None = None
        self._on_end: Callable[[Ending], None] | None = None
        self._ending: Ending | None = None

    @classmethod
    def over(cls, line: Line) -> "Upstream":
        """The next exchange on a connection that is open."""
        upstream = cls(asyncio.get_running_loop())
        upstream.line, upstream.reused = line, True
        line.transport.set_protocol(upstream)
        return upstream

    @property
    def whole(self) -> bool:
        """Whether all of the answer has come already, and nobody took any of it."""
        return self._ending is _COMPLETE and self._on_body is None

    def take_whole(self) -> bytes:
        """The body of such an answer."""
        pieces, self._early = self._early, []
        return b"".join(pieces)

    @property
    def peer(self) -> str | None:
        """The address of the other end; None while there is none."""
        name = self.line and self.line.transport.get_extra_info("peername")
        return name[0] if isinstance(name, tuple) else None

    @property
    def silent(self) -> bool:
        """Whether the request may have been read, and not one byte of an answer came."""
        return self.sent and not self._heard

    def send(self, head: bytes, body: bytes) -> None:
        """Write the request."""
        if self.line is not None and not self.line.transport.is_closing():
            self.sent = True
            self.line.transport.writelines((head, body))

    def take_body(self, on_body: Callable[[bytes], None], on_end: Callable[[Ending], None]) -> None:
        """Deliver the body from here on, what came before first."""
        self._on_body, self._on_end = on_body, on_end
        self._deliver()
        if self._ending is not None:
            on_end(self._ending)
        self.resume()

    @property
    def certificate_sha256(self) -> str | None:
        """Of the provider's certificate; None over plain http."""
        tls = self.line and self.line.transport.get_extra_info("ssl_object")
        certificate = tls.getpeercert(binary_form=True) if tls else None
        return None if certificate is None else hashlib.sha256(certificate).hexdigest()

    @property
    def clean(self) -> bool:
        """Whether the connection may carry another request: the answer was whole, and only it came.

        An answer to a request that had not arrived whole leaves nobody sure of what is read next.
        """
        return (
            self._ending is _COMPLETE
            and self.line is not None
            and not self.line.transport.is_closing()
            and not (self._surplus or self._early_answer)
            and self._persists
        )

    @property
    def keep_s(self) -> float | None:
        """How long the provider says that it keeps an idle connection; None = it does not."""
        said = self._response.get("keep-alive")
        found = None if said is None else _KEEP_ALIVE.search(said.lower())
        return None if found is None else float(found["seconds"]) - _KEEP_ALIVE_MARGIN_S

    def pause(self) -> None:
        """Stop reading."""
        if self.line is not None and not self.line.transport.is_closing():
            self._paused = True
            self.line.transport.pause_reading()

    def resume(self) -> None:
        """Read on."""
        if self._paused and self.line is not None and not self.line.transport.is_closing():
            self._paused = False
            self.line.transport.resume_reading()

    def release(self) -> Line:
        """Let go of the connection: whoever still holds this exchange can do nothing to it."""
        if self.line is None:
            raise ValueError("the exchange has no connection")
        self.resume()
        line, self.line = self.line, None
        self._let_go()
        return line

    def _let_go(self) -> None:
        """What refers to each other is freed at once then, not when the collector comes."""
        self._parser = self._on_body = self._on_end = None

    def close(self) -> None:
        """Drop the connection."""
        if self.line is not None:
            self.line.transport.abort()

    # asyncio.Protocol

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.line = Line(cast("asyncio.Transport", transport), self._loop.time())

    def data_received(self, data: bytes) -> None:
        if self._ending is not None:
            self._surplus = True
            return
        if self._parser is None:
            return
        if not self._heard:
            self._heard = True
            self._early_answer = not self.sent or _unsent_bytes(self.line) > 0
        try:
            self._parser.feed_data(data)
        except (httptools.HttpParserError, httptools.HttpParserUpgrade):
            self._surplus = True  # where the answer is whole already
            self._end(Ending.MALFORMED)
            return
        if not self._in_body:
            self._unread_bytes += len(data)  # a header that never ends is not told by the parser
            if self._unread_bytes > MAX_HEAD_BYTES:
                self._end(Ending.MALFORMED)
        if self._ending is None:
            self._deliver()
        elif self._ending is _COMPLETE:
            self._surplus = self._surplus or not self._ends_with(data)

    def connection_lost(self, exc: Exception | None) -> None:
        """A body without a length ends with the connection (RFC 9112, section 6.3)."""
        whole = exc is None and self._in_body and not self._framed()
        self._end(Ending.COMPLETE if whole else Ending.CUT)
        self._let_go()

    # httptools callbacks

    def on_message_begin(self) -> None:
        if self._ending is None:
            self._headers = []
        else:
            self._surplus = True

    def on_header(self, name: bytes, value: bytes) -> None:
        if not self._in_body:  # else a trailer: dropped
            self._head_bytes += len(name) + len(value)
            if self._head_bytes > MAX_HEAD_BYTES:
                self._end(Ending.MALFORMED)
            else:
                self._headers.append((name, value))

    def on_headers_complete(self) -> None:
        if self._parser is None:
            return
        status = self._parser.get_status_code()
        if self._ending is not None or (100 <= status < 200 and status != 101):
            return
        self._in_body = True
        text = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in self._headers]
        self._response = ResponseHead(status, text)
        if self._parser.get_http_version() not in _VERSIONS:
            self._end(Ending.MALFORMED)
        elif not _is_chunked_or_none(self._response.get("transfer-encoding")):
            self._end(Ending.MALFORMED)  # nobody asked for another coding (RFC 9112, 7.4)
        elif not self.head.done():
            self.head.set_result(self._response)

    def on_body(self, data: bytes) -> None:
        if self._ending is None:
            self._last_piece = data
            if self._on_body is None:
                self._wait_for_reader(data)
            elif self._only or self._early:
                self._early.append(data)
            else:
                self._only = data

    def on_message_complete(self) -> None:
        if self._in_body and self._ending is None:
            kept = self._parser is not None and self._parser.should_keep_alive()
            self._persists = self._framed() and kept
            self._deliver()
            self._end(_COMPLETE)

    def _wait_for_reader(self, data: bytes) -> None:
        """Nobody takes the body yet, which is so for a moment: only then is reading stopped."""
        self._early.append(data)
        self._early_bytes += len(data)
        if self._early_bytes > MAX_EARLY_BYTES:
            self.pause()

    def _deliver(self) -> None:
        on_body, only = self._on_body, self._only
        if on_body is not None and (only or self._early):
            data = only
            if self._early:
                data = b"".join((only, *self._early))
                self._early.clear()
            self._only = b""
            on_body(data)

    def _framed(self) -> bool:
        return (
            self._response.get("content-length") is not None
            or self._response.get("transfer-encoding") is not None
        )

    def _ends_with(self, data: bytes) -> bool:
        """Whether the answer's end is the end of these bytes: the parser passes over line ends."""
        if self._response.get("transfer-encoding") is None:
            return data.endswith(self._last_piece)
        return not data.endswith(b"\n\r\n\r\n")

    def _end(self, ending: Ending) -> None:
        if self._ending is not None:
            return
        self._ending = ending
        if not self.head.done():
            self.head.set_result(ending)
        if self._on_end is not None:
            self._deliver()
            self._on_end(ending)
        if ending is not _COMPLETE:
            self.close()


def _is_chunked_or_none(encoding: str | None) -> bool:
    return encoding is None or encoding.strip().lower() == "chunked"


def _unsent_bytes(line: Line | None) -> int:
    """What of the request the other end's kernel has not acknowledged yet (tcp(7), SIOCOUTQ)."""
    descriptor = None if line is None else line.descriptor
    if line is None or descriptor is None:
        return 0
    queued = fcntl.ioctl(descriptor, termios.TIOCOUTQ, bytes(4))
    return line.transport.get_write_buffer_size() + int.from_bytes(queued, sys.byteorder)
