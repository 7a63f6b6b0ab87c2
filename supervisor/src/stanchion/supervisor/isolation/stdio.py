"""The supervisor's ends of an agent's three pipes, on the event loop.

Reading stops when a stream's buffer is full, so a loud agent waits and memory stays bounded; it
never blocks on an agent that does not read its input.
"""

import asyncio
import os
from functools import partial

from stanchion.supervisor.isolation.spawn import Spawned

STREAM_LIMIT_BYTES = 1 << 20
"""A line may be this long for `readline`; twice this is buffered at most."""


class Stdio:
    """Input to feed, output to read until its end."""

    def __init__(self, spawned: Spawned) -> None:
        self.stdout = asyncio.StreamReader(limit=STREAM_LIMIT_BYTES)
        self.stderr = asyncio.StreamReader(limit=STREAM_LIMIT_BYTES)
        self._unconnected = [spawned.stdin, spawned.stdout, spawned.stderr]
        self._transports: list[asyncio.BaseTransport] = []
        self._stdin: asyncio.WriteTransport | None = None

    async def connect(self) -> None:
        """Put the pipes on the running loop."""
        loop = asyncio.get_running_loop()
        stdin = os.fdopen(self._unconnected.pop(0), "wb", buffering=0)
        self._stdin, _ = await loop.connect_write_pipe(asyncio.BaseProtocol, stdin)
        self._transports.append(self._stdin)
        for reader in (self.stdout, self.stderr):
            pipe = os.fdopen(self._unconnected.pop(0), "rb", buffering=0)
            protocol = asyncio.StreamReaderProtocol(reader)
            read_transport, _ = await loop.connect_read_pipe(partial(_given, protocol), pipe)
            self._transports.append(read_transport)

    def feed(self, data: bytes) -> None:
        """Write all of the input in the background, then close it."""
        if self._stdin is not None:
            self._stdin.write(data)
            self._stdin.write_eof()

    def close_input(self) -> None:
        """Nobody is left to read it."""
        if self._stdin is not None and not self._stdin.is_closing():
            self._stdin.abort()

    def close(self) -> None:
        """Give up what is not read yet."""
        self.close_input()
        for transport in self._transports:
            transport.close()
        for descriptor in self._unconnected:
            os.close(descriptor)
        self._unconnected.clear()


def _given(protocol: asyncio.StreamReaderProtocol) -> asyncio.StreamReaderProtocol:
    return protocol
