"""One connection to the provider for one exchange: the head with the real key out, the answer in.

The only module that reveals a key. It follows no redirect, sends no caller's header that is not
listed, verifies TLS always, and drops the connection after one response.
"""

import asyncio
import contextlib
import errno
import hashlib
import ipaddress
import ssl
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from enum import Enum
from typing import cast

import httptools

from stanchion.broker.plane.pacing.turns import Turns
from stanchion.broker.plane.tunnel import open_tunnel
from stanchion.broker.secrets import Secret

MAX_HEAD_BYTES = 64 * 1024
CONNECT_TIMEOUT_S = 30.0


class Ending(Enum):
    """How a response's transport ended."""

    COMPLETE = "complete"
    CUT = "cut"
    MALFORMED = "malformed"


@dataclass(frozen=True, slots=True)
class Target:
    """Where requests of an account go. From the configuration only, never from a request."""

    host: str
    port: int
    authority: str
    """For the Host header."""
    path: str
    """Path of the base URL, without a slash at its end."""
    tls: ssl.SSLContext | None
    key: Secret | None
    key_header: tuple[str, str] = ("authorization", "Bearer ")
    """The header that carries the key, and what goes before it there."""
    turns: Turns = field(default_factory=Turns)
    """Whose turn it is under the account; one for all that go there."""
    proxy: tuple[str, int] | None = None
    """Host and port of the egress proxy; for https only."""


@dataclass(slots=True)
class ResponseHead:
    """Status and headers as they came."""

    status: int
    headers: list[tuple[str, str]] = field(default_factory=list)

    def get(self, name: str) -> str | None:
        """The first header of this (lower-case) name."""
        return next((value for key, value in self.headers if key.lower() == name), None)

    @property
    def length(self) -> int | None:
        """Announced body bytes."""
        text = self.get("content-length")
        return int(text) if text is not None and text.isdecimal() else None


def request_head(
    target: Target, path: str, headers: tuple[tuple[str, str], ...], body_bytes: int
) -> bytes:
    """The head of an upstream request: our own framing, the account's key."""
    length = (("content-length", str(body_bytes)),)
    return _head(target, f"POST {target.path}{path}", (*length, *_FRAMING, *headers))


def question_head(target: Target, path: str, headers: tuple[tuple[str, str], ...]) -> bytes:
    """The head of a GET without a body, with the account's key."""
    return _head(target, f"GET {target.path}{path}", (*_FRAMING, *headers))


_FRAMING = (("accept-encoding", "identity"), ("connection", "close"))


def _head(target: Target, what: str, headers: tuple[tuple[str, str], ...]) -> bytes:
    lines = [
        f"{what} HTTP/1.1",
        f"host: {target.authority}",
        *(f"{name}: {value}" for name, value in headers),
    ]
    if target.key is not None:
        name, before = target.key_header
        lines.append(f"{name}: {before}{target.key.reveal()}")
    return ("\r\n".join(lines) + "\r\n\r\n").encode("ascii")


