"""All SQL of control.db: receipts, runs and where open ones stand, every commit synced.

Writes go through the one writer and return when they are durable; reads see only what is. Never on
a network file system: WAL needs shared memory.
"""

import asyncio
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stanchion.broker.receipts.writer import LedgerError, Writer

CONTROL_FILE = "control.db"
SCHEMA_VERSION = 2
CROWD = 64
"""Requests under way from which on their receipts share commits: a commit costs as much processor
time as ten receipts."""
SPACING_S = 0.01
"""Between the beginnings of two commits then: little beside the time that a model takes."""

_SCHEMA = """
CREATE TABLE receipts (
    attempt TEXT NOT NULL, seq INTEGER NOT NULL, line BLOB NOT NULL, PRIMARY KEY (attempt, seq)
) STRICT;
CREATE TABLE runs (
    attempt TEXT NOT NULL PRIMARY KEY, directory TEXT NOT NULL, launch BLOB NOT NULL,
    launch_sha256 TEXT NOT NULL, untouched_reward TEXT NOT NULL, opened_at_ms INTEGER NOT NULL,
    closed_at_ms INTEGER, view BLOB
) STRICT;
"""
_SECOND = """
DROP TABLE IF EXISTS tokens;
CREATE TABLE standing (attempt TEXT NOT NULL PRIMARY KEY, state BLOB NOT NULL) STRICT;
"""
_BEGIN = "INSERT INTO receipts (attempt, seq, line) VALUES (?, 0, ?) ON CONFLICT DO NOTHING"
_APPEND = "INSERT INTO receipts (attempt, seq, line) VALUES "
_LAST = "(SELECT max(seq) FROM receipts WHERE attempt = ?)"
_LINES = "SELECT line FROM receipts WHERE attempt = ? ORDER BY seq"
_SAVE_RUN = """
INSERT INTO runs
    (attempt, directory, launch, launch_sha256, untouched_reward, opened_at_ms, closed_at_ms, view)
VALUES (?, ?, ?, ?, ?, ?, ?, ?)
"""
_CLOSE_RUN = "UPDATE runs SET closed_at_ms = ?, view = ? WHERE attempt = ?"
_RUNS = """
SELECT attempt, directory, launch, launch_sha256, untouched_reward, opened_at_ms, closed_at_ms, view
FROM runs ORDER BY opened_at_ms, attempt
"""
_STANDS = "INSERT OR REPLACE INTO standing (attempt, state) VALUES (?, ?)"
_STANDING = "SELECT state FROM standing WHERE attempt = ?"
_NO_LONGER = "DELETE FROM standing WHERE attempt = ?"
# SQLite takes the other columns of a group from the row that has the maximum.
_HEADS = "SELECT attempt, max(seq), line FROM receipts GROUP BY attempt ORDER BY attempt"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRow:
    """One attempt as the broker must know it again after a restart."""

    attempt_id: str
    directory: str
    launch: bytes
    """Canonical FrozenLaunch."""
    launch_sha256: str
    untouched_reward: str
    opened_at_ms: int
    closed_at_ms: int | None = None
    """None = open."""
    view: bytes | None = None
    """The final RunView as JSON, once closed."""


class RunStore:
    """control.db."""

    def __init__(self, file: Path, *, spacing_s: float = SPACING_S) -> None:
        self._file = file
        self._crowded_spacing_s = spacing_s
        self._tails = _Tails()
        self.under_way = 0
        """Model requests, over all attempts, each of which will have another receipt."""
        with _translated(file):
            self._writer = Writer(
                _connect(file),
                name=str(file),
                on_rollback=self._tails.forget,
                spacing_s=self._spacing_s,
            )

    @property
    def appended(self) -> int:
        """Receipts that became durable since this store was opened, headers not counted."""
        return self._writer.rows

    def _spacing_s(self) -> float:
        return self._crowded_spacing_s if self.under_way >= CROWD else 0.0

    async def aclose(self) -> None:
        await self._writer.aclose()

    async def begin_receipts(self, attempt_id: str, header_line: bytes) -> None:
        """Store the first line of an attempt's chain; an attempt that has one is refused."""

        def change(db: sqlite3.Connection) -> None:
            if db.execute(_BEGIN, (attempt_id, header_line)).rowcount != 1:
                raise LedgerError(
                    f"attempt {attempt_id} has receipts already: "
                    f"resume it, or give the attempt another number"
                )

        await self._writer.submit(change)

    def append_receipt(self, attempt_id: str, seq: int, line: bytes) -> "asyncio.Future[None]":
        """Store one more line. It is queued at once: order is the order of calls."""
        return self._writer.submit_row(self._tails.append, (attempt_id, seq, line))

    def receipt_lines(self, attempt_id: str) -> list[bytes]:
        """All durable lines of an attempt, the header first; empty = no such attempt."""
        return [row[0] for row in self._read(_LINES, (attempt_id,))]

    async def save_run(self, run: RunRow) -> None:
        values = (
            run.attempt_id,
            run.directory,
            run.launch,
            run.launch_sha256,
            run.untouched_reward,
            run.opened_at_ms,
            run.closed_at_ms,
            run.view,
        )
        await self._writer.submit(lambda db: _execute(db, _SAVE_RUN, values))

    async def close_run(self, attempt_id: str, *, closed_at_ms: int, view: bytes) -> None:
        values = (closed_at_ms, view, attempt_id)
        await self._writer.submit(lambda db: _execute(db, _CLOSE_RUN, values))
        await self._writer.submit(lambda db: _execute(db, _NO_LONGER, (attempt_id,)))

    def runs(self) -> list[RunRow]:
        """Every attempt, oldest first."""
        return [
            RunRow(
                attempt_id=row[0],
                directory=row[1],
                launch=row[2],
                launch_sha256=row[3],
                untouched_reward=row[4],
                opened_at_ms=row[5],
                closed_at_ms=row[6],
                view=row[7],
            )
            for row in self._read(_RUNS)
        ]

    def save_standing(self, attempt_id: str, state: bytes) -> "asyncio.Future[None]":
        """Keep where an open attempt stands. Queued at once: a later write is durable later."""
        values = (attempt_id, state)
        return self._writer.submit(lambda db: _execute(db, _STANDS, values))

    def standing(self, attempt_id: str) -> bytes | None:
        """Where an attempt stood last; None = it was never said."""
        rows = self._read(_STANDING, (attempt_id,))
        return rows[0][0] if rows else None

    def heads(self) -> list[tuple[str, int, bytes]]:
        """Every attempt with receipts: its number of records and its last line."""
        return [(row[0], row[1], row[2]) for row in self._read(_HEADS)]

    def _read(self, query: str, values: tuple[object, ...] = ()) -> list[tuple[Any, ...]]:
        # A connection of its own, so that any thread may read while the writer writes.
        with _translated(self._file), closing(sqlite3.connect(self._file)) as db:
            return db.execute(query, values).fetchall()


