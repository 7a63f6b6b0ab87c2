"""All SQL of events.db: rows of the merged event stream, and the epoch of the store.

Commits are not synced one by one. A broker that is killed loses none of them; a machine that stops
may lose the last moments, which are then known to be lost, because the store gets a new epoch
unless it was closed well or the machine is still up. Receipts never go here.
"""

import secrets
import sqlite3
from collections.abc import Iterable
from contextlib import closing
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from stanchion.broker.receipts.writer import LedgerError

EVENTS_FILE = "events.db"
SCHEMA_VERSION = 2

LIFECYCLE = (
    "run_opened", "stage", "harness_started", "harness_ended", "stopping", "mismatch",
    "run_closed",
)  # fmt: skip
"""Types of the events that tell where an attempt stands."""

_LISTED = ", ".join(f"'{kind}'" for kind in LIFECYCLE)
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
_SECOND = f"""
ALTER TABLE events ADD COLUMN kind TEXT NOT NULL DEFAULT '';
ALTER TABLE events ADD COLUMN source_seq INTEGER;
UPDATE events SET kind = coalesce(json_extract(CAST(event AS TEXT), '$.type'), '');
CREATE INDEX events_of_lifecycle ON events (seq) WHERE kind IN ({_LISTED});
ALTER TABLE store ADD COLUMN host_boot TEXT;
CREATE TABLE dropped (attempt TEXT NOT NULL PRIMARY KEY, through INTEGER NOT NULL) STRICT;
"""  # noqa: S608 - constants
_COLUMNS = "seq, attempt, at_ms, asserted_by, event, kind, source_seq"
_INSERT = f"INSERT INTO events ({_COLUMNS}) VALUES "  # noqa: S608 - constants
_ROW = "(?, ?, ?, ?, ?, ?, ?)"
_AT_ONCE = 100
"""Rows in one statement, which is one switch between threads: SQLite may allow 999 values."""
_AFTER = f"SELECT {_COLUMNS} FROM events WHERE attempt = ? AND seq > ? ORDER BY seq LIMIT ?"  # noqa: S608 - constants
_LIFECYCLE_AFTER = f"""
SELECT {_COLUMNS} FROM events
WHERE kind IN ({_LISTED}) AND seq > ? AND seq <= ? ORDER BY seq LIMIT ?
"""  # noqa: S608 - constants
_LAST = "SELECT attempt, max(seq) FROM events GROUP BY attempt"
_LAST_SOURCE = "SELECT max(source_seq) FROM events WHERE attempt = ?"
_DROPPED = "SELECT attempt, through FROM dropped"
_EPOCH = "SELECT epoch, closed_well, host_boot FROM store WHERE id = 1"
_OPENED = "INSERT OR REPLACE INTO store (id, epoch, closed_well, host_boot) VALUES (1, ?, 0, ?)"
_CLOSED = "UPDATE store SET closed_well = 1 WHERE id = 1"
_DROP = "INSERT OR REPLACE INTO dropped (attempt, through) VALUES (?, ?)"
_DELETE = """
DELETE FROM events WHERE seq IN (SELECT seq FROM events WHERE attempt = ? ORDER BY seq LIMIT ?)
"""


class EventRow(NamedTuple):
    """One event; `seq` counts over all attempts of the store."""

    seq: int
    attempt_id: str
    at_ms: int
    asserted_by: str
    event: bytes
    kind: str = ""
    """The event's own type word."""
    source_seq: int | None = None
    """Its number at the supervisor that sent it; None = not a supervisor's."""


@dataclass(frozen=True, slots=True)
class OpenedStore:
    """The writer's connection, and what the database held when it was opened."""

    connection: sqlite3.Connection
    epoch: str
    last: dict[str, int]
    """The newest `seq` of each attempt."""
    dropped: dict[str, int]
    """Attempts whose events were dropped, and the last `seq` that went."""
    host_restarted: bool
    """Whether the machine is known to have been restarted since the store was open."""


def open_events(file: Path, *, host_boot: str | None) -> OpenedStore:
    """Open the database; its tables are made where the file is new."""
    try:
        return _open(file, host_boot)
    except sqlite3.Error as error:
        raise LedgerError(f"{file} cannot be used ({error})") from error


