"""A way through an HTTP proxy by CONNECT (RFC 9110, 9.3.6): bytes pass it unread, under TLS.

It decides whether the proxy let us through. It must never send anything but the CONNECT head, which
holds no key, and it refuses a proxy that speaks before TLS has begun.
"""

import asyncio
import re

MAX_HEAD_BYTES = 16 * 1024
_STATUS = re.compile(rb"HTTP/1\.[01] (?P<status>[0-9]{3})(?: [^\r\n]*)?\r\n")


class ProxyRefusedError(OSError):
    """The proxy did not open the way; the message says what it did."""


class _Connect(asyncio.Protocol):
    """The proxy's answer to CONNECT, to the end of its head."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.answer: asyncio.Future[bytes] = loop.create_future()
        self._head = bytearray()

    def data_received(self, data: bytes) -> None:
        self._head += data
        if b"\r\n\r\n" in self._head or len(self._head) > MAX_HEAD_BYTES:
            self._done()

    def eof_received(self) -> None:
        self._done()

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - the answer says it
        self._done()

    def _done(self) -> None:
        if not self.answer.done():
            self.answer.set_result(bytes(self._head))


async def open_tunnel(proxy: tuple[str, int], host: str, port: int) -> asyncio.Transport:
    """A transport whose other end is HOST:PORT; OSError where there is no way."""
    loop = asyncio.get_running_loop()
    transport, protocol = await loop.create_connection(lambda: _Connect(loop), *proxy)
    try:
        place = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
        transport.write(f"CONNECT {place} HTTP/1.1\r\nhost: {place}\r\n\r\n".encode("ascii"))
        check_answer(await protocol.answer)
    except BaseException:
        transport.abort()
        raise
    return transport


def check_answer(answer: bytes) -> None:
    """Any 2xx and nothing after its head opens the way."""
    head, end, rest = answer.partition(b"\r\n\r\n")
    match = _STATUS.match(head + b"\r\n")
    if not end or match is None:
        raise ProxyRefusedError("the egress proxy did not answer CONNECT")
    status = int(match["status"])
    if not 200 <= status < 300:
        raise ProxyRefusedError(f"the egress proxy answered CONNECT with {status}")
    if rest:
        raise ProxyRefusedError("the egress proxy sent bytes of its own")
