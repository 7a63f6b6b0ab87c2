import asyncio
import sqlite3
import threading
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from stanchion.broker.receipts.writer import MAX_GROUP, Change, LedgerError, Writer


def insert(number: int) -> Change:
    def change(db: sqlite3.Connection) -> None:
        db.execute("INSERT INTO numbers VALUES (?)", (number,))

    return change


def statement(sql: str) -> Change:
    def change(db: sqlite3.Connection) -> None:
        db.execute(sql)

    return change


def divide(_: sqlite3.Connection) -> None:
    raise ZeroDivisionError


class Numbers:
    """A database of numbers that counts its commits."""

    def __init__(self, file: Path, spacing_s: float = 0.0) -> None:
        self.file = file
        self.commits: list[str] = []
        self.connection = sqlite3.connect(file, check_same_thread=False)
        self.connection.execute("CREATE TABLE numbers (n INTEGER PRIMARY KEY)")
        self.connection.set_trace_callback(self._trace)
        self.writer = Writer(self.connection, name="numbers.db", spacing_s=lambda: spacing_s)

    def _trace(self, statement: str) -> None:
        if statement.startswith("COMMIT"):
            self.commits.append(statement)

    def stored(self) -> list[int]:
        with sqlite3.connect(self.file) as db:
            found = [row[0] for row in db.execute("SELECT n FROM numbers ORDER BY rowid")]
        db.close()
        return found


@pytest.fixture
async def numbers(tmp_path: Path) -> AsyncIterator[Numbers]:
    database = Numbers(tmp_path / "numbers.db")
    yield database
    await database.writer.aclose()


async def test_a_change_is_durable_when_its_future_is_set(numbers: Numbers) -> None:
    await numbers.writer.submit(insert(7))

    assert numbers.stored() == [7]


async def test_whatever_waits_shares_one_commit(numbers: Numbers) -> None:
    held, free = threading.Event(), threading.Event()

    def hold(db: sqlite3.Connection) -> None:
        held.set()
        free.wait(30)

    first = numbers.writer.submit(hold)
    await asyncio.to_thread(held.wait, 30)
    crowd = [numbers.writer.submit(insert(n)) for n in range(100)]
    free.set()
    await asyncio.gather(first, *crowd)

    assert len(numbers.commits) == 1
    assert numbers.stored() == list(range(100))


async def test_a_crowd_beyond_a_group_is_committed_all_the_same(numbers: Numbers) -> None:
    held, free = threading.Event(), threading.Event()

    def hold(db: sqlite3.Connection) -> None:
        held.set()
        free.wait(30)

    first = numbers.writer.submit(hold)
    await asyncio.to_thread(held.wait, 30)
    crowd = [numbers.writer.submit(insert(n)) for n in range(MAX_GROUP + 5)]
    free.set()
    await asyncio.gather(first, *crowd)

    assert len(numbers.stored()) == MAX_GROUP + 5
    assert len(numbers.commits) == 2


async def test_changes_come_along_with_each_other_where_commits_are_apart(tmp_path: Path) -> None:
    numbers = Numbers(tmp_path / "numbers.db", spacing_s=3600.0)
    await numbers.writer.submit(insert(0))  # nothing was before it
    late = []
    for number in range(1, 20):
        late.append(numbers.writer.submit(insert(number)))
        await asyncio.sleep(0)
    assert not any(done.done() for done in late)
    await numbers.writer.aclose()  # which waits for nobody's company
    await asyncio.gather(*late)
    assert (len(numbers.commits), numbers.stored()) == (2, list(range(20)))


async def test_the_wait_for_company_ends(tmp_path: Path) -> None:
    numbers = Numbers(tmp_path / "numbers.db", spacing_s=0.001)
    for number in range(5):
        await numbers.writer.submit(insert(number))
    assert (len(numbers.commits), numbers.stored()) == (5, list(range(5)))
    await numbers.writer.aclose()


async def test_a_change_against_the_rules_fails_alone(numbers: Numbers) -> None:
    results = await asyncio.gather(
        *(numbers.writer.submit(insert(n)) for n in (1, 1, 2)), return_exceptions=True
    )

    assert [type(result) for result in results] == [type(None), LedgerError, type(None)]
    assert "UNIQUE" in str(results[1])
    assert numbers.stored() == [1, 2]


