"""Tails the SQLite log of a harness, read-only, so that observing can never fail the run.

Connects only once the database is in WAL mode and something is in its log: a reader's lock during
the switch makes the harness's own `PRAGMA journal_mode=WAL` fail with "database is locked". The
index of the log is opened read-only too, for an ordinary reader may lock writers out to repair it
(SQLite, "Write-Ahead Logging", sections 8 and 11). One connection for the whole run, short selects.
The file is the agent's to write: its path is checked, sizes and the time of a select are bounded.
"""

import asyncio
import os
import sqlite3
import time
from collections.abc import Callable, Sequence
from concurrent.futures.thread import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Protocol
from urllib.parse import quote

from stanchion.harness_adapters.base import SqliteStore
from stanchion.supervisor.regular_files import open_regular
from stanchion.supervisor.sensors.file_changes import FileChanges
from stanchion.supervisor.sensors.pace import Pace, StoreRhythm

HEADER_BYTES = 20
WAL_FORMAT = 2
"""Bytes 18 and 19 of the file header: 2 = write-ahead log (SQLite, "Database File Format")."""
MOST_FILE_BYTES = 4 * 1024**3
MOST_VALUE_BYTES = 16 * 1024 * 1024
ROWS_A_LOOK = 200
LOOK_S = 2.0
STEPS_A_CHECK = 10_000

NOT_NOW = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_PROTOCOL, sqlite3.SQLITE_READONLY)
"""Primary codes of a log that its writer is just opening or repairing; the next look will do."""

Rows = Sequence[Sequence[object]]
Stamp = tuple[int, int, int, int] | None


class Tail(Protocol):
    """What the sensor asks of the reader of a store, whatever kind it is of."""

    @property
    def files(self) -> tuple[Path, ...]:
        """Files whose change means that there may be more to read."""
        ...

    def stamp(self) -> Stamp:
        """Changes whenever something was written."""
        ...

    def look(self, *, writer_gone: bool = False) -> Rows:
        """New rows, at most ROWS_A_LOOK; fewer only where there are no more."""
        ...

    def close(self) -> None:
        """Let go of the store."""
        ...


class StoreTail:
    """The reader of one store; a call may raise OSError or sqlite3.Error, which mean unknown."""

    def __init__(self, store: SqliteStore) -> None:
        self._query = store.query
        self._cursor: object = store.first_cursor
        self._path = Path(store.path)
        self._wal = Path(f"{store.path}-wal")
        self._connection: sqlite3.Connection | None = None
        self._look_ends = 0.0

    @property
    def files(self) -> tuple[Path, ...]:
        """Written with each commit: the log, or the database itself."""
        return (self._path, self._wal)

    def stamp(self) -> Stamp:
        """Changes whenever the log was written; a look at the file system only."""
        try:
            main, wal = self._path.lstat(), self._wal.lstat()
        except OSError:
            return None
        return (main.st_size, main.st_mtime_ns, wal.st_size, wal.st_mtime_ns)

    def look(self, *, writer_gone: bool = False) -> Rows:
        """New rows, at most ROWS_A_LOOK; fewer only where there are no more."""
        if self._connection is None and not self._connect(writer_gone=writer_gone):
            return ()
        assert self._connection is not None
        self._look_ends = time.monotonic() + LOOK_S
        try:
            cursor = self._connection.execute(self._query, (self._cursor,))
            rows = cursor.fetchmany(ROWS_A_LOOK)
            cursor.close()  # ends the read transaction, so that the log can be checkpointed
        except sqlite3.OperationalError as error:
            not_made_yet = "no such table" in str(error)
            if not writer_gone and (not_made_yet or error.sqlite_errorcode & 0xFF in NOT_NOW):
                return ()
            raise
        if rows:
            self._cursor = rows[-1][0]
        return rows

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _connect(self, *, writer_gone: bool) -> bool:
        if not self._is_safe(writer_gone=writer_gone):
            return False
        # Without a log of its own a database at rest is whole in its main file.
        mode = "mode=ro&readonly_shm=1" if self._wal.exists() else "immutable=1"
        connection = sqlite3.connect(
            f"file:{quote(str(self._path))}?{mode}",
            uri=True,
            timeout=0,
            isolation_level=None,
            check_same_thread=False,
        )
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MOST_VALUE_BYTES)
        connection.execute("PRAGMA query_only = 1")
        connection.execute("PRAGMA trusted_schema = 0")
        connection.execute("PRAGMA mmap_size = 0")
        connection.text_factory = _tolerant
        connection.set_progress_handler(self._too_long, STEPS_A_CHECK)
        self._connection = connection
        return True

    def _is_safe(self, *, writer_gone: bool) -> bool:
        """Whether a reader cannot be in anybody's way: the switch to WAL is over."""
        try:
            file = open_regular(self._path)
        except FileNotFoundError:
            return False
        with os.fdopen(file, "rb") as stream:
            header = stream.read(HEADER_BYTES)
            if os.fstat(stream.fileno()).st_size > MOST_FILE_BYTES:
                raise OSError(f"{self._path} is larger than {MOST_FILE_BYTES} bytes")
        if len(header) < HEADER_BYTES:
            return False
        if writer_gone:
            return True
        if header[18] != WAL_FORMAT:
            return False
        try:
            wal = open_regular(self._wal)
        except FileNotFoundError:
            return False
        with os.fdopen(wal, "rb") as stream:
            return os.fstat(stream.fileno()).st_size > 0

    def _too_long(self) -> int:
        return int(time.monotonic() > self._look_ends)


