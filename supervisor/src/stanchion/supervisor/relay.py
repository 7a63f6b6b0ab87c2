"""The agent's way to its model: a loopback listener before the broker's socket.

One request a connection; the head is rewritten once, then bytes go both ways as they are, with
back-pressure. Never reads a body, never answers for the provider, and stops accepting as soon as
the agent has ended.
"""

import asyncio
import socket
from collections.abc import Callable, Coroutine
from pathlib import Path

from stanchion.supervisor.relay_head import BAD_REQUEST, MAX_HEAD_BYTES, UNREACHABLE, rewrite

PIECE_BYTES = 64 * 1024
HEAD_WAIT_S = 30
LAST_WORDS_S = 2
"""How long a caller may go on sending after the answer was complete."""


class Relay:
    """Bound at once, so that its port is known; serves between `open` and `close`."""

    def __init__(self, upstream: Path, lease: Callable[[], str]) -> None:
        self._upstream = upstream
        self._lease = lease
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        self._socket.bind(("127.0.0.1", 0))
        self._server: asyncio.Server | None = None
        self._serving: set[asyncio.Task[None]] = set()

    @property
    def port(self) -> int:
        port = self._socket.getsockname()[1]
        assert isinstance(port, int)
        return port

    async def open(self) -> None:
        """Begin to accept."""
        self._server = await asyncio.start_server(
            self._serve, sock=self._socket, limit=MAX_HEAD_BYTES
        )

    async def close(self) -> None:
        """Accept nothing more and cut what is in flight."""
        if self._server is None:
            self._socket.close()
            return
        self._server.close()
        serving = list(self._serving)
        for task in serving:
            task.cancel()
        await asyncio.gather(*serving, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._serving.add(task)
        try:
            await self._relay(reader, writer)
        except (OSError, asyncio.CancelledError):
            pass  # the caller hung up, or the relay closed: both ends are closed below
        finally:
            self._serving.discard(task)
            writer.close()

    async def _relay(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await self._read_head(reader)
        if head == b"":
            return
        rewritten = rewrite(head, self._lease()) if head else None
        if rewritten is None:
            await _answer(reader, writer, BAD_REQUEST)
            return
        try:
            up_reader, up_writer = await asyncio.open_unix_connection(str(self._upstream))
        except OSError:
            await _answer(reader, writer, UNREACHABLE)
            return
        try:
            up_writer.write(rewritten)
            await _until_one_ends(_pump(reader, up_writer), _pump(up_reader, writer))
        finally:
            up_writer.close()
        await _last_words(reader, writer)

    @staticmethod
    async def _read_head(reader: asyncio.StreamReader) -> bytes | None:
        """The head with its empty line; empty = hung up before a byte; None = no head."""
        try:
            async with asyncio.timeout(HEAD_WAIT_S):
                return await reader.readuntil(b"\r\n\r\n")
        except asyncio.IncompleteReadError as error:
            return None if error.partial else b""
        except (asyncio.LimitOverrunError, TimeoutError):
            return None


async def _until_one_ends(
    upwards: Coroutine[None, None, None], downwards: Coroutine[None, None, None]
) -> None:
    """The answer's end ends the request; so does a caller that hangs up."""
    async with asyncio.TaskGroup() as tasks:
        both = {tasks.create_task(upwards), tasks.create_task(downwards)}
        await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
        for task in both:
            task.cancel()


async def _pump(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
    try:
        while data := await source.read(PIECE_BYTES):
            target.write(data)
            await target.drain()
    except ConnectionError:
        return  # one side is gone: the other is closed by the caller


async def _answer(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, answer: bytes
) -> None:
    writer.write(answer)
    await _last_words(reader, writer)


async def _last_words(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """End our side, then read on a moment: closing at once would reset the answer away."""
    try:
        await writer.drain()
        if writer.can_write_eof():
            writer.write_eof()
        async with asyncio.timeout(LAST_WORDS_S):
            while await reader.read(PIECE_BYTES):
                pass
    except (OSError, TimeoutError):
        return
