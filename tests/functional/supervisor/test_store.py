import asyncio
import os
import sqlite3
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from stanchion.harness_adapters.base import SqliteStore
from stanchion.supervisor.sensors.file_changes import FileChanges
from stanchion.supervisor.sensors.pace import StoreRhythm
from stanchion.supervisor.sensors.store import (
    MOST_FILE_BYTES,
    ROWS_A_LOOK,
    Rows,
    StoreSensor,
    StoreTail,
)

QUERY = "select rowid, data from event where rowid > ? order by rowid"
WRITER = """
import sqlite3, sys
db = sqlite3.connect(sys.argv[1], timeout=0, isolation_level=None)
db.execute("pragma journal_mode=wal")
for n in range(4):
    db.execute(f"create table if not exists t{n}(x)")
db.execute("create table event(data)")
for n in range(40):
    db.execute("insert into event values (?)", (str(n),))
print("done", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "harness.db"


@pytest.fixture
def writer(path: Path) -> Iterator[sqlite3.Connection]:
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("pragma journal_mode=wal")
    connection.execute("create table event(data)")
    yield connection
    connection.close()


def tail(path: Path) -> StoreTail:
    return StoreTail(SqliteStore(path=str(path), query=QUERY))


def data(rows: Rows) -> list[object]:
    return [row[1] for row in rows]


@pytest.mark.parametrize("_round", range(20))
def test_looking_never_gets_in_the_way_of_a_harness_that_creates_its_database(
    path: Path, _round: int
) -> None:
    """A reader's lock during the switch to WAL makes the writer fail with `database is locked`."""
    store = tail(path)
    seen: list[object] = []
    with subprocess.Popen(
        [sys.executable, "-c", WRITER, str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    ) as process:
        assert process.stdout is not None
        os.set_blocking(process.stdout.fileno(), False)
        output = b""
        while process.poll() is None and b"done" not in output:
            seen += data(store.look())
            output += process.stdout.read() or b""
            os.sched_yield()
        seen += data(store.look())
        assert process.stdin is not None
        process.stdin.close()
        process.wait(timeout=20)
        os.set_blocking(process.stdout.fileno(), True)
        output += process.stdout.read()
    store.close()
    assert (process.returncode, output) == (0, b"done\n")
    assert seen == [str(n) for n in range(40)]


def test_it_does_not_connect_before_the_log_is_a_log(path: Path) -> None:
    store = tail(path)
    assert store.look() == ()
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("create table event(data)")
    connection.execute("insert into event values ('x')")
    assert store.look() == ()
    assert store._connection is None
    connection.execute("pragma journal_mode=wal")
    connection.execute("insert into event values ('y')")
    assert data(store.look()) == ["x", "y"]
    store.close()
    connection.close()


def test_rows_come_once_over_one_connection(path: Path, writer: sqlite3.Connection) -> None:
    store = tail(path)
    writer.execute("insert into event values ('a')")
    assert data(store.look()) == ["a"]
    first = store._connection
    assert store.look() == []
    writer.execute("insert into event values ('b')")
    assert data(store.look()) == ["b"]
    assert store._connection is first
    store.close()


def test_an_idle_reader_lets_the_log_be_checkpointed(
    path: Path, writer: sqlite3.Connection
) -> None:
    store = tail(path)
    for n in range(ROWS_A_LOOK + 5):
        writer.execute("insert into event values (?)", (n,))
    assert len(store.look()) == ROWS_A_LOOK
    assert writer.execute("pragma wal_checkpoint(truncate)").fetchone()[0] == 0
    assert len(store.look()) == 5
    store.close()


def test_it_cannot_write(path: Path, writer: sqlite3.Connection) -> None:
    store = tail(path)
    writer.execute("insert into event values ('a')")
    store.look()
    assert store._connection is not None
    with pytest.raises(sqlite3.OperationalError, match="readonly"):
        store._connection.execute("delete from event")
    store.close()


def test_a_table_that_is_not_there_yet_is_no_error(path: Path) -> None:
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("pragma journal_mode=wal")
    connection.execute("create table other(x)")
    store = tail(path)
    assert store.look() == ()
    store.close()
    connection.close()


def test_text_that_is_no_text_is_tolerated(path: Path, writer: sqlite3.Connection) -> None:
    writer.execute("insert into event values (cast(x'ff41' as text))")
    store = tail(path)
    assert data(store.look()) == ["\ufffdA"]
    store.close()


def test_a_log_that_never_ends_is_interrupted(path: Path, writer: sqlite3.Connection) -> None:
    writer.execute("drop table event")
    writer.execute(
        "create view event as with recursive r(rowid, data) as "
        "(select 1, 'x' union all select rowid + 1, 'x' from r) select * from r where rowid < 0"
    )
    store = tail(path)
    with pytest.raises(sqlite3.OperationalError, match="interrupted"):
        store.look()
    store.close()


@pytest.mark.parametrize("kind", ["link", "pipe", "folder"])
def test_a_path_that_is_no_plain_file_is_an_error_and_never_opened(
    tmp_path: Path, path: Path, kind: str
) -> None:
    if kind == "link":
        path.symlink_to(tmp_path / "elsewhere")
    elif kind == "pipe":
        os.mkfifo(path)
    else:
        path.mkdir()
    with pytest.raises(OSError, match=r"plain file|regular file"):
        tail(path).look()


def test_garbage_and_sizes_beyond_the_bound_are_errors(path: Path) -> None:
    path.write_bytes(b"\x02" * 4096)
    Path(f"{path}-wal").write_bytes(b"x")
    store = tail(path)
    with pytest.raises(sqlite3.DatabaseError):
        store.look()
    store.close()
    with path.open("r+b") as file:
        file.truncate(MOST_FILE_BYTES + 1)
    with pytest.raises(OSError, match="larger"):
        tail(path).look()


def test_when_the_writer_is_gone_a_database_at_rest_is_read(path: Path) -> None:
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("pragma journal_mode=wal")
    connection.execute("create table event(data)")
    connection.execute("insert into event values ('a')")
    connection.close()  # checkpoints, and takes the log away
    store = tail(path)
    assert store.look() == ()
    assert data(store.look(writer_gone=True)) == ["a"]
    store.close()


@pytest.mark.parametrize("connected_before", [True, False])
def test_what_a_killed_harness_had_written_is_read(path: Path, connected_before: bool) -> None:
    store = tail(path)
    with subprocess.Popen(
        [sys.executable, "-c", WRITER, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        seen = data(store.look()) if connected_before else []
        process.kill()
        process.wait(timeout=20)
    seen += data(store.look(writer_gone=True))
    store.close()
    assert seen == [str(n) for n in range(40)]


class Arrived:
    """The data of the rows that came, and a way to wait for them."""

    def __init__(self) -> None:
        self.data: list[object] = []
        self._moved = asyncio.Event()

    def __call__(self, rows: Rows) -> None:
        self.data += data(rows)
        self._moved.set()

    async def until(self, count: int) -> None:
        async with asyncio.timeout(20):
            while len(self.data) < count:
                self._moved.clear()
                await self._moved.wait()


@asynccontextmanager
async def sensing(path: Path, rhythm: StoreRhythm) -> AsyncIterator[tuple[Arrived, StoreSensor]]:
    arrived, changes = Arrived(), FileChanges(gap_s=0.001)
    errors: list[Exception] = []
    sensor = StoreSensor(tail(path), arrived, rhythm, changes)
    async with asyncio.TaskGroup() as tasks:
        watching = tasks.create_task(sensor.run(errors.append))
        yield arrived, sensor
        watching.cancel()
    changes.close()
    sensor.close()
    assert errors == []


HOUR_S = 3600.0
ONLY_TOLD = StoreRhythm(stamp_s=0.01, idle_s=HOUR_S, told_s=HOUR_S, backstop_s=HOUR_S)
ONLY_SEEN = StoreRhythm(stamp_s=0.005, idle_s=0.01, told_s=0.01, backstop_s=HOUR_S)


@pytest.mark.parametrize("rhythm", [ONLY_TOLD, ONLY_SEEN])
async def test_the_sensor_tells_new_rows(
    path: Path, writer: sqlite3.Connection, rhythm: StoreRhythm
) -> None:
    count = ROWS_A_LOOK * 2 + 1
    async with sensing(path, rhythm) as (arrived, _):
        for n in range(count):
            writer.execute("insert into event values (?)", (n,))
        await arrived.until(count)
        writer.execute("insert into event values (?)", (count,))
        await arrived.until(count + 1)
    assert arrived.data == list(range(count + 1))


async def test_rows_of_a_database_that_is_made_later_are_told(tmp_path: Path) -> None:
    path = tmp_path / "later" / "harness.db"
    rhythm = replace(ONLY_TOLD, idle_s=0.01)  # until the folder is there
    async with sensing(path, rhythm) as (arrived, _):
        path.parent.mkdir()
        connection = sqlite3.connect(path, isolation_level=None)
        connection.execute("pragma journal_mode=wal")
        connection.execute("create table event(data)")
        connection.execute("insert into event values ('first')")
        await arrived.until(1)
        connection.close()


async def test_rows_arrive_where_the_kernel_tells_nothing(tmp_path: Path) -> None:
    """As through a second name of the same files: their writing is told in the other folder."""
    here, there = tmp_path / "here", tmp_path / "there"
    here.mkdir()
    there.mkdir()
    writer = sqlite3.connect(there / "harness.db", isolation_level=None)
    writer.execute("pragma journal_mode=wal")
    writer.execute("create table event(data)")
    for name in ("harness.db", "harness.db-wal", "harness.db-shm"):
        (here / name).hardlink_to(there / name)
    async with sensing(here / "harness.db", ONLY_SEEN) as (arrived, _):
        for n in range(5):
            writer.execute("insert into event values (?)", (n,))
            await arrived.until(n + 1)
    writer.close()


async def test_its_own_reading_is_never_told(path: Path, writer: sqlite3.Connection) -> None:
    """Otherwise each look would bring the next, for the whole run."""
    store, changes = tail(path), FileChanges(gap_s=0)
    told: list[Path] = []
    later = asyncio.Event()
    writer.execute("insert into event values ('a')")
    for file in store.files:
        assert changes.follow(file, partial(told.append, file))
    assert changes.follow(path.with_name("later"), later.set)
    assert [len(store.look()) for _ in range(30)] == [1] + [0] * 29
    path.with_name("later").write_text("")
    async with asyncio.timeout(20):
        await later.wait()  # whatever the looks had caused was told before
    assert told == []
    changes.close()
    store.close()


async def test_a_sensor_that_cannot_read_says_so_and_never_raises() -> None:
    path = Path("/proc")  # a folder
    errors: list[Exception] = []
    sensor = StoreSensor(tail(path), lambda _: None, StoreRhythm(), FileChanges())
    await sensor.read(errors.append)
    await sensor.read(errors.append, writer_gone=True)
    sensor.close()
    assert [isinstance(error, OSError) for error in errors] == [True, True]


async def test_a_look_that_does_not_come_back_is_given_up(path: Path) -> None:
    class Stuck(StoreTail):
        def look(self, *, writer_gone: bool = False) -> Rows:
            del writer_gone
            os.read(self.pipe[0], 1)
            return ()

        pipe = os.pipe()

    stuck = Stuck(SqliteStore(path=str(path), query=QUERY))
    errors: list[Exception] = []
    sensor = StoreSensor(stuck, lambda _: None, StoreRhythm(stuck_s=0.05), FileChanges())
    await sensor.read(errors.append)
    await sensor.run(errors.append)
    assert sensor.stuck
    assert [type(error) for error in errors] == [TimeoutError]
    os.write(Stuck.pipe[1], b"x")
    sensor.close()
    for end in Stuck.pipe:
        os.close(end)
