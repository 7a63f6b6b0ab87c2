import asyncio
import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from fakes.receipts import ATTEMPT
from stanchion.broker.receipts.store import CROWD, RunRow, RunStore
from stanchion.broker.receipts.writer import LedgerError

RUN = RunRow(
    attempt_id=ATTEMPT,
    directory="/run/stanchion/00112233",
    launch=b"{}",
    launch_sha256="ab",
    untouched_reward="0",
    opened_at_ms=5,
)


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[RunStore]:
    opened = RunStore(tmp_path / "control.db")
    yield opened
    await opened.aclose()


async def test_lines_come_back_in_order(store: RunStore) -> None:
    await store.begin_receipts(ATTEMPT, b"header")
    await asyncio.gather(*(store.append_receipt(ATTEMPT, n, b"%d" % n) for n in range(1, 30)))

    assert store.receipt_lines(ATTEMPT) == [b"header", *(b"%d" % n for n in range(1, 30))]
    assert store.receipt_lines("7f3a90c41b22.2") == []


async def test_lines_of_many_attempts_are_stored_together_each_behind_its_own(
    store: RunStore,
) -> None:
    names = [f"7f3a90c41b22.{number}" for number in range(1, 8)]
    for name in names:
        await store.begin_receipts(name, b"header")
    lines = [(name, seq, b"%d" % seq) for seq in range(1, 101) for name in names]
    lines.insert(50, ("7f3a90c41b22.99", 1, b"of nobody"))
    results = await asyncio.gather(
        *(store.append_receipt(*line) for line in lines), return_exceptions=True
    )

    assert [type(r) for r in results if r is not None] == [LedgerError]
    for name in names:
        assert store.receipt_lines(name) == [b"header", *(b"%d" % n for n in range(1, 101))]


async def test_a_line_behind_one_that_failed_fails_too(store: RunStore) -> None:
    await store.begin_receipts(ATTEMPT, b"header")
    results = await asyncio.gather(
        *(store.append_receipt(ATTEMPT, seq, b"x") for seq in (1, 3, 4, 2)), return_exceptions=True
    )
    assert [type(result) for result in results] == [
        type(None), LedgerError, LedgerError, type(None)
    ]  # fmt: skip
    assert len(store.receipt_lines(ATTEMPT)) == 3


async def test_a_line_that_was_taken_back_is_still_the_next_one(store: RunStore) -> None:
    """It was made, and failed with another change of its group."""
    await store.begin_receipts(ATTEMPT, b"header")
    await store.append_receipt(ATTEMPT, 1, b"one")
    results = await asyncio.gather(
        store.append_receipt(ATTEMPT, 2, b"lost"),
        store._writer.submit(lambda db: db.execute("SELECT * FROM no").close()),
        return_exceptions=True,
    )
    assert [type(result) for result in results] == [LedgerError, LedgerError]

    with pytest.raises(LedgerError, match="no durable record before it"):
        await store.append_receipt(ATTEMPT, 3, b"three")
    await store.append_receipt(ATTEMPT, 2, b"two")
    assert store.receipt_lines(ATTEMPT) == [b"header", b"one", b"two"]


async def test_an_attempt_begins_once(store: RunStore) -> None:
    await store.begin_receipts(ATTEMPT, b"header")

    with pytest.raises(LedgerError, match="has receipts already"):
        await store.begin_receipts(ATTEMPT, b"another")
    assert store.receipt_lines(ATTEMPT) == [b"header"]


@pytest.mark.parametrize("seq", [0, 1, 3])
async def test_only_the_next_line_is_taken(store: RunStore, seq: int) -> None:
    await store.begin_receipts(ATTEMPT, b"header")
    await store.append_receipt(ATTEMPT, 1, b"one")

    with pytest.raises(LedgerError, match=f"record {seq} .* no durable record before it"):
        await store.append_receipt(ATTEMPT, seq, b"other")
    assert store.receipt_lines(ATTEMPT) == [b"header", b"one"]


async def test_a_line_of_no_attempt_is_refused(store: RunStore) -> None:
    with pytest.raises(LedgerError, match="no durable record before it"):
        await store.append_receipt(ATTEMPT, 1, b"one")


