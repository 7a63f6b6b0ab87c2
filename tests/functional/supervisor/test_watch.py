import asyncio
import os
import sqlite3
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from fakes.attempt import a_spec
from fakes.scripted_harness import ScriptedSession
from stanchion.harness_adapters.base import LinesStore, SqliteStore, Store
from stanchion.protocol.control import ExchangeSeen, WireEvent
from stanchion.protocol.events import (
    Event,
    ExchangeEnded,
    HarnessEnded,
    StepSaved,
    Stopping,
    TranscriptChanged,
    VitalsSampled,
    Warned,
)
from stanchion.protocol.evidence import AnswerState, Stop, StopReason, WaitStatus
from stanchion.protocol.exchange import Answered, ExchangeResult
from stanchion.protocol.launch import Isolation, WatchdogLimits
from stanchion.supervisor.answers import Answers
from stanchion.supervisor.clock import SystemClock
from stanchion.supervisor.isolation import Job, start
from stanchion.supervisor.relay import Relay
from stanchion.supervisor.watch import Rhythm, Watch

QUICK = Rhythm(tick_s=0.05, vitals_s=0.1, term_s=0.3, pipes_s=1)
STARTS = frozenset({"os.fork", "os.forkpty", "os.posix_spawn", "os.exec", "subprocess.Popen"})
"""Audit events of the interpreter (Python's audit events table)."""
GOOD = Answered(result=ExchangeResult.COMPLETED, text_present=True)


