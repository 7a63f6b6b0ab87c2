import asyncio
import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from fakes.receipts import ATTEMPT
from stanchion.broker.receipts import event_store
from stanchion.broker.receipts.event_store import CursorGoneError, EventStore
from stanchion.broker.receipts.writer import LedgerError
from stanchion.protocol.events import AssertedBy, StreamEntry

OTHER = "7f3a90c41b22.2"


def event(number: int) -> bytes:
    return b'{"type":"warning","what":"n","detail":"%d"}' % number


def add(store: EventStore, number: int, attempt_id: str = ATTEMPT) -> str:
    return store.append(attempt_id, AssertedBy.SANDBOX, event(number), 1000 + number)


def told(entries: list[StreamEntry]) -> list[bytes]:
    return [bytes(entry.event) for entry in entries]


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[EventStore]:
    opened = EventStore(tmp_path / "events.db")
    yield opened
    await opened.aclose()


async def test_an_event_is_seen_once_it_is_on_the_disk(store: EventStore, tmp_path: Path) -> None:
    """A reader never sees what the next broker might not know."""
    cursor = add(store, 1)
    assert (await store.page(ATTEMPT, None))[0] == []
    assert rows(tmp_path) == 0

    (entry,), after = await store.page(ATTEMPT, None, wait_s=30)
    assert (entry.cursor, entry.at_ms, entry.asserted_by) == (cursor, 1001, AssertedBy.SANDBOX)
    assert (bytes(entry.event), after) == (event(1), cursor)
    assert rows(tmp_path) == 1


def rows(tmp_path: Path) -> int:
    db = sqlite3.connect(tmp_path / "events.db")
    count: int = db.execute("SELECT count(*) FROM events").fetchone()[0]
    db.close()
    return count


async def test_a_flushed_event_is_on_the_disk(store: EventStore, tmp_path: Path) -> None:
    first, second = add(store, 1), add(store, 2)
    await store.flushed(first)
    await store.flushed(second)
    await store.flushed(second)

    assert rows(tmp_path) == 2
    assert told((await store.page(ATTEMPT, None))[0]) == [event(1), event(2)]


async def test_disk_and_last_batch_make_one_stream(store: EventStore) -> None:
    numbers = iter(range(1, 100))
    seen: list[bytes] = []
    cursor: str | None = None
    for _ in range(9):
        await store.flushed(add(store, next(numbers)))
        add(store, next(numbers))
        await store.flushed(add(store, next(numbers), OTHER))
        while True:
            entries, cursor = await store.page(ATTEMPT, cursor, limit=1)
            if not entries:
                break
            seen += told(entries)

    assert seen == [event(n) for n in range(1, 28) if n % 3]


async def test_a_page_holds_no_more_than_its_limit(store: EventStore) -> None:
    for number in range(5):
        add(store, number)
    await store.flushed(store.last(ATTEMPT))

    entries, cursor = await store.page(ATTEMPT, None, limit=2)
    assert told(entries) == [event(0), event(1)]
    entries, cursor = await store.page(ATTEMPT, cursor, limit=2)
    assert told(entries) == [event(2), event(3)]
    assert told((await store.page(ATTEMPT, cursor, limit=2))[0]) == [event(4)]


