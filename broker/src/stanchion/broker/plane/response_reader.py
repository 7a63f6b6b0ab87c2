"""Reads one response as it passes: which bytes may leave at once, and what came back. Pure.

It decides where a terminal event or an error may start, so that those bytes wait for their
receipt, and how the exchange ended: error object before terminal event before [DONE] before the
end of the stream. It must never alter a byte.
"""

import hashlib
from collections.abc import Callable
from enum import Enum

from stanchion.broker.plane.answering import Came, answered
from stanchion.broker.plane.dialects.base import DialectReader
from stanchion.broker.plane.frame import Frame
from stanchion.broker.plane.limits import MAX_UNREAD_BYTES
from stanchion.broker.plane.sse import SseEvent, SseOverflowError, SseSplitter, StrayLine
from stanchion.protocol.exchange import Answered

MAX_WHOLE_BYTES = 64 * 1024 * 1024


class Form(Enum):
    """What the body is, by its content type."""

    EVENTS = "events"
    JSON = "json"
    OTHER = "other"


def form_of(content_type: str | None) -> Form:
    """The form that a content type announces; a missing one is taken for JSON."""
    kind = (content_type or "application/json").partition(";")[0].strip().lower()
    if kind == "text/event-stream":
        return Form.EVENTS
    return Form.JSON if kind == "application/json" or kind.endswith("+json") else Form.OTHER


