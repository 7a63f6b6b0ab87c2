"""The merged event stream of every attempt, read by cursor.

Events are written with all others of the same 50 ms, and are seen by readers once they are
committed: what a reader has seen is never lost with the broker. A cursor names the store's epoch,
so that one of another store, of events that the machine lost, or of events that were dropped is
refused and never answered with an empty page. Ingest never waits for a reader.
"""

import asyncio
import re
import sqlite3
from collections import deque
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from stanchion.broker.receipts.event_tables import (
    LIFECYCLE,
    EventRow,
    delete_some,
    insert_events,
    last_source_seq,
    mark_closed_well,
    mark_dropped,
    open_events,
    read_events,
    read_lifecycle,
    used_bytes,
)
from stanchion.broker.receipts.writer import LedgerError, Writer
from stanchion.protocol.events import AssertedBy, StreamEntry, tag_of

BATCH_S = 0.05
RETRY_S = 1.0
"""After a write that failed; what waits is kept."""
MAX_PAGE_BYTES = 4 * 1024 * 1024
"""Event bytes in one page; a single larger event is a page of its own."""
MAX_WAITING_BYTES = 64 * 1024 * 1024
"""Event bytes that may wait for a disk that does not take them."""
MAX_RECENT_BYTES = 64 * 1024
"""Of each attempt's last batch, kept for the readers that wait for it."""
DELETED_AT_ONCE = 2000

_NEWS = frozenset({*LIFECYCLE, "vitals"})
"""What a reader over all attempts is woken for."""
_WORDS = {one: one.value for one in AssertedBy}
_CURSOR = re.compile(r"(?P<epoch>[0-9a-f]{8})\.(?P<seq>0|[1-9][0-9]{0,15})\Z")


class CursorGoneError(Exception):
    """The cursor is of events that are not kept; `oldest` is the first one that may be passed."""

    def __init__(self, oldest: str) -> None:
        super().__init__(f"the cursor is not of this store any more: read on after {oldest}")
        self.oldest = oldest


@dataclass(slots=True)
class _Stream:
    """One attempt. Events up to `written` are in the database, the rest wait in memory."""

    last: int
    written: int
    recent: tuple[EventRow, ...] = ()
    """The last batch that was written, if it was small."""
    recent_after: int = 0
    """`recent` is all that came after this."""
    readers: "set[asyncio.Future[None]]" = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class Lifecycle:
    """A page of the lifecycle events of all attempts."""

    rows: tuple[EventRow, ...]
    cursor: str
    touched: frozenset[str]
    """Attempts of which anything came since the cursor that was passed."""


