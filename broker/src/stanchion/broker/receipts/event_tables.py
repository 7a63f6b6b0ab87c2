"""All SQL of events.db: rows of the merged event stream, and the epoch of the store.

Commits are not synced one by one: the last moments before a power cut may be lost, and are then
known to be lost, because the store gets a new epoch unless it was closed well. Receipts never go
here.
"""

import secrets
import sqlite3
from collections.abc import Iterable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from stanchion.broker.receipts.writer import LedgerError

EVENTS_FILE = "events.db"
SCHEMA_VERSION = 1

_SCHEMA = """
CREATE TABLE events (
    seq INTEGER PRIMARY KEY, attempt TEXT NOT NULL, at_ms INTEGER NOT NULL,
    asserted_by TEXT NOT NULL, event BLOB NOT NULL
) STRICT;
CREATE INDEX events_of_attempt ON events (attempt, seq);
CREATE TABLE store (
    id INTEGER PRIMARY KEY CHECK (id = 1), epoch TEXT NOT NULL, closed_well INTEGER NOT NULL
) STRICT;
"""
_INSERT = "INSERT INTO events (seq, attempt, at_ms, asserted_by, event) VALUES (?, ?, ?, ?, ?)"
_AFTER = """
SELECT seq, attempt, at_ms, asserted_by, event
FROM events WHERE attempt = ? AND seq > ? ORDER BY seq LIMIT ?
"""
_LAST = "SELECT attempt, max(seq) FROM events GROUP BY attempt"
_EPOCH = "SELECT epoch FROM store WHERE id = 1 AND closed_well = 1"
_OPENED = "INSERT OR REPLACE INTO store (id, epoch, closed_well) VALUES (1, ?, 0)"
_CLOSED = "UPDATE store SET closed_well = 1 WHERE id = 1"


@dataclass(frozen=True, slots=True)
class EventRow:
    """One event; `seq` counts over all attempts of the store."""

    seq: int
    attempt_id: str
    at_ms: int
    asserted_by: str
    event: bytes


@dataclass(frozen=True, slots=True)
class OpenedStore:
    """The writer's connection, and what the database held when it was opened."""

    connection: sqlite3.Connection
    epoch: str
    last: dict[str, int]
    """The newest `seq` of each attempt."""


def open_events(file: Path) -> OpenedStore:
    """Open the database; its tables are made where the file is new."""
    try:
        return _open(file)
    except sqlite3.Error as error:
        raise LedgerError(f"{file} cannot be used ({error})") from error


def _open(file: Path) -> OpenedStore:
    db = sqlite3.connect(file, check_same_thread=False)
    db.execute("PRAGMA journal_mode=WAL")
    db.execute("PRAGMA synchronous=NORMAL")
    (version,) = db.execute("PRAGMA user_version").fetchone()
    if version > SCHEMA_VERSION:
        db.close()
        raise LedgerError(
            f"{file} has tables of version {version}, this broker knows {SCHEMA_VERSION}: "
            f"use the newer broker that made it"
        )
    if version == 0:
        db.executescript(f"BEGIN; {_SCHEMA} PRAGMA user_version = {SCHEMA_VERSION}; COMMIT;")
    kept = db.execute(_EPOCH).fetchone()
    epoch: str = kept[0] if kept else secrets.token_hex(4)
    db.execute(_OPENED, (epoch,))
    db.commit()
    return OpenedStore(db, epoch, dict(db.execute(_LAST).fetchall()))


def insert_events(db: sqlite3.Connection, rows: Iterable[EventRow]) -> None:
    """Add rows; the caller commits."""
    db.executemany(
        _INSERT, [(row.seq, row.attempt_id, row.at_ms, row.asserted_by, row.event) for row in rows]
    )


def mark_closed_well(db: sqlite3.Connection) -> None:
    """Say that nothing is missing, so that the epoch goes on; the caller commits."""
    db.execute(_CLOSED)


def read_events(
    file: Path, attempt_id: str, after: int, *, limit: int, max_bytes: int
) -> list[EventRow]:
    """Committed events of an attempt after a seq: at least one, if there is one."""
    rows: list[EventRow] = []
    size = 0
    try:
        with closing(sqlite3.connect(file)) as db:
            for found in db.execute(_AFTER, (attempt_id, after, limit)):
                row = EventRow(*found)
                size += len(row.event)
                if rows and size > max_bytes:
                    break
                rows.append(row)
    except sqlite3.Error as error:
        raise LedgerError(f"{file} cannot be read ({error})") from error
    return rows
