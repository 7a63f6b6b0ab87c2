"""Splits a server-sent event stream into events, without IO (WHATWG HTML, section 9.2).

It decides where an event ends, whatever way the bytes were cut. It must never change or delay a
byte: it works on a copy, and a stream that is too large for it makes it blind, not the relay.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

MAX_LINE_BYTES = 16 * 1024 * 1024
MAX_EVENT_BYTES = 32 * 1024 * 1024

_LINE_END = re.compile(rb"\r\n|\n|\r")
_BOM = b"\xef\xbb\xbf"


class SseOverflowError(ValueError):
    """A line or an event beyond the caps."""


@dataclass(frozen=True, slots=True)
class SseEvent:
    """One dispatched event."""

    data: bytes
    """The data lines, joined by a line feed."""
    name: bytes | None = None


@dataclass(frozen=True, slots=True)
class StrayLine:
    """A line that is no field of an event stream, as a proxy's error page or a bare JSON error."""

    text: bytes


class SseSplitter:
    """Bytes in, events out."""

    def __init__(
        self, *, max_line_bytes: int = MAX_LINE_BYTES, max_event_bytes: int = MAX_EVENT_BYTES
    ) -> None:
        self._max_line = max_line_bytes
        self._max_event = max_event_bytes
        self._rest = bytearray()
        self._first = True
        self._data: list[bytes] = []
        self._data_bytes = 0
        self._name: bytes | None = None

    @property
    def unfinished(self) -> bytes:
        """What came of the event that has not ended yet."""
        return b"\n".join([*self._data, bytes(self._rest)])

    def feed(self, data: bytes) -> Iterator[SseEvent | StrayLine]:
        """Each event that `data` completes."""
        self._rest += data
        yield from self._lines(at_end=False)
        if len(self._rest) > self._max_line:
            raise SseOverflowError(f"a line of more than {self._max_line} bytes")

    def close(self) -> Iterator[SseEvent | StrayLine]:
        """What is left at the end of the stream, counted as an event although no blank line came.

        The standard drops it; providers do end streams so (google-gemini/gemini-cli#29059).
        """
        self._rest += b"\n\n"
        yield from self._lines(at_end=True)

    def _lines(self, *, at_end: bool) -> Iterator[SseEvent | StrayLine]:
        start = 0
        buffer = bytes(self._rest)
        for end in _LINE_END.finditer(buffer):
            if end.end() == len(buffer) and end.group() == b"\r" and not at_end:
                break  # the line feed of a CRLF may still come
            line = buffer[start : end.start()]
            start = end.end()
            if self._first:
                self._first = False
                line = line.removeprefix(_BOM)
            yield from self._line(line)
        del self._rest[:start]

    def _line(self, line: bytes) -> Iterator[SseEvent | StrayLine]:
        if not line:
            yield from self._dispatch()
            return
        if line.startswith(b":"):
            return
        field, colon, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if field == b"data":
            self._data.append(value)
            self._data_bytes += len(value)
            if self._data_bytes > self._max_event:
                raise SseOverflowError(f"an event of more than {self._max_event} bytes")
        elif field == b"event":
            self._name = value
        elif field not in {b"id", b"retry"} or not colon:
            yield StrayLine(line)

    def _dispatch(self) -> Iterator[SseEvent]:
        if self._data:
            yield SseEvent(b"\n".join(self._data), self._name)
        self._data = []
        self._data_bytes = 0
        self._name = None
