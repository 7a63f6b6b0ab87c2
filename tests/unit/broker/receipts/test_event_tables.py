import sqlite3
from pathlib import Path

import pytest

from fakes.receipts import ATTEMPT
from stanchion.broker.receipts.event_tables import (
    EventRow,
    insert_events,
    mark_closed_well,
    open_events,
    read_events,
)
from stanchion.broker.receipts.writer import LedgerError

ROWS = [EventRow(n, ATTEMPT, n, "host", b"1234") for n in range(1, 6)]


def test_rows_come_back_as_they_were(tmp_path: Path) -> None:
    file = tmp_path / "events.db"
    opened = open_events(file)
    insert_events(opened.connection, ROWS)
    opened.connection.commit()
    opened.connection.close()

    assert read_events(file, ATTEMPT, 0, limit=10, max_bytes=1000) == ROWS
    assert read_events(file, ATTEMPT, 2, limit=2, max_bytes=1000) == ROWS[2:4]
    assert read_events(file, ATTEMPT, 0, limit=10, max_bytes=9) == ROWS[:2]
    assert read_events(file, ATTEMPT, 0, limit=10, max_bytes=1) == ROWS[:1]
    assert read_events(file, "7f3a90c41b22.2", 0, limit=10, max_bytes=1000) == []


def test_an_epoch_lasts_over_good_ends_only(tmp_path: Path) -> None:
    epochs = []
    for well in (True, True, False, True):
        opened = open_events(tmp_path / "events.db")
        epochs.append(opened.epoch)
        if well:
            mark_closed_well(opened.connection)
            opened.connection.commit()
        opened.connection.close()

    assert epochs[0] == epochs[1] == epochs[2]
    assert epochs[3] != epochs[2]


def test_what_each_attempt_had_is_known(tmp_path: Path) -> None:
    opened = open_events(tmp_path / "events.db")
    insert_events(opened.connection, [*ROWS, EventRow(6, "7f3a90c41b22.2", 6, "host", b"1")])
    opened.connection.commit()
    opened.connection.close()

    again = open_events(tmp_path / "events.db")
    again.connection.close()
    assert again.last == {ATTEMPT: 5, "7f3a90c41b22.2": 6}


def test_tables_of_a_newer_broker_are_refused(tmp_path: Path) -> None:
    opened = open_events(tmp_path / "events.db")
    opened.connection.execute("PRAGMA user_version = 9")
    opened.connection.close()

    with pytest.raises(LedgerError, match="tables of version 9"):
        open_events(tmp_path / "events.db")


def test_garbage_is_refused(tmp_path: Path) -> None:
    (tmp_path / "events.db").write_bytes(b"garbage" * 1000)

    with pytest.raises(LedgerError, match="cannot be used"):
        open_events(tmp_path / "events.db")
    with pytest.raises(LedgerError, match="cannot be read"):
        read_events(tmp_path / "events.db", ATTEMPT, 0, limit=1, max_bytes=1)


def test_the_database_is_a_wal_that_is_not_synced_by_commit(tmp_path: Path) -> None:
    db: sqlite3.Connection = open_events(tmp_path / "events.db").connection

    assert db.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    assert db.execute("PRAGMA synchronous").fetchone() == (1,)
    db.close()