class Upstream(asyncio.Protocol):
    """The connection. The body waits, unread, until somebody takes it."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.head: asyncio.Future[ResponseHead | Ending] = loop.create_future()
        self._parser = httptools.HttpResponseParser(self)
        self._transport: asyncio.Transport | None = None
        self._response = ResponseHead(status=0)
        self._head_bytes = 0
        self._unread_bytes = 0
        self._in_body = False
        self._early: list[bytes] = []
        self._on_body: Callable[[bytes], None] | None = None
        self._on_end: Callable[[Ending], None] | None = None
        self._ending: Ending | None = None

    @property
    def peer(self) -> str | None:
        """The address of the other end; None while there is none."""
        name = self._transport and self._transport.get_extra_info("peername")
        return name[0] if isinstance(name, tuple) else None

    def send(self, head: bytes, body: bytes) -> None:
        """Write the request."""
        if self._transport is not None and not self._transport.is_closing():
            self._transport.writelines((head, body))

    def take_body(self, on_body: Callable[[bytes], None], on_end: Callable[[Ending], None]) -> None:
        """Deliver the body from here on, what came before first."""
        self._on_body, self._on_end = on_body, on_end
        early, self._early = b"".join(self._early), []
        if early:
            on_body(early)
        if self._ending is not None:
            on_end(self._ending)
        self.resume()

    @property
    def certificate_sha256(self) -> str | None:
        """Of the provider's certificate; None over plain http."""
        tls = None if self._transport is None else self._transport.get_extra_info("ssl_object")
        certificate = None if tls is None else tls.getpeercert(binary_form=True)
        return None if certificate is None else hashlib.sha256(certificate).hexdigest()

    def pause(self) -> None:
        """Stop reading."""
        if self._transport is not None and not self._transport.is_closing():
            self._transport.pause_reading()

    def resume(self) -> None:
        """Read on."""
        if self._transport is not None and not self._transport.is_closing():
            self._transport.resume_reading()

    def close(self) -> None:
        """Drop the connection."""
        if self._transport is not None:
            self._transport.abort()

    # asyncio.Protocol

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        if self._ending is not None:
            return
        try:
            self._parser.feed_data(data)
        except (httptools.HttpParserError, httptools.HttpParserUpgrade):
            self._end(Ending.MALFORMED)
            return
        if not self._in_body:
            self._unread_bytes += len(data)  # a header that never ends is not told by the parser
            if self._unread_bytes > MAX_HEAD_BYTES:
                self._end(Ending.MALFORMED)
        if self._ending is None:
            self._deliver()

    def connection_lost(self, exc: Exception | None) -> None:
        """A body without a length ends with the connection (RFC 9112, section 6.3)."""
        whole = exc is None and self._in_body and not self._framed()
        self._end(Ending.COMPLETE if whole else Ending.CUT)

    # httptools callbacks

    def on_message_begin(self) -> None:
        if self._ending is None:
            self._response = ResponseHead(status=0)

    def on_header(self, name: bytes, value: bytes) -> None:
        if not self._in_body:  # else a trailer: dropped
            self._head_bytes += len(name) + len(value)
            if self._head_bytes > MAX_HEAD_BYTES:
                self._end(Ending.MALFORMED)
            else:
                self._response.headers.append((name.decode("latin-1"), value.decode("latin-1")))

    def on_headers_complete(self) -> None:
        status = self._parser.get_status_code()
        if self._ending is not None or (100 <= status < 200 and status != 101):
            return
        self._in_body = True
        self._response.status = status
        if not self.head.done():
            self.head.set_result(self._response)
            self.pause()

    def on_body(self, data: bytes) -> None:
        if self._ending is None:
            self._early.append(data)

    def on_message_complete(self) -> None:
        if self._in_body:
            self._deliver()
            self._end(Ending.COMPLETE)

    def _deliver(self) -> None:
        if self._on_body is not None and self._early:
            data, self._early = b"".join(self._early), []
            self._on_body(data)

    def _framed(self) -> bool:
        return (
            self._response.get("content-length") is not None
            or self._response.get("transfer-encoding") is not None
        )

    def _end(self, ending: Ending) -> None:
        if self._ending is not None:
            return
        self._ending = ending
        if not self.head.done():
            self.head.set_result(ending)
        if self._on_end is not None:
            self._deliver()
            self._on_end(ending)
        self.close()


async def connect(target: Target) -> Upstream:
    """Open the connection; OSError or TimeoutError where that fails."""
    loop = asyncio.get_running_loop()
    async with asyncio.timeout(CONNECT_TIMEOUT_S):
        if target.proxy is not None and target.tls is not None:
            return await _connect_through(target.proxy, target, target.tls)
        _, upstream = await loop.create_connection(
            lambda: Upstream(loop),
            target.host,
            target.port,
            ssl=target.tls,
            server_hostname=target.host if target.tls is not None else None,
        )
    peer = upstream.peer
    if peer is not None and is_link_local(peer):
        upstream.close()
        raise OSError(errno.EACCES, f"{target.host} resolves to the link-local address {peer}")
    return upstream


async def _connect_through(proxy: tuple[str, int], target: Target, tls: ssl.SSLContext) -> Upstream:
    loop = asyncio.get_running_loop()
    tunnel = await open_tunnel(proxy, target.host, target.port)
    upstream = Upstream(loop)
    try:
        secured = await loop.start_tls(tunnel, upstream, tls, server_hostname=target.host)
    except BaseException:
        tunnel.abort()
        raise
    if secured is None:
        raise ConnectionResetError("the egress proxy closed the tunnel")
    upstream.connection_made(secured)  # start_tls does not say it
    return upstream


def is_link_local(address: str) -> bool:
    """Cloud machines serve credentials on such addresses; no provider lives there."""
    return ipaddress.ip_address(address.partition("%")[0]).is_link_local


@contextlib.asynccontextmanager
async def connected(target: Target) -> AsyncIterator[Upstream]:
    """The connection, dropped at the end of the block."""
    upstream = await connect(target)
    try:
        yield upstream
    finally:
        upstream.close()
