import os
import sqlite3
from pathlib import Path

import pytest

from fakes.receipts import ATTEMPT
from stanchion.broker.receipts.event_tables import (
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
from stanchion.broker.receipts.writer import LedgerError

ROWS = [EventRow(n, ATTEMPT, n, "host", b"1234") for n in range(1, 6)]


def test_rows_come_back_as_they_were(tmp_path: Path) -> None:
    file = tmp_path / "events.db"
    opened = open_events(file, host_boot="b")
    insert_events(opened.connection, ROWS)
    opened.connection.commit()
    opened.connection.close()

    assert read_events(file, ATTEMPT, 0, limit=10, max_bytes=1000) == ROWS
    assert read_events(file, ATTEMPT, 2, limit=2, max_bytes=1000) == ROWS[2:4]
    assert read_events(file, ATTEMPT, 0, limit=10, max_bytes=9) == ROWS[:2]
    assert read_events(file, ATTEMPT, 0, limit=10, max_bytes=1) == ROWS[:1]
    assert read_events(file, "7f3a90c41b22.2", 0, limit=10, max_bytes=1000) == []


def test_an_epoch_lasts_where_nothing_can_be_lost(tmp_path: Path) -> None:
    """Over good ends, and over bad ones while the machine is up."""
    epochs, restarted = [], []
    for well, boot in [(True, "a"), (False, "b"), (True, "b"), (False, None), (False, None),
                       (False, "c"), (False, "d"), (True, "d")]:  # fmt: skip
        opened = open_events(tmp_path / "events.db", host_boot=boot)
        epochs.append(opened.epoch)
        restarted.append(opened.host_restarted)
        if well:
            mark_closed_well(opened.connection)
            opened.connection.commit()
        opened.connection.close()

    assert epochs[0] == epochs[1] == epochs[2] == epochs[3]
    assert len({epochs[3], *epochs[4:7]}) == 4
    assert epochs[6] == epochs[7]
    assert restarted == [False, True, False, False, False, False, True, False]


def test_lifecycle_events_are_read_over_all_attempts(tmp_path: Path) -> None:
    file = tmp_path / "events.db"
    opened = open_events(file, host_boot=None)
    kinds = ["run_opened", "output", "stage", "vitals", "run_closed"]
    rows = [EventRow(n, f"a{n}", n, "host", b"1234", kind) for n, kind in enumerate(kinds, 1)]
    insert_events(opened.connection, rows)
    opened.connection.commit()
    opened.connection.close()

    assert read_lifecycle(file, 0, 9, limit=9, max_bytes=99) == ([rows[0], rows[2], rows[4]], True)
    assert read_lifecycle(file, 1, 3, limit=9, max_bytes=99) == ([rows[2]], True)
    assert read_lifecycle(file, 0, 9, limit=2, max_bytes=99) == ([rows[0], rows[2]], False)
    assert read_lifecycle(file, 0, 9, limit=9, max_bytes=5) == ([rows[0]], False)


def test_dropped_events_leave_a_mark(tmp_path: Path) -> None:
    file = tmp_path / "events.db"
    opened = open_events(file, host_boot=None)
    insert_events(opened.connection, ROWS)
    mark_dropped(opened.connection, ATTEMPT, 5)
    assert [delete_some(opened.connection, ATTEMPT, 3) for _ in range(3)] == [3, 2, 0]
    opened.connection.commit()
    opened.connection.close()

    again = open_events(file, host_boot=None)
    again.connection.close()
    assert (again.last, again.dropped) == ({}, {ATTEMPT: 5})
    assert used_bytes(file) > 0


def test_the_supervisors_last_number_is_kept_with_its_event(tmp_path: Path) -> None:
    file = tmp_path / "events.db"
    opened = open_events(file, host_boot=None)
    assert last_source_seq(file, ATTEMPT) == 0
    insert_events(
        opened.connection,
        [EventRow(1, ATTEMPT, 1, "sandbox", b"1", "", 7), EventRow(2, ATTEMPT, 1, "host", b"1")],
    )
    opened.connection.commit()
    opened.connection.close()
    assert last_source_seq(file, ATTEMPT) == 7


def test_a_store_of_the_first_version_is_brought_up(tmp_path: Path) -> None:
    file = tmp_path / "events.db"
    db = sqlite3.connect(file)
    db.executescript(
        """
        CREATE TABLE events (seq INTEGER PRIMARY KEY, attempt TEXT NOT NULL, at_ms INTEGER NOT NULL,
          asserted_by TEXT NOT NULL, event BLOB NOT NULL) STRICT;
        CREATE TABLE store (id INTEGER PRIMARY KEY, epoch TEXT NOT NULL,
          closed_well INTEGER NOT NULL) STRICT;
        INSERT INTO store VALUES (1, '00112233', 1);
        PRAGMA user_version = 1;
        """
    )
    db.execute("INSERT INTO events VALUES (4, 'a', 1, 'host', ?)", (b'{"type":"stage"}',))
    db.commit()
    db.close()

    opened = open_events(file, host_boot=None)
    opened.connection.close()
    assert (opened.epoch, opened.last) == ("00112233", {"a": 4})
    rows, _ = read_lifecycle(file, 0, 9, limit=9, max_bytes=99)
    assert [row.kind for row in rows] == ["stage"]


def test_what_each_attempt_had_is_known(tmp_path: Path) -> None:
    opened = open_events(tmp_path / "events.db", host_boot="b")
    insert_events(opened.connection, [*ROWS, EventRow(6, "7f3a90c41b22.2", 6, "host", b"1")])
    opened.connection.commit()
    opened.connection.close()

    again = open_events(tmp_path / "events.db", host_boot="b")
    again.connection.close()
    assert again.last == {ATTEMPT: 5, "7f3a90c41b22.2": 6}


def test_tables_of_a_newer_broker_are_refused(tmp_path: Path) -> None:
    opened = open_events(tmp_path / "events.db", host_boot="b")
    opened.connection.execute("PRAGMA user_version = 9")
    opened.connection.close()

    with pytest.raises(LedgerError, match="tables of version 9"):
        open_events(tmp_path / "events.db", host_boot="b")


def test_garbage_is_refused(tmp_path: Path) -> None:
    (tmp_path / "events.db").write_bytes(b"garbage" * 1000)

    with pytest.raises(LedgerError, match="cannot be used"):
        open_events(tmp_path / "events.db", host_boot="b")
    with pytest.raises(LedgerError, match="cannot be read"):
        read_events(tmp_path / "events.db", ATTEMPT, 0, limit=1, max_bytes=1)
    with pytest.raises(LedgerError, match="cannot be read"):
        used_bytes(tmp_path / "events.db")


def test_the_database_is_a_wal_that_is_not_synced_by_commit(tmp_path: Path) -> None:
    db: sqlite3.Connection = open_events(tmp_path / "events.db", host_boot="b").connection

    assert db.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    assert db.execute("PRAGMA synchronous").fetchone() == (1,)
    db.close()


def test_a_large_batch_is_not_copied_to_another_folder(tmp_path: Path) -> None:
    """A statement that changes many pages keeps them as they were until it is through."""
    db = open_events(tmp_path / "events.db", host_boot=None).connection
    others: set[str] = set()

    def look() -> None:
        files = {os.path.realpath(entry) for entry in Path("/proc/self/fd").iterdir()}
        others.update(file for file in files if "etilqs" in file)  # SQLite's prefix

    rows = [
        EventRow(seq, f"{seq % 50:012x}.1", 5, "broker", b"{%d}" % seq * 150, "output")
        for seq in range(1, 3001)
    ]
    insert_events(db, rows[:2500])
    db.commit()
    db.set_progress_handler(look, 100)
    insert_events(db, rows[2500:])
    db.set_progress_handler(None, 0)
    db.commit()
    db.close()
    assert not others
