"""The supervisor's end of a shim's private socket: reports in order, and the moment it closes.

Only the shim holds the other end while the agent runs, so the end of the stream is the end of the
shim. It never blocks and never raises on what comes in: garbage closes the channel.
"""

import asyncio
from collections import deque
from typing import cast

import msgspec

from stanchion.supervisor.isolation import reports

MAX_LINE_BYTES = 64 << 10


class Channel(asyncio.Protocol):
    """Lines to reports."""

    def __init__(self) -> None:
        loop = asyncio.get_running_loop()
        self.closed: asyncio.Future[None] = loop.create_future()
        self._arrived = asyncio.Event()
        self._reports: deque[reports.Report] = deque()
        self._rest = b""
        self._transport: asyncio.Transport | None = None

    @property
    def is_connected(self) -> bool:
        """Whether it owns a socket, even one that has closed since."""
        return self._transport is not None

    async def next(self) -> reports.Report | None:
        """The next report; None = there will be no more."""
        while not self._reports and not self.closed.done():
            self._arrived.clear()
            await self._arrived.wait()
        return self._reports.popleft() if self._reports else None

    def send(self, data: bytes) -> None:
        """Queue bytes for the shim; to a shim that is gone, nothing."""
        if self._transport is not None and not self._transport.is_closing():
            self._transport.write(data)

    def abort(self) -> None:
        """Close at once, without sending what is queued."""
        if self._transport is not None:
            self._transport.abort()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        *lines, self._rest = (self._rest + data).split(b"\n")
        try:
            if len(self._rest) > MAX_LINE_BYTES:
                raise msgspec.ValidationError("a report without an end")
            self._reports.extend(reports.decode(line) for line in lines)
        except msgspec.MsgspecError:
            self.abort()
        self._arrived.set()

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 how it closed says nothing more
        if not self.closed.done():
            self.closed.set_result(None)
        self._arrived.set()