def _tolerant(value: bytes) -> str:
    return value.decode("utf-8", "replace")


class StoreSensor:
    """Looks when the log was written and now and then anyway, in a thread of its own."""

    def __init__(
        self,
        tail: Tail,
        on_rows: Callable[[Rows], None],
        rhythm: StoreRhythm,
        changes: FileChanges,
    ) -> None:
        self._tail = tail
        self._on_rows = on_rows
        self._rhythm = rhythm
        self._changes = changes
        self._told = asyncio.Event()
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="store")
        self._looking: asyncio.Future[Rows] | None = None
        self.stuck = False

    async def run(self, on_error: Callable[[Exception], None]) -> None:
        """Until cancelled, or until a look does not come back."""
        pace = Pace(self._rhythm)
        last: Stamp = None
        while not self.stuck:
            told = self._told.is_set()
            self._told.clear()
            followed, stamp, missed = self._follow(), self._tail.stamp(), pace.missed
            step = pace.step(told=told, changed=stamp != last, followed=followed)
            last = stamp
            if pace.missed > missed:  # perhaps another folder is at the path by now
                self._changes.renew(self._tail.files[0])
                self._follow()
            if step.look and not await self.read(on_error) and step.eager:
                await asyncio.sleep(self._rhythm.again_s)
                await self.read(on_error)
            await self._rest(step.rest_s, light=step.light)

    def _follow(self) -> bool:
        return all(self._changes.follow(path, self._told.set) for path in self._tail.files)

    async def _rest(self, seconds: float, *, light: bool) -> None:
        if not light:
            await asyncio.sleep(seconds)
            return
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._told.wait()

    async def read(
        self, on_error: Callable[[Exception], None], *, writer_gone: bool = False
    ) -> int:
        """All rows there are now; says how many."""
        look = partial(self._tail.look, writer_gone=writer_gone)
        count = 0
        try:
            more = not self.stuck
            while more:
                async with asyncio.timeout(self._rhythm.stuck_s):
                    rows = await self._finished(look)
                self._on_rows(rows)
                count += len(rows)
                more = len(rows) == ROWS_A_LOOK
        except TimeoutError as error:
            self.stuck = True
            on_error(error)
        except (OSError, sqlite3.Error) as error:
            on_error(error)
        return count

    async def _finished(self, look: Callable[[], Rows]) -> Rows:
        """A look's rows. One whose waiter was cancelled is waited for again: its rows are read."""
        if self._looking is None:
            self._looking = asyncio.get_running_loop().run_in_executor(self._thread, look)
        looking = self._looking
        await asyncio.wait([looking])
        self._looking = None
        return looking.result()

    def close(self) -> None:
        """Let go of the store; a stuck thread is left behind."""
        self._thread.shutdown(wait=False, cancel_futures=True)
        if not self.stuck:
            self._tail.close()
