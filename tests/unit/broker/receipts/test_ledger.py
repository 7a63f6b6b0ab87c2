import asyncio
import os
import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from fakes.receipts import ATTEMPT, ending, exchange_end, exchange_start, run_open
from stanchion.broker.receipts.bundle import Verified, verify
from stanchion.broker.receipts.ledger import Book, ChainError, Ledger, LedgerError
from stanchion.protocol.receipt import Denied, ExchangeEnd, ExchangeStart, RunClose, RunOpen
from stanchion.protocol.refusal import RefusedError


class Clock:
    def __init__(self) -> None:
        self.now_ms = 1_700_000_000_000

    def __call__(self) -> int:
        self.now_ms += 1
        return self.now_ms


@pytest.fixture
async def ledger(tmp_path: Path) -> AsyncIterator[Ledger]:
    opened = await Ledger.open(tmp_path, now_ms=Clock())
    yield opened
    await opened.aclose()


async def started(ledger: Ledger, attempt_id: str = ATTEMPT) -> Book:
    book = await ledger.begin(attempt_id)
    await book.append(RunOpen, **run_open())
    return book


def verified(data: bytes | None) -> Verified:
    assert data is not None
    found = verify(data)
    assert isinstance(found, Verified), found
    return found


def make_read_only(ledger: Ledger, *, on: bool = True) -> "asyncio.Future[None]":
    """As a full or failing disk does to the writer's connection."""

    def change(db: sqlite3.Connection) -> None:
        db.execute(f"PRAGMA query_only = {int(on)}")

    return ledger.store._writer.submit(change)


async def test_what_was_written_is_a_bundle_that_verifies(ledger: Ledger) -> None:
    book = await started(ledger)
    start = await book.append(ExchangeStart, **exchange_start(1))
    await book.append(ExchangeEnd, **exchange_end(1))
    close = await book.close(**ending(), exchanges=1)

    found = verified(book.bundle())
    assert (start.seq, start.at_ms) == (2, 1_700_000_000_002)
    assert found.header.public_key == ledger.public_key
    assert found.closing == close
    assert found.head == book.head
    assert ledger.bundle(ATTEMPT) == book.bundle()
    assert (book.records, book.exchanges, book.closed) == (4, 1, True)


async def test_an_appended_record_is_in_the_database_when_append_returns(ledger: Ledger) -> None:
    book = await started(ledger)
    for number in range(1, 20):
        record = await book.append(ExchangeStart, **exchange_start(number))
        assert verified(ledger.bundle(ATTEMPT)).records[-1] == record
    assert book.unended == tuple(range(1, 20))


async def test_2000_appends_of_50_tasks_are_one_chain(ledger: Ledger) -> None:
    book = await started(ledger)

    async def requests(task: int) -> list[int]:
        seqs: list[int] = []
        for number in range(20):
            exchange = task * 20 + number + 1
            seqs.append((await book.append(ExchangeStart, **exchange_start(exchange))).seq)
            seqs.append((await book.append(ExchangeEnd, **exchange_end(exchange))).seq)
        return seqs

    told = await asyncio.gather(*(requests(task) for task in range(50)))
    await book.close(**ending())

    assert sorted(seq for seqs in told for seq in seqs) == list(range(2, 2002))
    assert all(seqs == sorted(seqs) for seqs in told)
    assert len(verified(book.bundle()).records) == 2002


async def test_attempts_have_chains_of_their_own(ledger: Ledger) -> None:
    books = [await started(ledger, f"7f3a90c41b22.{number}") for number in range(1, 4)]
    await asyncio.gather(*(book.append(Denied, why="route") for book in books for _ in range(30)))

    assert [verified(book.bundle()).header.attempt for book in books] == [1, 2, 3]
    assert [len(verified(book.bundle()).records) for book in books] == [31, 31, 31]


async def test_an_attempt_begins_once(ledger: Ledger) -> None:
    await started(ledger)

    with pytest.raises(LedgerError, match="has receipts already"):
        await ledger.begin(ATTEMPT)


@pytest.mark.parametrize("attempt_id", ["7f3a90c41b22", "7F3A90C41B22.1", "../x.1"])
async def test_an_attempt_id_is_checked(ledger: Ledger, attempt_id: str) -> None:
    with pytest.raises(ValueError, match="is not RUN"):
        await ledger.begin(attempt_id)


async def test_nothing_is_written_after_the_close(ledger: Ledger) -> None:
    book = await started(ledger)
    await book.close(**ending("refused", score=None))

    with pytest.raises(LedgerError, match="are closed"):
        await book.append(Denied, why="route")
    with pytest.raises(LedgerError, match="are closed"):
        await book.close(**ending())
    again, records = await ledger.resume(ATTEMPT)
    assert again.closed
    assert isinstance(records[-1], RunClose)
    with pytest.raises(LedgerError, match="are closed"):
        await again.append(Denied, why="late")


async def test_a_record_against_the_rules_does_not_stop_the_book(ledger: Ledger) -> None:
    book = await started(ledger)

    with pytest.raises(ChainError, match="ends without a start"):
        await book.append(ExchangeEnd, **exchange_end(1))
    with pytest.raises(ChainError, match="does not count"):
        await book.close(**ending(), exchanges=3)
    await book.append(Denied, why="route")

    assert len(verified(book.bundle()).records) == 2


