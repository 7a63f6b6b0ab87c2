"""Reads one response as it passes: which bytes may leave at once, and what came back. Pure.

It decides where a terminal event or an error may start, so that those bytes wait for their
receipt, and how the exchange ended: error object before terminal event before [DONE] before the
end of the stream. It must never alter a byte.
"""

import hashlib
from collections.abc import Callable
from enum import Enum

from stanchion.broker.plane.dialects.base import DialectReader, ProviderError, Told
from stanchion.broker.plane.dialects.failures import classify
from stanchion.broker.plane.sse import SseEvent, SseOverflowError, SseSplitter, StrayLine
from stanchion.protocol.exchange import (
    ID_LENGTH,
    Answered,
    AnswerFlag,
    ErrorClass,
    ExchangeResult,
    Finish,
)

MAX_WHOLE_BYTES = 64 * 1024 * 1024
MAX_UNREAD_BYTES = 4 * 1024
"""Of a stream: a stranger's memory is slow to reach, so several pieces are read at one visit."""
WORDS = 500
MAX_CALL_IDS = 256


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
        "_blind", "_came_at", "_carry", "_fold", "_lookout", "_marked", "_mask",
        "_may_be_last", "_needs_terminal", "_output_limit", "_read", "_semantic_at",
        "_semantic_events", "_sha256", "_size_bytes", "_splitter", "_status", "_unread",
        "_unread_bytes", "_whole", "by_events",
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
        self._lookout = reader.lookout
        self._needs_terminal = reader.stream_needs_terminal
        self._may_be_last = reader.may_be_last
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
        self._semantic_at = float("-inf")

    def holds_from(self, data: bytes) -> int | None:
        """Where in the next bytes a terminal event may start; None = all may leave before reading.

        A whole JSON body has no such place: its end is the end of the stream. To be asked once for
        each piece, and then told by `passed` of it.
        """
        if not self.by_events or self._blind is not None:
            return None
        carry, lookout = self._carry, self._lookout
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
        for data, at in zip(unread, came_at, strict=True):
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
        told = self._fold.told()
        reported, usage = told.reported, told.reported.usage
        blind = self._blind is not None and self._status < 300
        error = told.error or self._implied_error(told)
        result = self._result(told, error, complete=complete, client_gone=client_gone)
        return Answered(
            result=result,
            status=self._status,
            error_class=self._error_class(result, error),
            error_words=self._kept(None if error is None else error.words),
            finish=told.finish if error is None else Finish.ERROR,
            finish_raw=self._kept(told.finish_raw),
            model_served=self._kept(told.model),
            usage=usage,
            usage_why="the client left before usage came"
            if client_gone and usage is None
            else reported.why,
            reasoning_present=_reasoning(told, result),
            # Of what could not be read, only what was seen before is known.
            text_present=told.text or None if blind else told.text,
            tool_calls=told.tool_calls or None if blind else told.tool_calls,
            cut_tool_calls=told.cut_calls or None if blind else told.cut_calls,
            input_includes_cache=reported.input_includes_cache,
            output_includes_reasoning=reported.output_includes_reasoning,
            flags=_flags(told, result),
            response_id=self._kept_id(told.response_id),
            tool_call_ids=self._kept_ids(told.call_ids),
            malformed=_malformed(told),
            body_sha256=self._sha256.hexdigest(),
            body_bytes=self._size_bytes,
        )

    def _kept(self, words: str | None) -> str | None:
        return self._mask(words)[:WORDS] if words else None

    def _kept_id(self, name: str | None) -> str | None:
        return self._mask(name)[:ID_LENGTH] if name else None

    def _kept_ids(self, names: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(self._mask(name)[:ID_LENGTH] for name in names[:MAX_CALL_IDS])

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
        whole = None if self._splitter is None or self._marked else self._splitter.whole(data)
        if whole is None:
            return self._split(data)
        semantic = 0
        for event in whole:
            semantic += self._fold.stream_event(event)
        self._semantic_events += semantic
        return semantic > 0

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
            self._marked = self._lookout.place_in(self._splitter.unfinished) is not None
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

    def _implied_error(self, told: Told) -> ProviderError | None:
        if self._status >= 400:
            return ProviderError(words=None)
        if told.finish is Finish.ERROR:
            return ProviderError(words=f"finish_reason {told.finish_raw}")
        return None

    def _result(
        self, told: Told, error: ProviderError | None, *, complete: bool, client_gone: bool
    ) -> ExchangeResult:
        if client_gone:
            return ExchangeResult.CLIENT_GONE
        if error is not None:
            return ExchangeResult.PROVIDER_ERROR
        if told.finish is not None and self._ended(complete=complete):
            return ExchangeResult.COMPLETED
        if self._blind is not None and complete:
            return ExchangeResult.UNREADABLE
        return ExchangeResult.TRUNCATED

    def _ended(self, *, complete: bool) -> bool:
        """Whether what came is all of it; a stream says so itself."""
        if self.by_events:
            return self._fold.done or not self._needs_terminal
        return complete

    def _error_class(
        self, result: ExchangeResult, error: ProviderError | None
    ) -> ErrorClass | None:
        if error is not None:
            return classify(self._status, error, output_limit=self._output_limit)
        broken = {ExchangeResult.TRUNCATED, ExchangeResult.UNREADABLE}
        return ErrorClass.UPSTREAM_PROTOCOL if result in broken else None


def _reasoning(told: Told, result: ExchangeResult) -> bool | None:
    if told.reasoning:
        return True
    return False if result is ExchangeResult.COMPLETED else None


def _flags(told: Told, result: ExchangeResult) -> tuple[AnswerFlag, ...]:
    absent = told.reported.usage is None and result is ExchangeResult.COMPLETED
    flags = (AnswerFlag.USAGE_ABSENT,) if absent else ()
    return (*flags, AnswerFlag.USAGE_CONTRADICTION) if told.reported.contradicted else flags


def _malformed(told: Told) -> dict[str, str]:
    if not told.reported.malformed:
        return dict(told.malformed)
    figures = {f"usage.{name}": said for name, said in told.reported.malformed.items()}
    return {**told.malformed, **figures}