class ResponseReader:
    """The tap of one exchange."""

    __slots__ = (
        "_blind", "_came_at", "_carry", "_fold", "_frame_of", "_marked", "_mask",
        "_may_be_last", "_needs_terminal", "_output_limit", "_read", "_semantic_at",
        "_semantic_events", "_sha256", "_size_bytes", "_splitter", "_status", "_unread",
        "_unread_bytes", "_whole", "by_events", "frame", "lookout",
    )  # fmt: skip

    def __init__(
        self,
        reader: DialectReader,
        *,
        status: int,
        form: Form,
        output_limit: int | None,
        mask: Callable[[str], str] = str,
    ) -> None:
        """`mask` is for every word of the provider that is kept, before any is shortened."""
        self.lookout = reader.lookout
        self._needs_terminal = reader.stream_needs_terminal
        self._may_be_last = reader.may_be_last
        self._frame_of = reader.frame
        self._fold = reader.new_fold()
        self._status = status
        self._output_limit = output_limit
        self._mask = mask
        self.by_events = form is Form.EVENTS
        self._splitter = SseSplitter() if self.by_events else None
        self._blind: str | None = None if form is not Form.OTHER else "not JSON, no event stream"
        self._sha256 = hashlib.sha256()
        self._unread: list[bytes] = []
        """Pieces of a stream that left and were not read yet."""
        self._came_at: list[float] = []
        """When each of these came."""
        self._carry = b""
        self._marked = False
        """Whether a marker came since the last event ended."""
        self._unread_bytes = 0
        self._whole: bytes | bytearray = b""
        """Of a body that is no event stream; to be read at its end."""
        self._read = False
        """Whether the end of the body was read."""
        self._size_bytes = 0
        self._semantic_events = 0
        self.frame: Frame | None = None
        """Of the last event, if another text in it would tell nothing new."""
        self._semantic_at = float("-inf")

    def holds_from(self, data: bytes) -> int | None:
        """Where in the next bytes a terminal event may start; None = all may leave before reading.

        A whole JSON body has no such place: its end is the end of the stream. To be asked once for
        each piece, and then told by `passed` of it.
        """
        if not self.by_events or self._blind is not None:
            return None
        carry, lookout = self._carry, self.lookout
        window = carry + data if carry else data
        # No marker goes over the end of a line.
        self._carry = b"" if data.endswith(b"\n") else window[-lookout.overlap :]
        place = lookout.place_in(window)
        if place is None:
            return None
        self._read_on()  # what came before has none
        self._marked = True
        return max(0, place - len(carry))

    def saw(self, data: bytes, at: float = 0.0) -> None:
        """Take a copy of bytes of the body that nobody asked about, which came `at` this time."""
        self.holds_from(data)
        self.passed(data, at)

    @property
    def at_rest(self) -> bool:
        """Whether no marker may have begun."""
        return not self._carry

    def passed_all(self, pieces: list[bytes], came_at: list[float], unframed: list[int]) -> None:
        """The same for pieces of a stream that have no marker in them and an event's end at theirs.

        They are read now; but for those that are `unframed`, by their places, each is an event in
        the frame, which tells nothing but that it came.
        """
        self._read_on()
        data = b"".join(pieces)
        self._take(data)
        if self.frame is not None and len(unframed) < len(pieces):
            self._read_framed(self.frame, pieces, came_at, set(unframed))
        else:
            self._read_unframed(data, pieces, came_at)

    def _read_unframed(self, data: bytes, pieces: list[bytes], came_at: list[float]) -> None:
        """In one step where each piece is an event, as a rule."""
        self.frame = None
        events = self._whole_events(data)
        if self._blind is not None or events is None or len(events) != len(pieces):
            self._read_each(pieces, came_at)
            return
        take, semantic = self._fold.stream_event, 0
        for event, at in zip(events, came_at, strict=True):
            if take(event):
                semantic += 1
                self._semantic_at = at
        self._semantic_events += semantic
        last = events[-1]
        frame = self._frame_of(self._fold, last) if len(last) <= MAX_UNREAD_BYTES else None
        if frame is not None:
            before, _, behind = pieces[-1].partition(last)
            self.frame = frame.around(before, behind)

    def _read_framed(
        self, frame: Frame, pieces: list[bytes], came_at: list[float], unframed: set[int]
    ) -> None:
        """Only the unframed, and what comes while the frame does not stand."""
        stands = self._is_between_events() and frame.stands()
        if stands and not unframed:
            self._semantic_events += len(pieces)
            self._semantic_at = came_at[-1]
            return
        for place, (data, at) in enumerate(zip(pieces, came_at, strict=True)):
            if stands and place not in unframed:
                self._semantic_events += 1
                self._semantic_at = at
            else:
                self._read_each([data], [at])
                stands = self._is_between_events() and frame.stands()

    def _is_between_events(self) -> bool:
        if self._splitter is None or self._blind is not None or self._marked:
            return False
        return self._splitter.is_between_events

    def passed(self, data: bytes, at: float) -> None:
        """Take a copy of bytes of the body.

        Those of a stream are read a few pieces at a time, or when somebody asks what they said.
        """
        if not self.by_events:
            self._take(data)
            self._collect(data)
            return
        self._unread.append(data)
        self._came_at.append(at)
        self._unread_bytes += len(data)
        if self._marked or self._unread_bytes > MAX_UNREAD_BYTES:
            self._read_on()

    def _read_on(self) -> None:
        if not self._unread:
            return
        unread, came_at = self._unread, self._came_at
        self._unread, self._came_at, self._unread_bytes = [], [], 0
        self._take(b"".join(unread))
        self._read_each(unread, came_at)

    def _read_each(self, pieces: list[bytes], came_at: list[float]) -> None:
        for data, at in zip(pieces, came_at, strict=True):
            if self._blind is None and self._events(data):
                self._semantic_at = at

    def _take(self, data: bytes) -> None:
        self._sha256.update(data)
        self._size_bytes += len(data)

    @property
    def size_bytes(self) -> int:
        """Of all that was seen."""
        self._read_on()
        return self._size_bytes

    @property
    def semantic_events(self) -> int:
        """How many came; comments and pings are none."""
        self._read_on()
        return self._semantic_events

    @property
    def semantic_at(self) -> float:
        """When the last bytes came that completed one."""
        self._read_on()
        return self._semantic_at

    def digest(self) -> "hashlib._Hash":
        """A copy of the hash of all that was seen."""
        self._read_on()
        return self._sha256.copy()

    @property
    def terminal(self) -> bool:
        """Whether the terminal event or an error came in a stream."""
        self._read_on()
        return self.by_events and (self._fold.done or self._fold.failed)

    @property
    def undecided(self) -> bool:
        """Whether an event has begun, or come, that may turn out to be terminal."""
        self._read_on()
        if not self.by_events or self._blind is not None or self.terminal:
            return False
        return self._marked or self._may_be_last(self._fold)

    @property
    def retry_after_ms(self) -> int | None:
        """The wait that the error object asks for, once the whole answer was read."""
        self._read_on()
        error = self._fold.told().error
        return None if error is None else error.retry_after_ms

    def answered(self, *, complete: bool, client_gone: bool = False) -> Answered:
        """How the exchange ended; `complete` = the transport delivered the whole body."""
        self._finish_reading()
        # A stream says itself whether it is whole.
        whole = self._fold.done or not self._needs_terminal if self.by_events else complete
        return answered(
            self._fold.told(),
            Came(
                status=self._status,
                complete=complete,
                whole=whole,
                read=self._blind is None,
                client_gone=client_gone,
                sha256=self._sha256.hexdigest(),
                size_bytes=self._size_bytes,
            ),
            output_limit=self._output_limit,
            mask=self._mask,
        )

    def _collect(self, data: bytes) -> None:
        if self._blind is not None:
            return
        if self._size_bytes > MAX_WHOLE_BYTES:
            self._blind = f"a body of more than {MAX_WHOLE_BYTES} bytes"
            self._whole = b""
        elif not self._whole:
            self._whole = data
        else:
            if isinstance(self._whole, bytes):
                self._whole = bytearray(self._whole)
            self._whole += data

    def _events(self, data: bytes) -> bool:
        """Read a piece of a stream; whether a semantic event ended in it."""
        whole = self._whole_events(data)
        if whole is None:
            return self._split(data)
        semantic = 0
        for event in whole:
            semantic += self._fold.stream_event(event)
        self._semantic_events += semantic
        return semantic > 0

    def _whole_events(self, data: bytes) -> list[bytes] | None:
        """The data of each event that these bytes are, from end to end; None = read them apart."""
        return None if self._splitter is None or self._marked else self._splitter.whole(data)

    def _split(self, data: bytes) -> bool:
        if self._splitter is None:
            return False
        before = self._semantic_events
        ended = False
        try:
            for found in self._splitter.feed(data):
                self._event(found)
                ended = ended or isinstance(found, SseEvent)
        except SseOverflowError as error:
            self._blind = str(error)
        if ended and self._marked:  # what is unfinished now came with these bytes: it is short
            self._marked = self.lookout.place_in(self._splitter.unfinished) is not None
        return self._semantic_events > before

    def _event(self, event: SseEvent | StrayLine) -> None:
        if isinstance(event, StrayLine):
            self._fold.stray_line(event.text)
            return
        self._semantic_events += self._fold.stream_event(event.data)

    def _finish_reading(self) -> None:
        self._read_on()
        if self._blind is not None or self._read:
            return
        self._read = True
        if self._splitter is not None:
            for event in self._splitter.close():
                self._event(event)
        elif not self._fold.whole_body(bytes(self._whole)):
            self._blind = "the body is not JSON"
