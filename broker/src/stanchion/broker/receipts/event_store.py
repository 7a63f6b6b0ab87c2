"""The merged event stream of every attempt, read by cursor.

An append is seen by readers at once, from memory, and is written with all others of the same 50 ms.
A cursor names the store's epoch, so that one of another store, or of events that a crash lost, is
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
    EventRow,
    insert_events,
    mark_closed_well,
    open_events,
    read_events,
)
from stanchion.broker.receipts.writer import LedgerError, Writer
from stanchion.protocol.events import AssertedBy, StreamEntry

BATCH_S = 0.05
RETRY_S = 1.0
"""After a write that failed; what waits is kept."""
MAX_PAGE_BYTES = 4 * 1024 * 1024
"""Event bytes in one page; a single larger event is a page of its own."""
MAX_WAITING_BYTES = 64 * 1024 * 1024
"""Event bytes that may wait for a disk that does not take them."""

_CURSOR = re.compile(r"(?P<epoch>[0-9a-f]{8})\.(?P<seq>0|[1-9][0-9]{0,15})\Z")


class CursorGoneError(Exception):
    """The cursor is of other events than this store has; pass `oldest` to read from the start."""

    def __init__(self, oldest: str) -> None:
        super().__init__(f"the cursor is not of this store any more: read on after {oldest}")
        self.oldest = oldest


@dataclass(slots=True)
class _Stream:
    """One attempt. Events up to `written` are in the database, the rest wait in memory."""

    last: int
    written: int
    waiting: deque[EventRow] = field(default_factory=deque)
    readers: "set[asyncio.Future[None]]" = field(default_factory=set)


class EventStore:
    """events.db. Made and used on one event loop."""

    def __init__(self, file: Path) -> None:
        opened = open_events(file)
        self._file = file
        self._epoch = opened.epoch
        self._streams = {attempt: _Stream(last, last) for attempt, last in opened.last.items()}
        self._last = max(opened.last.values(), default=0)
        self._loop = asyncio.get_running_loop()
        self._writer = Writer(opened.connection, name=str(file))
        self._waiting: deque[EventRow] = deque()
        self._waiting_bytes = 0
        self._timer: asyncio.TimerHandle | None = None
        self._batch: asyncio.Future[None] | None = None
        self._flushes: list[tuple[int, asyncio.Future[None]]] = []
        self._closed = False

    def append(
        self, attempt_id: str, asserted_by: AssertedBy, event_json: bytes, at_ms: int
    ) -> str:
        """Add an event and wake its readers; the cursor names it. Does not wait for the disk.

        LedgerError: the store is closed, or the disk has not taken events for too long.
        """
        if self._closed:
            raise LedgerError(f"{self._file} is closed: no event can be added")
        if self._waiting_bytes + len(event_json) > MAX_WAITING_BYTES:
            raise LedgerError(
                f"{self._file} does not take events: more than {MAX_WAITING_BYTES} bytes wait"
            )
        self._last += 1
        row = EventRow(self._last, attempt_id, at_ms, AssertedBy(asserted_by).value, event_json)
        stream = self._streams.setdefault(attempt_id, _Stream(0, 0))
        stream.last = row.seq
        stream.waiting.append(row)
        self._waiting.append(row)
        self._waiting_bytes += len(event_json)
        _wake(stream)
        self._schedule(BATCH_S)
        return self._cursor(row.seq)

    async def flushed(self, cursor: str) -> None:
        """Wait until the event of this cursor is committed; LedgerError if that fails."""
        seq = self._seq(cursor)
        if self._waiting and seq >= self._waiting[0].seq:
            done = self._loop.create_future()
            self._flushes.append((seq, done))
            await done

    def last(self, attempt_id: str) -> str:
        """Cursor of the attempt's newest event."""
        stream = self._streams.get(attempt_id)
        return self._cursor(stream.last if stream else 0)

    async def page(
        self, attempt_id: str, after: str | None, limit: int = 1000, wait_s: float = 0.0
    ) -> tuple[list[StreamEntry], str]:
        """Events after the cursor (None = from the start), and the cursor to read on after.

        Waits up to `wait_s` for the first one. ValueError: not a cursor.
        """
        seq = 0 if after is None else self._seq(after)
        rows = await self._after(attempt_id, seq, limit)
        if not rows and wait_s > 0 and not self._closed:
            await self._changed(attempt_id, wait_s)
            rows = await self._after(attempt_id, seq, limit)
        entries = [
            StreamEntry(
                cursor=self._cursor(row.seq),
                at_ms=row.at_ms,
                asserted_by=AssertedBy(row.asserted_by),
                event=msgspec.Raw(row.event),
            )
            for row in rows
        ]
        return entries, entries[-1].cursor if entries else self._cursor(seq)

    async def aclose(self) -> None:
        """Commit what waits and let every reader go."""
        self._closed = True
        for stream in self._streams.values():
            _wake(stream)
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

    def _seq(self, cursor: str) -> int:
        match = _CURSOR.match(cursor)
        if match is None:
            raise ValueError(f"cursor {cursor!r} is not EPOCH.SEQ as this store gives them out")
        seq = int(match["seq"])
        if match["epoch"] != self._epoch or seq > self._last:
            raise CursorGoneError(self._cursor(0))
        return seq

    async def _after(self, attempt_id: str, seq: int, limit: int) -> list[EventRow]:
        stream = self._streams.get(attempt_id)
        if stream is None or stream.last <= seq:
            return []
        if seq < stream.written:
            return await asyncio.to_thread(
                read_events, self._file, attempt_id, seq, limit=limit, max_bytes=MAX_PAGE_BYTES
            )
        rows: list[EventRow] = []
        size = 0
        for row in stream.waiting:
            size += len(row.event)
            if len(rows) == limit or (rows and size > MAX_PAGE_BYTES):
                break
            if row.seq > seq:
                rows.append(row)
        return rows

    async def _changed(self, attempt_id: str, wait_s: float) -> None:
        """Wait for the attempt's next event, or for so long."""
        stream = self._streams.setdefault(attempt_id, _Stream(0, 0))
        woken = self._loop.create_future()
        stream.readers.add(woken)
        try:
            await asyncio.wait([woken], timeout=wait_s)
        finally:
            stream.readers.discard(woken)
            if not stream.last and not stream.readers:
                self._streams.pop(attempt_id, None)

    def _schedule(self, delay_s: float) -> None:
        if self._timer is None and self._batch is None:
            self._timer = self._loop.call_later(delay_s, self._flush)

    def _flush(self) -> None:
        self._timer = None
        rows = tuple(self._waiting)

        def change(db: sqlite3.Connection) -> None:
            insert_events(db, rows)

        self._batch = self._writer.submit(change)
        self._batch.add_done_callback(lambda batch: self._written(len(rows), batch.exception()))

    def _written(self, count: int, error: BaseException | None) -> None:
        self._batch = None
        if error is not None:
            for _, done in self._flushes:
                _settle(done, error)
            self._flushes.clear()
        else:
            for _ in range(count):
                row = self._waiting.popleft()
                stream = self._streams[row.attempt_id]
                stream.waiting.popleft()
                stream.written = row.seq
                self._waiting_bytes -= len(row.event)
            self._answer_flushes()
        if self._waiting and not self._closed:
            self._schedule(BATCH_S if error is None else RETRY_S)

    def _answer_flushes(self) -> None:
        written = self._waiting[0].seq - 1 if self._waiting else self._last
        for seq, done in self._flushes:
            if seq <= written:
                _settle(done, None)
        self._flushes = [flush for flush in self._flushes if flush[0] > written]


def _wake(stream: _Stream) -> None:
    for woken in stream.readers:
        _settle(woken, None)


def _settle(done: "asyncio.Future[None]", error: BaseException | None) -> None:
    if done.done():
        return
    if error is None:
        done.set_result(None)
    else:
        done.set_exception(error)
