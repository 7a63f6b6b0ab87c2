"""Process 1 of a sandbox in which a writer appends to a SQLite log and a sensor notices the rows.

Each round of `rounds.json` says in which way (`told`, `polled` or `nothing`), in which folder and
how much. Each row carries the moment of its writing. Prints a JSON line where a
phase begins and where it ends.
"""

import asyncio
import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

sys.path += ["/opt/stanchion/app", "/opt/stanchion/lib/python3.11/site-packages"]

from stanchion.harness_adapters.base import SqliteStore
from stanchion.supervisor.sensors import inotify
from stanchion.supervisor.sensors.file_changes import FileChanges
from stanchion.supervisor.sensors.pace import StoreRhythm
from stanchion.supervisor.sensors.store import Rows, StoreSensor, StoreTail

QUERY = "select rowid, data from event where rowid > ? order by rowid"
WRITER = """
import sys; sys.path += ["/opt/stanchion/lib/python3.11"]
import random, sqlite3, time
log = sqlite3.connect(sys.argv[1], timeout=5, isolation_level=None)
log.execute("pragma journal_mode=wal")
log.execute("pragma synchronous=normal")
log.execute("create table event(data)")
for line in sys.stdin:
    count, pause = line.split()
    for _ in range(int(count)):
        time.sleep(random.uniform(0.5, 1.5) * float(pause))
        log.execute("insert into event values (?)", (str(time.monotonic_ns()),))
    print("written", flush=True)
"""


class Noticed:
    """How long after its writing each row was seen."""

    def __init__(self) -> None:
        self.lags_ms: list[float] = []
        self._moved = asyncio.Event()

    def rows(self, rows: Rows) -> None:
        now_ns = time.monotonic_ns()
        self.lags_ms += [(now_ns - int(str(row[1]))) / 1e6 for row in rows]
        self._moved.set()

    async def until(self, count: int) -> None:
        async with asyncio.timeout(30):
            while len(self.lags_ms) < count:
                self._moved.clear()
                await self._moved.wait()


class CountedTail(StoreTail):
    """Counts its looks."""

    looks = 0

    def look(self, *, writer_gone: bool = False) -> Rows:
        self.looks += 1
        return super().look(writer_gone=writer_gone)


class Round:
    """One way of noticing, measured."""

    def __init__(self, told: dict) -> None:
        self.told = told
        self.path = Path(told["folder"]) / "harness.db"
        self.noticed = Noticed()
        self.errors: list[str] = []
        self.tail = CountedTail(SqliteStore(path=str(self.path), query=QUERY))
        self.rhythm = StoreRhythm(**told.get("rhythm", {}))

    async def run(self) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        changes = FileChanges()
        sensor = StoreSensor(self.tail, self.noticed.rows, self.rhythm, changes)
        self.writer = await asyncio.create_subprocess_exec(
            sys.executable, "-I", "-S", "-c", WRITER, str(self.path),
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        )  # fmt: skip
        async with asyncio.TaskGroup() as tasks:
            noticing = tasks.create_task(self._notice(sensor))
            await self._write(3, 0.3)
            for phase in ("idle", "slow", "fast"):
                await self._phase(phase)
            noticing.cancel()
        changes.close()
        sensor.close()
        self.writer.stdin.close()
        await self.writer.wait()
        say(
            round=self.told["way"],
            rss_bytes=rss_bytes(),
            modules=len(sys.modules),
            errors=self.errors,
        )

    async def _notice(self, sensor: StoreSensor) -> None:
        if self.told["way"] != "nothing":
            await sensor.run(self._failed)

    def _failed(self, error: Exception) -> None:
        self.errors.append(repr(error))

    async def _phase(self, phase: str) -> None:
        self.noticed.lags_ms.clear()
        work = {
            "idle": lambda: asyncio.sleep(self.told["idle_s"]),
            "slow": lambda: self._write(self.told["slow_rows"], 0.5),
            "fast": lambda: self._write(self.told["fast_rows"], 0.005),
        }[phase]
        say(begins=phase, way=self.told["way"])
        before_ms, looks, began = cpu_ms(), self.tail.looks, time.monotonic()
        await work()
        say(
            ends=phase,
            way=self.told["way"],
            cpu_ms=round(cpu_ms() - before_ms),
            passed_ms=round((time.monotonic() - began) * 1000),
            looks=self.tail.looks - looks,
            rows=len(self.noticed.lags_ms),
            lags_ms=spread(self.noticed.lags_ms),
        )

    async def _write(self, count: int, pause_s: float) -> None:
        total = len(self.noticed.lags_ms) + count
        self.writer.stdin.write(f"{count} {pause_s}\n".encode())
        await self.writer.stdin.drain()
        await self.writer.stdout.readline()
        if self.told["way"] != "nothing":
            await self.noticed.until(total)


def no_queue() -> None:
    raise OSError("not in this round")


def cpu_ms() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return (used.ru_utime + used.ru_stime) * 1000


def rss_bytes() -> int:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def spread(lags_ms: Sequence[float]) -> dict[str, float] | None:
    if not lags_ms:
        return None
    ordered = sorted(lags_ms)
    last = len(ordered) - 1
    at = {"median": last // 2, "p95": last * 95 // 100, "max": last}
    return {name: round(ordered[index], 1) for name, index in at.items()}


def say(**line: object) -> None:
    sys.stdout.write(json.dumps(line) + "\n")
    sys.stdout.flush()


async def main(rounds: Sequence[dict]) -> None:
    real = inotify.Inotify
    for told in rounds:
        inotify.Inotify = no_queue if told["way"] == "polled" else real
        await Round(told).run()


asyncio.run(main(json.loads(Path("/run/stanchion/rounds.json").read_text())))