class EventStore:
    """events.db. Made and used on one event loop."""

    def __init__(self, file: Path, *, host_boot: str | None = None) -> None:
        opened = open_events(file, host_boot=host_boot)
        self.host_restarted = opened.host_restarted
        self._file = file
        self._epoch = opened.epoch
        self._dropped = opened.dropped
        self._streams = {attempt: _Stream(last, last) for attempt, last in opened.last.items()}
        self._last = max((*opened.last.values(), *opened.dropped.values()), default=0)
        self._written_last = self._last
        self._news_last = self._last
        self._news_readers: set[asyncio.Future[None]] = set()
        self._loop = asyncio.get_running_loop()
        self._writer = Writer(opened.connection, name=str(file))
        self._waiting: deque[EventRow] = deque()
        self._waiting_bytes = 0
        self._timer: asyncio.TimerHandle | None = None
        self._batch: asyncio.Future[None] | None = None
        self._flushes: list[tuple[int, asyncio.Future[None]]] = []
        self._closed = False

    def append(
        self,
        attempt_id: str,
        asserted_by: AssertedBy,
        event_json: bytes,
        at_ms: int,
        source_seq: int | None = None,
        kind: str | None = None,
    ) -> str:
        """Add an event; the cursor names it. Does not wait for the disk.

        `kind`: its type, where it is known. LedgerError: the store is closed, or the disk has not
        taken events for too long.
        """
        if self._closed:
            raise LedgerError(f"{self._file} is closed: no event can be added")
        if self._waiting_bytes + len(event_json) > MAX_WAITING_BYTES:
            raise LedgerError(
                f"{self._file} does not take events: more than {MAX_WAITING_BYTES} bytes wait"
            )
        self._last += 1
        word = _WORDS[asserted_by]
        kind = tag_of(event_json) if kind is None else kind
        row = EventRow(self._last, attempt_id, at_ms, word, event_json, kind, source_seq)
        self._stream(attempt_id).last = row.seq
        self._waiting.append(row)
        self._waiting_bytes += len(event_json)
        self._schedule(BATCH_S)
        return self._cursor(row.seq)

    def _stream(self, attempt_id: str) -> _Stream:
        stream = self._streams.get(attempt_id)
        if stream is None:
            stream = self._streams[attempt_id] = _Stream(0, 0)
        return stream

    async def flushed(self, cursor: str) -> None:
        """Wait until the event of this cursor is committed; LedgerError if that fails."""
        seq = self._seq(cursor, 0)
        if self._waiting and seq >= self._waiting[0].seq:
            done = self._loop.create_future()
            self._flushes.append((seq, done))
            await done

    def last(self, attempt_id: str) -> str:
        """Cursor of the attempt's newest event."""
        stream = self._streams.get(attempt_id)
        return self._cursor(stream.last if stream else self._dropped.get(attempt_id, 0))

    def read_up(self, attempt_id: str, cursor: str) -> bool:
        """Whether nothing that was added follows this cursor of the attempt's."""
        stream = self._streams.get(attempt_id)
        return stream is None or self._seq(cursor, 0) >= stream.last

    def last_source_seq(self, attempt_id: str) -> int:
        """The number of the supervisor's last committed event; 0 = none."""
        return last_source_seq(self._file, attempt_id)

    async def page(
        self, attempt_id: str, after: str | None, limit: int = 1000, wait_s: float = 0.0
    ) -> tuple[list[StreamEntry], str]:
        """Events after the cursor (None = from the start), and the cursor to read on after.

        Waits up to `wait_s` for the first one. ValueError: not a cursor. CursorGoneError: what
        follows it is not kept whole.
        """
        floor = self._dropped.get(attempt_id, 0)
        seq = self._seq(after, floor)
        until, rows = self._written_last, await self._after(attempt_id, seq, limit)
        if not rows and wait_s > 0 and not self._closed:
            await self._changed(attempt_id, wait_s)
            until, rows = self._written_last, await self._after(attempt_id, seq, limit)
        entries = [
            StreamEntry(
                cursor=self._cursor(row.seq),
                at_ms=row.at_ms,
                asserted_by=AssertedBy(row.asserted_by),
                event=msgspec.Raw(row.event),
            )
            for row in rows
        ]
        # An empty page moves on too: whatever the attempt tells later comes after `until`.
        return entries, entries[-1].cursor if entries else self._cursor(max(seq, until))

    @property
    def oldest(self) -> str:
        """The earliest cursor over all attempts that may be passed."""
        return self._cursor(max(self._dropped.values(), default=0))

    async def lifecycle(self, after: str | None, limit: int, wait_s: float) -> Lifecycle:
        """Lifecycle events of all attempts after the cursor; None = only where it stands now.

        Waits up to `wait_s` for a lifecycle event or a sample of vitals.
        """
        if after is None:
            return Lifecycle((), self._cursor(self._written_last), frozenset())
        seq = self._seq(after, max(self._dropped.values(), default=0))
        if self._news_last <= seq and wait_s > 0 and not self._closed:
            await self._woken(self._news_readers, wait_s)
        until = self._written_last
        rows, whole = await asyncio.to_thread(
            read_lifecycle, self._file, seq, until, limit=limit, max_bytes=MAX_PAGE_BYTES
        )
        end = until if whole else rows[-1].seq
        touched = frozenset(name for name, stream in self._streams.items() if stream.last > seq)
        return Lifecycle(tuple(rows), self._cursor(max(seq, end)), touched)

    def cursor_of(self, row: EventRow) -> str:
        """The cursor that names this event."""
        return self._cursor(row.seq)

    async def drop(self, attempt_id: str) -> None:
        """Forget the events of an attempt that is closed; its cursors are refused from then on."""
        await self.flushed(self.last(attempt_id))
        stream = self._streams.get(attempt_id)
        if stream is None:
            return
        through = stream.last
        await self._writer.submit(lambda db: mark_dropped(db, attempt_id, through))
        self._dropped[attempt_id] = through
        self._streams.pop(attempt_id, None)
        _wake(stream.readers)
        left = True
        while left:
            left = await self._delete_some(attempt_id)

    async def _delete_some(self, attempt_id: str) -> bool:
        counts: list[int] = []

        def change(db: sqlite3.Connection) -> None:
            counts.append(delete_some(db, attempt_id, DELETED_AT_ONCE))

        await self._writer.submit(change)
        return counts[0] == DELETED_AT_ONCE

    async def used_bytes(self) -> int:
        """What the events take on the disk."""
        return await asyncio.to_thread(used_bytes, self._file)

    def kept(self, attempt_id: str) -> bool:
        """Whether there are events of this attempt."""
        return attempt_id in self._streams

    async def aclose(self) -> None:
        """Commit what waits and let every reader go."""
        self._closed = True
        for stream in self._streams.values():
            _wake(stream.readers)
        _wake(self._news_readers)
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._batch is not None:
            await asyncio.wait([self._batch])
        try:
            if self._waiting:
                self._flush()
                await self.flushed(self._cursor(self._last))
            await self._writer.submit(mark_closed_well)
        finally:
            await self._writer.aclose()

    def _cursor(self, seq: int) -> str:
        return f"{self._epoch}.{seq}"

    def _seq(self, cursor: str | None, floor: int) -> int:
        if cursor is None:
            if floor:
                raise CursorGoneError(self._cursor(floor))
            return 0
        match = _CURSOR.match(cursor)
        if match is None:
            raise ValueError(f"cursor {cursor!r} is not EPOCH.SEQ as this store gives them out")
        seq = int(match["seq"])
        if match["epoch"] != self._epoch or not floor <= seq <= self._last:
            raise CursorGoneError(self._cursor(floor))
        return seq

    async def _after(self, attempt_id: str, seq: int, limit: int) -> list[EventRow]:
        stream = self._streams.get(attempt_id)
        if stream is None or stream.written <= seq:
            return []
        if stream.recent and stream.recent_after <= seq:
            return [row for row in stream.recent if row.seq > seq][:limit]
        return await asyncio.to_thread(
            read_events, self._file, attempt_id, seq, limit=limit, max_bytes=MAX_PAGE_BYTES
        )

    async def _changed(self, attempt_id: str, wait_s: float) -> None:
        """Wait for the attempt's next event, or for so long."""
        stream = self._stream(attempt_id)
        await self._woken(stream.readers, wait_s)
        if not stream.last and not stream.readers:
            self._streams.pop(attempt_id, None)

    async def _woken(self, readers: "set[asyncio.Future[None]]", wait_s: float) -> None:
        woken = self._loop.create_future()
        readers.add(woken)
        try:
            await asyncio.wait([woken], timeout=wait_s)
        finally:
            readers.discard(woken)

    def _schedule(self, delay_s: float) -> None:
        if self._timer is None and self._batch is None:
            self._timer = self._loop.call_later(delay_s, self._flush)

    def _flush(self) -> None:
        self._timer = None
        rows = tuple(self._waiting)

        def change(db: sqlite3.Connection) -> None:
            insert_events(db, rows)

        self._batch = self._writer.submit(change)
        self._batch.add_done_callback(lambda batch: self._written(rows, batch.exception()))

    def _written(self, rows: tuple[EventRow, ...], error: BaseException | None) -> None:
        self._batch = None
        if error is not None:
            for _, done in self._flushes:
                _settle(done, error)
            self._flushes.clear()
        else:
            for row in rows:
                self._waiting.popleft()
                self._waiting_bytes -= len(row.event)
            self._written_last = rows[-1].seq
            self._show(rows)
            self._answer_flushes()
        if self._waiting and not self._closed:
            self._schedule(BATCH_S if error is None else RETRY_S)

    def _show(self, rows: tuple[EventRow, ...]) -> None:
        """Let the readers have what was committed."""
        fresh: dict[str, list[EventRow]] = {}
        for row in rows:
            fresh.setdefault(row.attempt_id, []).append(row)
        for attempt_id, batch in fresh.items():
            stream = self._streams[attempt_id]
            small = sum(len(row.event) for row in batch) <= MAX_RECENT_BYTES
            stream.recent, stream.recent_after = tuple(batch) if small else (), stream.written
            stream.written = batch[-1].seq
            _wake(stream.readers)
        news = [row.seq for row in rows if row.kind in _NEWS]
        if news:
            self._news_last = news[-1]
            _wake(self._news_readers)

    def _answer_flushes(self) -> None:
        for seq, done in self._flushes:
            if seq <= self._written_last:
                _settle(done, None)
        self._flushes = [flush for flush in self._flushes if flush[0] > self._written_last]


def _wake(readers: "set[asyncio.Future[None]]") -> None:
    for woken in readers:
        _settle(woken, None)


def _settle(done: "asyncio.Future[None]", error: BaseException | None) -> None:
    if done.done():
        return
    if error is None:
        done.set_result(None)
    else:
        done.set_exception(error)