async def test_runs_are_known_again_after_a_restart(tmp_path: Path) -> None:
    store = RunStore(tmp_path / "control.db")
    await store.save_run(RUN)
    await store.close_run(ATTEMPT, closed_at_ms=9, view=b"{}")
    await store.aclose()

    store = RunStore(tmp_path / "control.db")
    (run,) = store.runs()
    await store.aclose()
    assert (run.attempt_id, run.directory, run.launch) == (ATTEMPT, RUN.directory, b"{}")
    assert (run.opened_at_ms, run.closed_at_ms, run.view) == (5, 9, b"{}")


async def test_an_attempt_is_one_run(store: RunStore) -> None:
    await store.save_run(RUN)

    with pytest.raises(LedgerError, match="UNIQUE"):
        await store.save_run(RUN)
    assert store.runs() == [RUN]


async def test_where_an_attempt_stands_is_kept_until_it_is_closed(store: RunStore) -> None:
    await store.save_run(RUN)
    assert store.standing(ATTEMPT) is None
    first, second = store.save_standing(ATTEMPT, b"1"), store.save_standing(ATTEMPT, b"2")
    await first
    await second
    assert store.standing(ATTEMPT) == b"2"
    await store.close_run(ATTEMPT, closed_at_ms=9, view=b"{}")
    assert store.standing(ATTEMPT) is None


async def test_the_head_of_every_chain_is_its_last_line(store: RunStore) -> None:
    other = "7f3a90c41b22.2"
    await store.begin_receipts(ATTEMPT, b"header")
    await store.append_receipt(ATTEMPT, 1, b"one")
    await store.append_receipt(ATTEMPT, 2, b"two")
    await store.begin_receipts(other, b"other")
    assert store.heads() == [(ATTEMPT, 2, b"two"), (other, 0, b"other")]


async def test_tables_of_an_older_broker_are_brought_up(tmp_path: Path) -> None:
    db = sqlite3.connect(tmp_path / "control.db")
    db.executescript(
        "CREATE TABLE receipts (attempt TEXT, seq INTEGER, line BLOB); CREATE TABLE tokens (x);"
        "INSERT INTO receipts VALUES ('a', 0, x'31'); PRAGMA user_version = 1;"
    )
    db.close()

    store = RunStore(tmp_path / "control.db")
    await store.save_standing(ATTEMPT, b"1")
    assert (store.standing(ATTEMPT), store.receipt_lines("a")) == (b"1", [b"1"])
    await store.aclose()


async def test_every_commit_is_synced(store: RunStore, tmp_path: Path) -> None:
    seen: list[tuple[str, int]] = []

    def ask(db: sqlite3.Connection) -> None:
        mode = db.execute("PRAGMA journal_mode").fetchone()[0]
        seen.append((mode, db.execute("PRAGMA synchronous").fetchone()[0]))

    await store._writer.submit(ask)
    assert seen == [("wal", 2)]


async def test_receipts_of_many_requests_at_once_share_commits(tmp_path: Path) -> None:
    store = RunStore(tmp_path / "control.db", spacing_s=3600.0)
    store.under_way = CROWD
    await store.begin_receipts(ATTEMPT, b"header")  # nothing was before it that it could follow
    late = [store.append_receipt(ATTEMPT, seq, b"%d" % seq) for seq in (1, 2)]
    await asyncio.sleep(0.02)
    assert not any(done.done() for done in late)
    await store.aclose()
    await asyncio.gather(*late)


async def test_those_of_a_few_are_committed_at_once(tmp_path: Path) -> None:
    store = RunStore(tmp_path / "control.db", spacing_s=3600.0)
    store.under_way = CROWD - 1
    await store.begin_receipts(ATTEMPT, b"header")
    for seq in range(1, 10):
        await store.append_receipt(ATTEMPT, seq, b"%d" % seq)
    await store.aclose()


async def test_tables_of_a_newer_broker_are_refused(tmp_path: Path) -> None:
    await RunStore(tmp_path / "control.db").aclose()
    with sqlite3.connect(tmp_path / "control.db") as db:
        db.execute("PRAGMA user_version = 9")
    db.close()

    with pytest.raises(LedgerError, match="tables of version 9, this broker knows 2"):
        RunStore(tmp_path / "control.db")


async def test_a_file_that_is_no_database_is_refused(tmp_path: Path) -> None:
    (tmp_path / "control.db").write_bytes(b"garbage" * 1000)

    with pytest.raises(LedgerError, match=r"control\.db cannot be used"):
        RunStore(tmp_path / "control.db")
