"""Reads what a process writes: chunks to send on, and whole lines for the harness's adapter.

Never waits for a line's end, never holds more than one line, and reads until the pipe's end so
that a full pipe cannot stop the writer.
"""

import asyncio
from collections.abc import Callable

CHUNK_BYTES = 64 * 1024
GATHER_S = 0.05
"""Small writes within this long travel as one chunk."""
MOST_LINE_BYTES = 4 * 1024 * 1024


class Lines:
    """Bytes in, whole lines out; a line that is too long is left out."""

    def __init__(self, most_bytes: int = MOST_LINE_BYTES) -> None:
        self._most_bytes = most_bytes
        self._rest = bytearray()
        self._skipping = False

    def feed(self, data: bytes) -> list[bytes]:
        """The lines that this data completes."""
        *ended, rest = data.split(b"\n")
        lines = []
        for part in ended:
            self._rest += part
            if not self._skipping and len(self._rest) <= self._most_bytes:
                lines.append(bytes(self._rest))
            self._rest.clear()
            self._skipping = False
        self._rest += rest
        if len(self._rest) > self._most_bytes:
            self._rest.clear()
            self._skipping = True
        return lines

    def end(self) -> list[bytes]:
        """What stands without a line end."""
        return [] if self._skipping or not self._rest else [bytes(self._rest)]


async def pump(
    reader: asyncio.StreamReader,
    on_chunk: Callable[[bytes], None],
    on_line: Callable[[bytes], None] | None = None,
) -> None:
    """Read until the end."""
    lines = Lines()
    while data := await reader.read(CHUNK_BYTES):
        on_chunk(data)
        if on_line is not None:
            for line in lines.feed(data):
                on_line(line)
        if len(data) < CHUNK_BYTES and not reader.at_eof():
            await asyncio.sleep(GATHER_S)
    if on_line is not None:
        for line in lines.end():
            on_line(line)