_Line = tuple[str, int, bytes]
MAX_LINES = 300
"""In one statement: SQLite may allow 999 values (SQLITE_MAX_VARIABLE_NUMBER)."""
MAX_TAILS = 10_000


class _Tails:
    """Appends lines: only ever the next one of an attempt, so that there is never a gap.

    Which that is, it asks the database once and then remembers: each statement is a switch
    between the threads. One behind a line that failed fails too.
    """

    def __init__(self) -> None:
        self._awaited: dict[str, int] = {}
        """By attempt, as of the changes that were made so far."""

    def append(self, db: sqlite3.Connection, lines: list[_Line]) -> list[Exception | None]:
        """Make one change of lines that follow each other; what is wrong with each, or None."""
        wrong: list[Exception | None] = []
        for start in range(0, len(lines), MAX_LINES):
            wrong += self._append_some(db, lines[start : start + MAX_LINES])
        return wrong

    def forget(self) -> None:
        """What was changed has been taken back."""
        self._awaited.clear()

    def _append_some(self, db: sqlite3.Connection, lines: list[_Line]) -> list[Exception | None]:
        awaited = self._awaited_of(db, {attempt for attempt, _, _ in lines})
        values: list[object] = []
        wrong: list[Exception | None] = []
        for line in lines:
            attempt, seq, _ = line
            if awaited.get(attempt) == seq:
                awaited[attempt] = seq + 1
                values += line
                wrong.append(None)
            else:
                why = f"record {seq} of attempt {attempt} has no durable record before it"
                wrong.append(LedgerError(why))
        if values:
            db.execute(_APPEND + ", ".join(["(?, ?, ?)"] * (len(values) // 3)), values)
            self._awaited.update(awaited)
        return wrong

    def _awaited_of(self, db: sqlite3.Connection, attempts: set[str]) -> dict[str, int]:
        """The number that comes next, of each attempt that has a first line."""
        if len(self._awaited) > MAX_TAILS:
            self._awaited.clear()
        unknown = [attempt for attempt in attempts if attempt not in self._awaited]
        if unknown:
            last = db.execute(f"SELECT {', '.join([_LAST] * len(unknown))}", unknown).fetchone()
            for attempt, seq in zip(unknown, last, strict=True):
                if seq is not None:
                    self._awaited[attempt] = seq + 1
        return {name: self._awaited[name] for name in attempts if name in self._awaited}


def _execute(db: sqlite3.Connection, statement: str, values: tuple[object, ...]) -> None:
    db.execute(statement, values)


@contextmanager
def _translated(file: Path) -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as error:
        raise LedgerError(f"{file} cannot be used ({error})") from error


def _connect(file: Path) -> sqlite3.Connection:
    """The writer's connection; the tables are made where the file is new."""
    db = sqlite3.connect(file, check_same_thread=False)
    db.execute("PRAGMA journal_mode=WAL")
    db.execute("PRAGMA synchronous=FULL")
    (version,) = db.execute("PRAGMA user_version").fetchone()
    if version > SCHEMA_VERSION:
        raise LedgerError(
            f"{file} has tables of version {version}, this broker knows {SCHEMA_VERSION}: "
            f"use the newer broker that made it"
        )
    steps = (_SCHEMA, _SECOND)[version:]
    if steps:
        db.executescript(f"BEGIN; {''.join(steps)} PRAGMA user_version = {SCHEMA_VERSION}; COMMIT;")
    # From here on: a step of the tables may touch every row, which memory must not hold.
    db.execute("PRAGMA temp_store=MEMORY")  # a large change is not copied to another folder
    return db
