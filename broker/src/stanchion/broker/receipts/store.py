"""All SQL of control.db: receipts, runs and tokens, every commit synced to the disk.

Writes go through the one writer and return when they are durable; reads see only what is. Tokens
are known by their SHA-256 alone. Never on a network file system: WAL needs shared memory.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stanchion.broker.receipts.writer import LedgerError, Writer

CONTROL_FILE = "control.db"
SCHEMA_VERSION = 1

_SCHEMA = """
CREATE TABLE receipts (
    attempt TEXT NOT NULL, seq INTEGER NOT NULL, line BLOB NOT NULL, PRIMARY KEY (attempt, seq)
) STRICT;
CREATE TABLE runs (
    attempt TEXT NOT NULL PRIMARY KEY, directory TEXT NOT NULL, launch BLOB NOT NULL,
    launch_sha256 TEXT NOT NULL, untouched_reward TEXT NOT NULL, opened_at_ms INTEGER NOT NULL,
    closed_at_ms INTEGER, view BLOB
) STRICT;
CREATE TABLE tokens (
    sha256 TEXT NOT NULL PRIMARY KEY, attempt TEXT NOT NULL, kind TEXT NOT NULL,
    generation INTEGER NOT NULL, expires_at_ms INTEGER NOT NULL, revoked_at_ms INTEGER, why TEXT
) STRICT;
CREATE INDEX tokens_of_attempt ON tokens (attempt);
"""
_BEGIN = "INSERT INTO receipts (attempt, seq, line) VALUES (?, 0, ?) ON CONFLICT DO NOTHING"
# Only ever the next line: one that was queued behind a line that failed must fail too.
_APPEND = """
INSERT INTO receipts (attempt, seq, line) SELECT :attempt, :seq, :line
WHERE (SELECT max(seq) FROM receipts WHERE attempt = :attempt) = :seq - 1
"""
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
_ADD_ONE = """
INSERT INTO tokens (sha256, attempt, kind, generation, expires_at_ms) VALUES (?, ?, ?, ?, ?)
"""
_REVOKE_ONE = """
UPDATE tokens SET revoked_at_ms = ?, why = ? WHERE sha256 = ? AND revoked_at_ms IS NULL
"""
_REVOKE_ALL = """
UPDATE tokens SET revoked_at_ms = ?, why = ? WHERE attempt = ? AND revoked_at_ms IS NULL
"""
_TOKENS = """
SELECT sha256, attempt, kind, generation, expires_at_ms, revoked_at_ms, why
FROM tokens WHERE attempt = ? ORDER BY expires_at_ms, sha256
"""


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


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenRow:
    """One token, by its digest."""

    sha256: str
    attempt_id: str
    kind: str
    generation: int
    expires_at_ms: int
    revoked_at_ms: int | None = None
    why: str | None = None


class RunStore:
    """control.db."""

    def __init__(self, file: Path) -> None:
        self._file = file
        with _translated(file):
            self._writer = Writer(_connect(file), name=str(file))

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

    async def append_receipt(self, attempt_id: str, seq: int, line: bytes) -> None:
        """Store one more line. It is queued before the first await: order is the order of calls."""

        def change(db: sqlite3.Connection) -> None:
            values = {"attempt": attempt_id, "seq": seq, "line": line}
            if db.execute(_APPEND, values).rowcount != 1:
                raise LedgerError(
                    f"record {seq} of attempt {attempt_id} has no durable record before it"
                )

        await self._writer.submit(change)

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

    async def put_token(
        self, sha256: str, attempt_id: str, kind: str, generation: int, expires_at_ms: int
    ) -> None:
        values = (sha256, attempt_id, kind, generation, expires_at_ms)
        await self._writer.submit(lambda db: _execute(db, _ADD_ONE, values))

    async def revoke_token(self, sha256: str, *, at_ms: int, why: str) -> None:
        """Mark one token as revoked; the first reason stands."""
        await self._writer.submit(lambda db: _execute(db, _REVOKE_ONE, (at_ms, why, sha256)))

    async def revoke_tokens(self, attempt_id: str, *, at_ms: int, why: str) -> None:
        """Mark every token of an attempt as revoked."""
        await self._writer.submit(lambda db: _execute(db, _REVOKE_ALL, (at_ms, why, attempt_id)))

    def tokens(self, attempt_id: str) -> list[TokenRow]:
        """Every token of an attempt, revoked and expired ones too."""
        return [
            TokenRow(
                sha256=row[0],
                attempt_id=row[1],
                kind=row[2],
                generation=row[3],
                expires_at_ms=row[4],
                revoked_at_ms=row[5],
                why=row[6],
            )
            for row in self._read(_TOKENS, (attempt_id,))
        ]

    def _read(self, query: str, values: tuple[object, ...] = ()) -> list[tuple[Any, ...]]:
        # A connection of its own, so that any thread may read while the writer writes.
        with _translated(self._file), closing(sqlite3.connect(self._file)) as db:
            return db.execute(query, values).fetchall()


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
    if version == 0:
        db.executescript(f"BEGIN; {_SCHEMA} PRAGMA user_version = {SCHEMA_VERSION}; COMMIT;")
    return db