async def test_an_attempt_without_a_record_has_no_bundle(ledger: Ledger) -> None:
    assert ledger.bundle(ATTEMPT) is None
    await ledger.begin(ATTEMPT)
    assert ledger.bundle(ATTEMPT) is None


async def test_an_open_attempt_goes_on_after_a_restart(tmp_path: Path) -> None:
    ledger = await Ledger.open(tmp_path)
    book = await started(ledger)
    await book.append(ExchangeStart, **exchange_start(1))
    await ledger.aclose()

    ledger = await Ledger.open(tmp_path)
    again, records = await ledger.resume(ATTEMPT)
    assert (again.head, again.records, again.unended) == (book.head, 2, (1,))
    assert [type(record) for record in records] == [RunOpen, ExchangeStart]
    await again.append(ExchangeEnd, **exchange_end(1))
    await again.close(**ending(), exchanges=1)
    assert verified(ledger.bundle(ATTEMPT)).unended == ()
    await ledger.aclose()


async def test_an_attempt_that_only_began_can_be_resumed(ledger: Ledger) -> None:
    await ledger.begin(ATTEMPT)

    book, _ = await ledger.resume(ATTEMPT)
    await book.append(RunOpen, **run_open())
    assert len(verified(book.bundle()).records) == 1


async def test_an_attempt_that_never_began_cannot_be_resumed(ledger: Ledger) -> None:
    with pytest.raises(LedgerError, match="no receipts to resume"):
        await ledger.resume(ATTEMPT)


async def edit(tmp_path: Path, statement: str, *values: Any) -> None:
    ledger = await Ledger.open(tmp_path)
    await started(ledger)
    await ledger.aclose()
    with sqlite3.connect(tmp_path / "broker" / "control.db") as db:
        db.execute(statement, values)
    db.close()


async def test_a_chain_that_was_edited_is_not_resumed(tmp_path: Path) -> None:
    await edit(tmp_path, "UPDATE receipts SET line = cast('{}' AS BLOB) WHERE seq = 1")

    ledger = await Ledger.open(tmp_path)
    with pytest.raises(LedgerError, match="do not verify, record 1"):
        await ledger.resume(ATTEMPT)
    await ledger.aclose()


async def test_a_chain_of_another_key_is_not_resumed(tmp_path: Path) -> None:
    await edit(tmp_path, "UPDATE runs SET view = ?", b"")
    for name in ("signing.key", "signing.pub"):
        (tmp_path / "broker" / name).unlink()

    ledger = await Ledger.open(tmp_path)
    with pytest.raises(LedgerError, match="signed by another key"):
        await ledger.resume(ATTEMPT)
    await ledger.aclose()


async def test_after_a_failed_write_the_book_is_shut_and_can_be_resumed(ledger: Ledger) -> None:
    book = await started(ledger)
    await make_read_only(ledger)
    with pytest.raises(LedgerError, match=r"control\.db could not be written"):
        await book.append(Denied, why="one")
    await make_read_only(ledger, on=False)

    with pytest.raises(LedgerError, match="stopped at a failed write"):
        await book.append(Denied, why="two")
    with pytest.raises(LedgerError, match="stopped at a failed write"):
        await book.close(**ending())
    again, _ = await ledger.resume(ATTEMPT)
    await again.append(Denied, why="three")
    assert [getattr(r, "why", None) for r in verified(again.bundle()).records] == [None, "three"]


async def test_appends_queued_behind_a_failed_write_fail_too(ledger: Ledger) -> None:
    book = await started(ledger)
    blocked = make_read_only(ledger)
    # `blocked` itself fails too where it shares a commit with the appends.
    _, *results = await asyncio.gather(
        blocked, *(book.append(Denied, why=str(n)) for n in range(5)), return_exceptions=True
    )
    await make_read_only(ledger, on=False)

    assert all(isinstance(result, LedgerError) for result in results)
    assert len(verified(book.bundle()).records) == 1


async def test_a_state_folder_has_one_broker(ledger: Ledger, tmp_path: Path) -> None:
    with pytest.raises(RefusedError, match=f"pid {os.getpid()} does") as refused:
        await Ledger.open(tmp_path)
    assert refused.value.refusal.id == "broker_running"


@pytest.mark.parametrize("name", ["control.db", "events.db"])
async def test_a_ledger_that_cannot_be_opened_lets_go_of_the_folder(
    tmp_path: Path, name: str
) -> None:
    await (await Ledger.open(tmp_path)).aclose()
    kept = (tmp_path / "broker" / name).read_bytes()
    (tmp_path / "broker" / name).write_bytes(b"garbage" * 1000)

    with pytest.raises(LedgerError, match=name):
        await Ledger.open(tmp_path)
    (tmp_path / "broker" / name).write_bytes(kept)
    await (await Ledger.open(tmp_path)).aclose()


async def test_the_folder_is_private_and_keys_stay(tmp_path: Path) -> None:
    ledger = await Ledger.open(tmp_path / "state")
    key, name = ledger.public_key, ledger.fingerprint("sk-secret")
    await ledger.aclose()

    again = await Ledger.open(tmp_path / "state")
    assert (again.public_key, again.fingerprint("sk-secret")) == (key, name)
    await again.aclose()
    assert (tmp_path / "state" / "broker").stat().st_mode & 0o777 == 0o700