async def test_a_page_of_large_events_is_cut_by_size(store: EventStore) -> None:
    large = b'"' + b"x" * (event_store.MAX_PAGE_BYTES // 2) + b'"'
    for _ in range(3):
        cursor = store.append(ATTEMPT, AssertedBy.HOST, large, 1)
    await store.flushed(cursor)

    entries, after = await store.page(ATTEMPT, None)
    assert len(entries) == 1
    assert len((await store.page(ATTEMPT, after))[0]) == 1


async def test_one_event_larger_than_a_page_is_a_page(store: EventStore) -> None:
    cursor = store.append(ATTEMPT, AssertedBy.HOST, b"1" * (event_store.MAX_PAGE_BYTES + 1), 1)
    await store.flushed(cursor)

    assert len((await store.page(ATTEMPT, None))[0]) == 1


async def test_a_waiting_reader_is_woken_by_the_next_event(store: EventStore) -> None:
    cursor = add(store, 1)
    await store.flushed(cursor)
    async with asyncio.timeout(30), asyncio.TaskGroup() as tasks:
        waiting = tasks.create_task(store.page(ATTEMPT, cursor, wait_s=600))
        fresh = tasks.create_task(store.page(OTHER, None, wait_s=600))
        await asyncio.sleep(0)
        assert store.read_up(ATTEMPT, cursor)
        add(store, 2)
        add(store, 3, OTHER)
        assert not store.read_up(ATTEMPT, cursor)

    assert told(waiting.result()[0]) == [event(2)]
    assert told(fresh.result()[0]) == [event(3)]


async def test_many_readers_are_woken_together(store: EventStore) -> None:
    async with asyncio.timeout(30), asyncio.TaskGroup() as tasks:
        readers = [tasks.create_task(store.page(ATTEMPT, None, wait_s=600)) for _ in range(20)]
        await asyncio.sleep(0)
        add(store, 1)

    assert all(told(reader.result()[0]) == [event(1)] for reader in readers)


async def test_a_wait_without_an_event_ends_where_the_store_stands(store: EventStore) -> None:
    """So that a client of a quiet attempt never falls behind what is kept."""
    cursor = add(store, 1)
    await store.flushed(cursor)

    assert await store.page(ATTEMPT, cursor, wait_s=0.01) == ([], cursor)
    assert await store.page(ATTEMPT, cursor) == ([], cursor)
    assert await store.page(OTHER, None, wait_s=0.01) == ([], cursor)
    assert OTHER not in store._streams
    await store.flushed(later := add(store, 2, OTHER))
    assert await store.page(ATTEMPT, cursor) == ([], later)


async def test_closing_lets_waiting_readers_go(tmp_path: Path) -> None:
    store = EventStore(tmp_path / "events.db")
    async with asyncio.timeout(30), asyncio.TaskGroup() as tasks:
        waiting = tasks.create_task(store.page(ATTEMPT, None, wait_s=600))
        await asyncio.sleep(0)
        await store.aclose()

    assert waiting.result()[0] == []


async def test_the_stream_goes_on_after_a_good_end(tmp_path: Path) -> None:
    store = EventStore(tmp_path / "events.db")
    first = add(store, 1)
    await store.aclose()

    store = EventStore(tmp_path / "events.db")
    assert store.last(ATTEMPT) == first
    await store.flushed(add(store, 2))
    assert told((await store.page(ATTEMPT, None))[0]) == [event(1), event(2)]
    assert told((await store.page(ATTEMPT, first))[0]) == [event(2)]
    await store.aclose()


async def test_a_broker_that_was_killed_loses_no_cursor(tmp_path: Path) -> None:
    killed = EventStore(tmp_path / "events.db", host_boot="b")
    cursor = add(killed, 1)
    await killed.flushed(cursor)
    add(killed, 2)  # never committed, so never seen
    assert killed._timer is not None
    killed._timer.cancel()

    store = EventStore(tmp_path / "events.db", host_boot="b")
    assert not store.host_restarted
    assert await store.page(ATTEMPT, cursor) == ([], cursor)
    await store.flushed(add(store, 3))
    assert told((await store.page(ATTEMPT, cursor))[0]) == [event(3)]
    await store.aclose()
    await killed._writer.aclose()


async def test_a_cursor_from_before_the_machine_stopped_is_refused(tmp_path: Path) -> None:
    crashed = EventStore(tmp_path / "events.db", host_boot="b")
    cursor = add(crashed, 1)
    await crashed.flushed(cursor)

    store = EventStore(tmp_path / "events.db", host_boot="c")
    assert store.host_restarted
    with pytest.raises(CursorGoneError) as gone:
        await store.page(ATTEMPT, cursor)
    assert told((await store.page(ATTEMPT, gone.value.oldest))[0]) == [event(1)]
    await store.aclose()
    await crashed._writer.aclose()


async def test_a_cursor_that_was_never_given_out_is_refused(store: EventStore) -> None:
    epoch = add(store, 1).partition(".")[0]

    with pytest.raises(CursorGoneError):
        await store.page(ATTEMPT, f"{epoch}.2")
    with pytest.raises(CursorGoneError):
        await store.flushed(f"{'0' * 8}.1")
    for text in ("", "1", f"{epoch}.", f"{epoch}.01", f"{epoch}.-1", f"{epoch}.1\n"):
        with pytest.raises(ValueError, match="is not EPOCH"):
            await store.page(ATTEMPT, text)


def refuse_writes(store: EventStore, *, on: bool) -> "asyncio.Future[None]":
    def change(db: sqlite3.Connection) -> None:
        db.execute(f"PRAGMA query_only = {int(on)}")

    return store._writer.submit(change)


async def test_events_are_kept_while_the_disk_does_not_take_them(store: EventStore) -> None:
    await refuse_writes(store, on=True)
    first = add(store, 1)
    with pytest.raises(LedgerError, match=r"events\.db could not be written"):
        await store.flushed(first)
    assert told((await store.page(ATTEMPT, None))[0]) == []

    await refuse_writes(store, on=False)
    second = add(store, 2)
    async with asyncio.timeout(30):
        await store.flushed(second)
    assert told((await store.page(ATTEMPT, None))[0]) == [event(1), event(2)]


async def test_events_that_wait_are_bounded(store: EventStore) -> None:
    piece = b"1" * (event_store.MAX_WAITING_BYTES // 4)
    for _ in range(4):
        last = store.append(ATTEMPT, AssertedBy.HOST, piece, 1)

    with pytest.raises(LedgerError, match="does not take events"):
        add(store, 5)
    await store.flushed(last)
    add(store, 5)


async def test_a_store_that_could_not_write_its_end_says_so_and_changes_its_epoch(
    tmp_path: Path,
) -> None:
    store = EventStore(tmp_path / "events.db")
    await refuse_writes(store, on=True)
    cursor = add(store, 1)
    with pytest.raises(LedgerError):
        await store.aclose()
    with pytest.raises(LedgerError, match="closed"):
        add(store, 2)

    again = EventStore(tmp_path / "events.db")
    with pytest.raises(CursorGoneError):
        await again.page(ATTEMPT, cursor)
    await again.aclose()


async def test_closing_waits_for_a_batch_that_is_on_its_way(tmp_path: Path) -> None:
    store = EventStore(tmp_path / "events.db")
    add(store, 1)
    store._timer.cancel() if store._timer else None
    store._flush()
    add(store, 2)
    await store.aclose()

    assert rows(tmp_path) == 2


async def test_a_cancelled_wait_for_the_disk_harms_nobody(store: EventStore) -> None:
    cursor = add(store, 1)
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(store.flushed(cursor), 0)
    await store.flushed(cursor)

    assert store._flushes == []


async def test_dropped_events_are_refused_by_name_of_the_oldest_cursor(tmp_path: Path) -> None:
    store = EventStore(tmp_path / "events.db")
    first = add(store, 1)
    await store.flushed(last := add(store, 2))
    await store.flushed(other := add(store, 3, OTHER))
    await store.drop(ATTEMPT)
    await store.drop("never heard of")
    assert rows(tmp_path) == 1
    await store.aclose()

    store = EventStore(tmp_path / "events.db")
    for cursor in (None, first):
        with pytest.raises(CursorGoneError) as gone:
            await store.page(ATTEMPT, cursor)
        assert gone.value.oldest == last
    assert store.oldest == last == store.last(ATTEMPT)
    with pytest.raises(CursorGoneError):
        await store.lifecycle(first, 10, 0)
    assert await store.page(ATTEMPT, last) == ([], other)
    assert store.read_up(ATTEMPT, last)
    assert told((await store.page(OTHER, None))[0]) == [event(3)]
    assert (store.kept(ATTEMPT), store.kept(OTHER)) == (False, True)
    assert await store.used_bytes() > 0
    await store.aclose()


async def test_a_number_is_never_given_twice_although_the_newest_events_went(
    tmp_path: Path,
) -> None:
    store = EventStore(tmp_path / "events.db")
    await store.flushed(first := add(store, 1))
    await store.drop(ATTEMPT)
    await store.aclose()

    store = EventStore(tmp_path / "events.db")
    assert add(store, 2) == f"{first.partition('.')[0]}.2"
    await store.aclose()


async def test_more_events_than_one_commit_takes_are_dropped_whole(
    store: EventStore, tmp_path: Path
) -> None:
    for number in range(event_store.DELETED_AT_ONCE + 1):
        cursor = add(store, number)
    await store.flushed(cursor)
    await store.drop(ATTEMPT)

    assert rows(tmp_path) == 0


def told_of(store: EventStore, attempt_id: str, kind: str) -> str:
    return store.append(attempt_id, AssertedBy.BROKER, b'{"type":"%b"}' % kind.encode(), 1)


async def test_the_lives_of_all_attempts_are_read_by_one_cursor(store: EventStore) -> None:
    start = (await store.lifecycle(None, 10, 0)).cursor
    opened = told_of(store, ATTEMPT, "run_opened")
    told_of(store, ATTEMPT, "output")
    closed = told_of(store, OTHER, "run_closed")
    await store.flushed(last := add(store, 4, OTHER))

    page = await store.lifecycle(start, 10, 0)
    assert [store.cursor_of(row) for row in page.rows] == [opened, closed]
    assert (page.cursor, page.touched) == (last, {ATTEMPT, OTHER})
    first = await store.lifecycle(start, 1, 0)
    assert [row.attempt_id for row in first.rows] == [ATTEMPT]
    rest = await store.lifecycle(first.cursor, 10, 0)
    assert [row.attempt_id for row in rest.rows] == [OTHER]
    assert (await store.lifecycle(last, 10, 0.01)).rows == ()
    assert (await store.lifecycle(None, 10, 0)).cursor == last


@pytest.mark.parametrize("kind", ["vitals", "stage"])
async def test_news_of_any_attempt_wake_who_waits_for_all(store: EventStore, kind: str) -> None:
    start = (await store.lifecycle(None, 10, 0)).cursor
    async with asyncio.timeout(30), asyncio.TaskGroup() as tasks:
        waiting = tasks.create_task(store.lifecycle(start, 10, 600))
        await asyncio.sleep(0)
        told_of(store, OTHER, kind)

    assert waiting.result().touched == {OTHER}
    assert len(waiting.result().rows) == (kind == "stage")