def _open(file: Path, host_boot: str | None) -> OpenedStore:
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
    steps = (_SCHEMA, _SECOND)[version:]
    if steps:
        db.executescript(f"BEGIN; {''.join(steps)} PRAGMA user_version = {SCHEMA_VERSION}; COMMIT;")
    # From here on: a step of the tables may touch every row, which memory must not hold.
    db.execute("PRAGMA temp_store=MEMORY")  # a large change is not copied to another folder
    epoch, closed_well, boot = db.execute(_EPOCH).fetchone() or (None, 0, None)
    same_boot = boot is not None and boot == host_boot
    if epoch is None or not (closed_well or same_boot):
        epoch = secrets.token_hex(4)
    db.execute(_OPENED, (epoch, host_boot))
    db.commit()
    return OpenedStore(
        connection=db,
        epoch=epoch,
        last=dict(db.execute(_LAST).fetchall()),
        dropped=dict(db.execute(_DROPPED).fetchall()),
        host_restarted=None not in (boot, host_boot) and not same_boot,
    )


def insert_events(db: sqlite3.Connection, rows: Iterable[EventRow]) -> None:
    """Add rows; the caller commits."""
    waiting = list(rows)
    for start in range(0, len(waiting), _AT_ONCE):
        some = waiting[start : start + _AT_ONCE]
        values = list(chain.from_iterable(some))
        db.execute(_INSERT + ", ".join([_ROW] * len(some)), values)


def mark_closed_well(db: sqlite3.Connection) -> None:
    """Say that nothing is missing, so that the epoch goes on; the caller commits."""
    db.execute(_CLOSED)


def mark_dropped(db: sqlite3.Connection, attempt_id: str, through: int) -> None:
    """Say that an attempt's events up to here are not kept; the caller commits."""
    db.execute(_DROP, (attempt_id, through))


def delete_some(db: sqlite3.Connection, attempt_id: str, limit: int) -> int:
    """Remove the first events of an attempt, so many at most; how many went."""
    return db.execute(_DELETE, (attempt_id, limit)).rowcount


def read_events(
    file: Path, attempt_id: str, after: int, *, limit: int, max_bytes: int
) -> list[EventRow]:
    """Committed events of an attempt after a seq: at least one, if there is one."""
    return _rows(file, _AFTER, (attempt_id, after, limit), max_bytes)[0]


def read_lifecycle(
    file: Path, after: int, through: int, *, limit: int, max_bytes: int
) -> tuple[list[EventRow], bool]:
    """Committed lifecycle events of all attempts between two seqs, and whether that is all.

    At least one, if there is one.
    """
    rows, whole = _rows(file, _LIFECYCLE_AFTER, (after, through, limit), max_bytes)
    return rows, whole and len(rows) < limit


def last_source_seq(file: Path, attempt_id: str) -> int:
    """The number of the supervisor's last committed event; 0 = there is none."""
    ((last,),) = _read(file, _LAST_SOURCE, (attempt_id,))
    return int(last or 0)


def used_bytes(file: Path) -> int:
    """What the rows take on the disk; pages that were freed are used again, not given back."""
    (((pages,),), ((free,),), ((size,),)) = (
        _read(file, f"PRAGMA {name}") for name in ("page_count", "freelist_count", "page_size")
    )
    return int((pages - free) * size)


def _rows(
    file: Path, query: str, values: tuple[object, ...], max_bytes: int
) -> tuple[list[EventRow], bool]:
    """Rows up to a size, and whether the size cut none off."""
    rows: list[EventRow] = []
    size = 0
    try:
        with closing(sqlite3.connect(file)) as db:
            for found in db.execute(query, values):
                row = EventRow(*found)
                size += len(row.event)
                if rows and size > max_bytes:
                    return rows, False
                rows.append(row)
    except sqlite3.Error as error:
        raise LedgerError(f"{file} cannot be read ({error})") from error
    return rows, True


def _read(file: Path, query: str, values: tuple[object, ...] = ()) -> list[tuple[Any, ...]]:
    try:
        with closing(sqlite3.connect(file)) as db:
            return db.execute(query, values).fetchall()
    except sqlite3.Error as error:
        raise LedgerError(f"{file} cannot be read ({error})") from error
