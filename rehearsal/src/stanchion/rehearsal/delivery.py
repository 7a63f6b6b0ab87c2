"""A reply on its way to the socket: pieces, waits, and the end that was decided for it.

It does what a `Reply` says and counts what the socket took; it must never change a byte or
decide an end of its own.
"""

import asyncio
import fcntl
import socket
import struct
import termios
from typing import NoReturn

from aiohttp import web

from stanchion.rehearsal.dialects.reply import End, Piece, Reply
from stanchion.rehearsal.witness import Exchange

DRAIN_S = 2.0
"""A client that reads nothing keeps its bytes in flight; a reset does not wait longer for it."""
_DRAIN_POLL_S = 0.002


async def deliver(
    request: web.Request, exchange: Exchange, reply: Reply, request_id_header: str
) -> web.StreamResponse:
    """Send the reply and fill in what became of it."""
    response = web.StreamResponse(
        status=reply.status,
        headers={
            "Content-Type": reply.content_type,
            "Cache-Control": "no-cache",
            request_id_header: exchange.request_id,
        },
    )
    for name, value in reply.headers:
        response.headers[name] = value
    if reply.size_bytes is not None:
        response.content_length = reply.size_bytes
    await response.prepare(request)
    exchange.status = reply.status
    for piece in reply.pieces if request.method != "HEAD" else ():
        await _send(response, exchange, piece)
    while reply.drip is not None:
        await _send(response, exchange, reply.drip)
    if reply.end is End.CLEAN:
        await response.write_eof()
        exchange.complete = True
    elif reply.end is End.SILENT:
        await _until_cancelled()
    else:
        await _hang_up(request, reset=reply.end is End.RST)
    return response


async def _send(response: web.StreamResponse, exchange: Exchange, piece: Piece) -> None:
    if piece.delay_ms:
        await asyncio.sleep(piece.delay_ms / 1000)
    await response.write(piece.data)
    exchange.sent(piece.data)


async def _until_cancelled() -> NoReturn:
    while True:
        await asyncio.Event().wait()


async def _hang_up(request: web.Request, *, reset: bool) -> None:
    """Close the connection once the client's side has all that was sent, as the witness says."""
    transport = request.transport
    if transport is None:
        raise ConnectionResetError("the client went away before the connection was to be cut")
    if not reset:
        transport.close()
        return
    sock = transport.get_extra_info("socket")
    await _drained(transport, sock)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    transport.abort()


async def _drained(transport: asyncio.WriteTransport, sock: socket.socket) -> None:
    """Wait until nothing is on its way: a reset throws away what the other side lacks (tcp(7))."""
    loop = asyncio.get_running_loop()
    deadline = loop.time() + DRAIN_S
    while loop.time() < deadline:
        queued = struct.unpack("i", fcntl.ioctl(sock.fileno(), termios.TIOCOUTQ, b"\0" * 4))[0]
        if not queued and not transport.get_write_buffer_size():
            return
        await asyncio.sleep(_DRAIN_POLL_S)