class Told:
    """What was published, and a way to wait for it."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self._moved = asyncio.Event()

    def publish(self, event: Event) -> None:
        self.events.append(event)
        self._moved.set()

    def count(self, kind: type) -> int:
        return sum(isinstance(event, kind) for event in self.events)

    async def until(self, kind: type, count: int = 1) -> None:
        async with asyncio.timeout(20):
            while self.count(kind) < count:
                self._moved.clear()
                await self._moved.wait()


@asynccontextmanager
async def watching(
    script: str,
    told: Told,
    *,
    store: Store | None = None,
    limits: WatchdogLimits | None = None,
    argv: Sequence[str] = (),
    answers: Answers | None = None,
    rhythm: Rhythm = QUICK,
) -> AsyncIterator[Watch]:
    relay = Relay(Path("/nowhere"), lambda: "LEASE")
    await relay.open()
    job = Job(
        argv=tuple(argv) or ("/bin/bash", "-c", script),
        env={"PATH": "/usr/bin:/bin"},
        cwd="/",
        isolation=Isolation.NONE,
    )
    agent = await start(job)
    await agent.release()
    yield Watch(
        agent,
        spec=a_spec(watchdog=limits or WatchdogLimits()),
        reader=ScriptedSession(),
        store=store,
        answers=answers or Answers(None),
        relay=relay,
        publish=told.publish,
        clock=SystemClock(),
        rhythm=rhythm,
    )
    await relay.close()


async def test_an_end_is_told_with_its_raw_status() -> None:
    told = Told()
    async with watching("exit 7", told) as watch:
        end = await watch.run()
    assert end.process.wait == WaitStatus(exit_code=7)
    assert (end.stop, end.hung_after_end, end.progress_age_ms) == (None, False, None)
    assert told.count(HarnessEnded) == 1


async def test_a_program_that_cannot_be_started_is_an_end_with_a_reason() -> None:
    async with watching("", Told(), argv=("/nowhere/program",)) as watch:
        end = await watch.run()
    assert end.process.wait is None
    assert end.process.why is not None


async def test_the_first_order_wins_and_is_told_once() -> None:
    told = Told()
    first = Stop(reason=StopReason.BUDGET, detail="1")
    async with watching("sleep 60", told) as watch, asyncio.TaskGroup() as tasks:
        running = tasks.create_task(watch.run())
        await told.until(VitalsSampled)
        watch.order(first)
        watch.order(Stop(reason=StopReason.CANCELLED, detail="2"))
        end = await running
    assert end.stop == first
    assert told.count(Stopping) == 1


async def test_an_order_after_the_end_changes_nothing() -> None:
    told = Told()
    async with watching("true", told) as watch:
        await watch.run()
        watch.order(Stop(reason=StopReason.BUDGET, detail="late"))
    assert told.count(Stopping) == 0


async def test_leftovers_that_hold_the_pipes_do_not_hold_the_end() -> None:
    async with watching("sleep 300 & exit 0", Told()) as watch:
        async with asyncio.timeout(20):
            end = await watch.run()
    assert end.process.wait == WaitStatus(exit_code=0)


async def test_wire_and_saved_step_together_are_progress() -> None:
    told = Told()
    script = 'echo \'{"step": "stop"}\'; sleep 60'
    async with watching(script, told) as watch, asyncio.TaskGroup() as tasks:
        running = tasks.create_task(watch.run())
        await told.until(StepSaved)
        watch.wire(ExchangeSeen(exchange=1))
        watch.wire(WireEvent(event=ExchangeEnded(exchange=1, answered=GOOD)))
        await told.until(VitalsSampled, told.count(VitalsSampled) + 2)
        watch.order(Stop(reason=StopReason.CANCELLED, detail="enough"))
        end = await running
    vitals = [event.vitals for event in told.events if isinstance(event, VitalsSampled)][-1]
    assert (vitals.steps, vitals.requests, vitals.waiting) == (1, 1, False)
    assert vitals.progress_age_ms is not None
    assert end.progress_age_ms is not None


async def test_what_fails_again_and_again_is_stopped() -> None:
    told = Told()
    broken = Answered(result=ExchangeResult.TRUNCATED)
    limits = WatchdogLimits(max_failing_steps=3)
    async with watching("sleep 60", told, limits=limits) as watch, asyncio.TaskGroup() as tasks:
        running = tasks.create_task(watch.run())
        for exchange in range(3):
            watch.wire(WireEvent(event=ExchangeEnded(exchange=exchange, answered=broken)))
        end = await running
    assert end.stop is not None
    assert end.stop.reason is StopReason.STALLED_FAILING


async def test_a_store_is_read_to_its_last_row_after_the_end(tmp_path: Path) -> None:
    path = tmp_path / "log.db"
    writer = sqlite3.connect(path, isolation_level=None)
    writer.execute("pragma journal_mode=wal")
    writer.execute("create table event(data)")
    for number in range(450):
        writer.execute("insert into event values (?)", (f'{{"text": "{number}"}}',))
    store = SqliteStore(path=str(path), query="select rowid, data from event where rowid > ?")
    told = Told()
    async with watching("true", told, store=store) as watch:
        await watch.run()
    writer.close()
    said = [event.item.text for event in told.events if isinstance(event, TranscriptChanged)]
    assert said == [str(number) for number in range(450)]


async def test_a_store_of_lines_is_read_to_its_last_line_after_the_end(tmp_path: Path) -> None:
    folder = tmp_path / "sessions"
    many = f'mkdir -p {folder}/1; seq -f \'{{"text": "%g"}}\' 0 449 > {folder}/1/a.jsonl'
    told = Told()
    async with watching(many, told, store=LinesStore(folder=str(folder))) as watch:
        await watch.run()
    said = [event.item.text for event in told.events if isinstance(event, TranscriptChanged)]
    assert said == [str(number) for number in range(450)]


@pytest.mark.parametrize("garbage", [b"SQLite format 3\0" + b"\2" * 4000, b"\2" * 100])
async def test_a_store_of_garbage_is_one_warning_and_never_an_end(
    tmp_path: Path, garbage: bytes
) -> None:
    path = tmp_path / "log.db"
    path.write_bytes(garbage)
    path.with_name("log.db-wal").write_text("x")
    told = Told()
    store = SqliteStore(path=str(path), query="select rowid, data from event where rowid > ?")
    async with watching("sleep 0.4; exit 0", told, store=store) as watch:
        end = await watch.run()
    assert end.process.wait == WaitStatus(exit_code=0)
    assert [event.what for event in told.events if isinstance(event, Warned)] == ["store"]


class NotedAnswers(Answers):
    """Lets the test wait for the look that found content."""

    def __init__(self, paths: Sequence[str]) -> None:
        super().__init__(paths)
        self.found = asyncio.Event()

    def look(self) -> None:
        super().look()
        if self._seen:
            self.found.set()


async def test_an_answer_that_lives_between_two_samples_was_there(tmp_path: Path) -> None:
    """The kernel tells of its writing; looking with every sample alone would have missed it."""
    answer, order = tmp_path / "answer.txt", tmp_path / "order"
    os.mkfifo(order)
    writing = os.open(order, os.O_RDWR)
    answers, told = NotedAnswers([str(answer)]), Told()
    rare = Rhythm(tick_s=0.05, vitals_s=3600, term_s=0.3, pipes_s=1)
    script = f"exec 3<{order}; read -r _ <&3; echo 42 >{answer}; read -r _ <&3; rm {answer}"
    async with (
        watching(script, told, answers=answers, rhythm=rare) as watch,
        asyncio.TaskGroup() as tasks,
    ):
        running = tasks.create_task(watch.run())
        await told.until(VitalsSampled)
        os.write(writing, b"write it\n")
        async with asyncio.timeout(20):
            await answers.found.wait()
        os.write(writing, b"remove it\n")
        await running
    os.close(writing)

    async def send(_: Event) -> None:
        """Nobody listens."""

    frozen = await answers.freeze(send)
    assert frozen is not None
    assert [one.state for one in frozen] == [AnswerState.LOST]


def count_starts() -> list[str]:
    """Grows with each process that is started from now on, to the interpreter's end."""
    started: list[str] = []

    def hook(name: str, _: object, starts: frozenset[str] = STARTS) -> None:
        if name in starts:
            started.append(name)

    sys.addaudithook(hook)
    return started


async def test_watching_starts_no_process() -> None:
    """In gVisor each costs 10 ms and more: none with any tick, sample or look."""
    started = count_starts()
    told = Told()
    async with watching("sleep 60", told) as watch, asyncio.TaskGroup() as tasks:
        running = tasks.create_task(watch.run())
        await told.until(VitalsSampled)
        started.clear()
        await told.until(VitalsSampled, told.count(VitalsSampled) + 5)
        assert started == []
        watch.order(Stop(reason=StopReason.CANCELLED, detail="enough"))
        await running
