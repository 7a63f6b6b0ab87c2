"""Splits a server-sent event stream into events, without IO (WHATWG HTML, section 9.2).

It decides where an event ends, whatever way the bytes were cut. It must never change or delay a
byte: it works on a copy, and a stream that is too large for it makes it blind, not the relay.
"""

from collections.abc import Iterator

import msgspec

MAX_LINE_BYTES = 16 * 1024 * 1024
MAX_EVENT_BYTES = 32 * 1024 * 1024

_CR, _LF = b"\r\n"
_BOM = b"\xef\xbb\xbf"


class SseOverflowError(ValueError):
    """A line or an event beyond the caps."""


class SseEvent(msgspec.Struct, frozen=True, gc=False):
    """One dispatched event."""

    data: bytes
    """The data lines, joined by a line feed."""
    name: bytes | None = None


class StrayLine(msgspec.Struct, frozen=True, gc=False):
    """A line that is no field of an event stream, as a proxy's error page or a bare JSON error."""

    text: bytes


class SseSplitter:
    """Bytes in, events out."""

    __slots__ = (
        "_after_cr", "_data", "_data_bytes", "_first", "_line_bytes", "_max_event", "_max_line",
        "_name", "_pieces",
    )  # fmt: skip

    def __init__(
        self, *, max_line_bytes: int = MAX_LINE_BYTES, max_event_bytes: int = MAX_EVENT_BYTES
    ) -> None:
        self._max_line = max_line_bytes
        self._max_event = max_event_bytes
        self._pieces: list[bytes] = []
        """Of the line that has not ended."""
        self._line_bytes = 0
        self._after_cr = False
        """A line ended with the last byte, a CR whose line feed may still come."""
        self._first = True
        self._data: list[bytes] = []
        self._data_bytes = 0
        self._name: bytes | None = None

    @property
    def unfinished(self) -> bytes:
        """What came of the event that has not ended yet."""
        return b"\n".join([*self._data, b"".join(self._pieces)])

    @property
    def is_between_events(self) -> bool:
        """Whether the first one began and none is under way."""
        begun = self._first or self._pieces or self._data or self._name is not None
        return not (begun or self._after_cr)

    def whole(self, data: bytes) -> list[bytes] | None:
        """The data of the events that these bytes are, as most reads are; None = `feed` them.

        It takes them only where nothing is under way, and in the two shapes that providers send.
        """
        if (
            not self.is_between_events
            or not data.endswith(b"\n\n")
            or _CR in data
            or len(data) > self._max_line
        ):
            return None
        if data.startswith(b"data: "):
            found = data[6:-2].split(b"\n\ndata: ")
            if data.count(b"\n") == 2 * len(found):
                return found
        found = []
        for event in data[:-2].split(b"\n\n"):
            line = event.partition(b"\n")[2] if event.startswith(b"event: ") else event
            if not line.startswith(b"data: ") or _LF in line:
                return None
            found.append(line[6:])
        return found

    def feed(self, data: bytes) -> Iterator[SseEvent | StrayLine]:
        """Each event that `data` completes."""
        if self._after_cr and data:
            self._after_cr = False
            data = data.removeprefix(b"\n")
        for piece in data.splitlines(keepends=True):  # of bytes: at CR, LF and CRLF only
            part = piece.rstrip(b"\r\n")
            self._line_bytes += len(part)
            if self._line_bytes > self._max_line:
                raise SseOverflowError(f"a line of more than {self._max_line} bytes")
            if len(part) == len(piece):
                self._pieces.append(part)
                continue
            self._after_cr = piece.endswith(b"\r")
            found = self._ended_line(part)
            if found is not None:
                yield found

    def close(self) -> Iterator[SseEvent | StrayLine]:
        """What is left at the end of the stream, counted as an event although no blank line came.

        The standard drops it; providers do end streams so (google-gemini/gemini-cli#29059).
        """
        for found in (self._ended_line(b""), self._dispatch()):
            if found is not None:
                yield found

    def _ended_line(self, line: bytes) -> SseEvent | StrayLine | None:
        """The event that a line completes; `line` is its last part."""
        if self._pieces:
            self._pieces.append(line)
            line = b"".join(self._pieces)
            self._pieces.clear()
        self._line_bytes = 0
        if self._first:
            self._first = False
            line = line.removeprefix(_BOM)
        return self._line(line) if line else self._dispatch()

    def _line(self, line: bytes) -> StrayLine | None:
        field, colon, value = line.partition(b":")
        if field == b"data":
            value = value.removeprefix(b" ")
            self._data.append(value)
            self._data_bytes += len(value) + 1  # an empty line takes room too
            if self._data_bytes > self._max_event:
                raise SseOverflowError(f"an event of more than {self._max_event} bytes")
        elif field == b"event":
            self._name = value.removeprefix(b" ")
        elif field and (field not in {b"id", b"retry"} or not colon):  # without one: a comment
            return StrayLine(line)
        return None

    def _dispatch(self) -> SseEvent | None:
        if not self._data:
            self._name = None
            return None
        event = SseEvent(b"\n".join(self._data), self._name)
        self._data = []
        self._data_bytes = 0
        self._name = None
        return event