def insert_all(db: sqlite3.Connection, rows: list[int]) -> list[Exception | None]:
    """Odd numbers only; how many came at once stands in another table."""
    db.execute("INSERT INTO sizes VALUES (?)", (len(rows),))
    odd = [row for row in rows if row % 2]
    db.execute(f"INSERT INTO numbers VALUES {', '.join(['(?)'] * len(odd))}", odd)
    return [None if row % 2 else LedgerError(f"{row} is even") for row in rows]


async def test_rows_of_one_kind_are_made_together_and_each_hears_of_its_own(
    numbers: Numbers,
) -> None:
    await numbers.writer.submit(statement("CREATE TABLE sizes (n)"))
    rows = [numbers.writer.submit_row(insert_all, n) for n in (1, 2, 3)]
    other = numbers.writer.submit(insert(10))
    rows.append(numbers.writer.submit_row(insert_all, 5))
    results = await asyncio.gather(*rows, other, return_exceptions=True)

    assert [str(result) for result in results] == ["None", "2 is even", "None", "None", "None"]
    assert numbers.stored() == [1, 3, 5, 10]
    with sqlite3.connect(numbers.file) as db:
        assert db.execute("SELECT n FROM sizes ORDER BY rowid").fetchall() == [(3,), (1,)]
    db.close()


async def test_rows_that_no_table_takes_fail_together_and_alone(numbers: Numbers) -> None:
    await numbers.writer.submit(statement("CREATE TABLE sizes (n)"))
    await numbers.writer.submit(insert(1))
    rows = [numbers.writer.submit_row(insert_all, n) for n in (1, 3)]
    other = numbers.writer.submit(insert(10))
    results = await asyncio.gather(*rows, other, return_exceptions=True)

    assert [type(result) for result in results] == [LedgerError, LedgerError, type(None)]
    assert numbers.stored() == [1, 10]


async def test_an_error_of_the_change_itself_reaches_its_caller(numbers: Numbers) -> None:
    def refuse(_: sqlite3.Connection) -> None:
        raise LedgerError("not in this order")

    with pytest.raises(LedgerError, match="not in this order"):
        await numbers.writer.submit(refuse)
    with pytest.raises(ZeroDivisionError):
        await numbers.writer.submit(divide)
    await numbers.writer.submit(insert(1))

    assert numbers.stored() == [1]


async def test_a_disk_that_fails_fails_the_whole_group(numbers: Numbers) -> None:
    await numbers.writer.submit(statement("PRAGMA query_only=1"))

    with pytest.raises(LedgerError, match=r"numbers\.db could not be written .*readonly"):
        await numbers.writer.submit(insert(1))

    assert numbers.stored() == []


async def test_a_group_with_one_failed_write_leaves_nothing_behind(numbers: Numbers) -> None:
    held, free = threading.Event(), threading.Event()

    def hold(db: sqlite3.Connection) -> None:
        held.set()
        free.wait(30)

    first = numbers.writer.submit(hold)
    await asyncio.to_thread(held.wait, 30)
    before = numbers.writer.submit(insert(1))
    failing = numbers.writer.submit(statement("SELECT * FROM no"))
    free.set()
    await first
    results = await asyncio.gather(before, failing, return_exceptions=True)

    assert all(isinstance(result, LedgerError) for result in results)
    assert numbers.stored() == []


async def test_a_cancelled_caller_does_not_take_its_change_back(numbers: Numbers) -> None:
    held, free = threading.Event(), threading.Event()

    def hold(db: sqlite3.Connection) -> None:
        held.set()
        free.wait(30)

    first = numbers.writer.submit(hold)
    await asyncio.to_thread(held.wait, 30)
    given_up = numbers.writer.submit(insert(1))
    given_up.cancel()
    free.set()
    await asyncio.gather(first, numbers.writer.submit(insert(2)))

    assert numbers.stored() == [1, 2]


async def test_closing_commits_what_waits_and_refuses_more(tmp_path: Path) -> None:
    numbers = Numbers(tmp_path / "numbers.db")
    waiting = [numbers.writer.submit(insert(n)) for n in range(10)]
    await numbers.writer.aclose()
    await numbers.writer.aclose()

    await asyncio.gather(*waiting)
    assert numbers.stored() == list(range(10))
    with pytest.raises(LedgerError, match="closed"):
        numbers.writer.submit(insert(11))
