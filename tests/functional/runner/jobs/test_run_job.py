"""A whole job with a real broker and real keepers, and one that is taken up by another process."""

import asyncio
import json
import os
import signal
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest
from tests.functional.runner.jobs.conftest import MakeJob

from stanchion.broker.client import BrokerUnreachableError, StatePaths
from stanchion.protocol.codec import decode
from stanchion.protocol.events import Event, RunOpened, Unknown
from stanchion.protocol.refusal import RefusedError
from stanchion.protocol.result import AttemptResult
from stanchion.runner.jobs.on_disk import Found
from stanchion.runner.jobs.plan import Key
from stanchion.runner.jobs.prepare import JobRequest, PreparedJob
from stanchion.runner.jobs.run_job import JobEnd, check_room, run_job
from stanchion.runner.launching.keepers import Keeper
from stanchion.runner.launching.start_file import read_start
from stanchion.runner.results.summary import Summary

pytestmark = pytest.mark.timeout(120)


def nothing(_: str) -> None:
    """Says nothing."""


class Shown:
    """What a screen was told."""

    def __init__(self, at_event: Callable[[Key, Event | Unknown], None] | None = None) -> None:
        self.endings: list[Key] = []
        self.events: list[Key] = []
        self._at_event = at_event

    def say(self, text: str) -> None:
        """Nothing reads it."""

    def show(self, key: Key, event: Event | Unknown) -> None:
        self.events.append(key)
        if self._at_event is not None:
            self._at_event(key, event)

    def ended(self, found: Found, summary: Summary) -> None:
        assert summary.attempts >= len(self.endings)
        self.endings.append(found.key)


def lines(folder: Path) -> list[AttemptResult]:
    text = (folder / "results.jsonl").read_bytes()
    return [decode(line, AttemptResult) for line in text.splitlines()]


def receipts(folder: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in (folder / "job.receipts").read_bytes().splitlines()]


async def resume(prepared: PreparedJob, shown: Shown | None = None) -> JobEnd:
    again = replace(prepared, request=JobRequest(resume=prepared.folder))
    return await run_job(again, shown or Shown(), asyncio.Event())


async def test_every_attempt_is_run_recorded_and_receipted(
    make_job: MakeJob, broker: StatePaths
) -> None:
    prepared = make_job("hello", "fix-bug", retries=1)
    shown = Shown()
    end = await run_job(prepared, shown, asyncio.Event(), Keeper.spawn())

    # Each dies at once for want of a sandbox runtime, and is retried once.
    assert (end.summary.planned, end.summary.attempts, end.unfinished) == (2, 4, 0)
    assert end.summary.withheld == {"sandbox_lost": 2} == end.summary.retried
    runs = {task.name: task.run for task in prepared.job.tasks}
    assert [(result.run, result.attempt) for result in end.finals] == [
        (runs["fix-bug"], 2), (runs["hello"], 2),
    ]  # fmt: skip
    assert sorted(shown.endings) == sorted((name, number) for name in runs for number in (1, 2))
    assert len(lines(prepared.folder)) == 4
    summary = json.loads((prepared.folder / "summary.json").read_text())
    assert (summary["coverage"], summary["mean_over_scored"]) == (0.0, None)
    _, opening, closing = receipts(prepared.folder)
    assert opening["planned"] == [f"{run}.1" for run in runs.values()]
    assert isinstance(closing["attempts"], list)
    assert [one["closed"] for one in closing["attempts"]] == [True] * 4


async def test_a_keeper_that_is_killed_leaves_an_explained_attempt(
    make_job: MakeJob, broker: StatePaths
) -> None:
    prepared = make_job("hello")

    def kill(_: Key, event: Event | Unknown) -> None:
        start = read_start(prepared.folder / "attempts" / "hello__1")
        if isinstance(event, RunOpened) and start is not None:
            os.kill(start.pid, signal.SIGKILL)

    end = await run_job(prepared, Shown(kill), asyncio.Event())

    (result,) = end.finals
    assert (result.outcome.reason, result.score) == ("sandbox_lost", None)
    assert (prepared.folder / "attempts/hello__1/result.json").is_file()
    assert [line.attempt for line in lines(prepared.folder)] == [1]


async def test_a_resumed_job_keeps_what_there_is_and_runs_the_rest(
    make_job: MakeJob, broker: StatePaths
) -> None:
    prepared = make_job("hello", attempts=2, concurrency=1)
    cancel = asyncio.Event()
    first = await run_job(prepared, Shown(lambda _key, _event: cancel.set()), cancel)
    before = {one.attempt: one for one in lines(prepared.folder)}
    assert first.unfinished >= 1
    assert [record["type"] for record in receipts(prepared.folder)] == ["header", "job.open"]
    (prepared.folder / "results.jsonl").write_bytes(b'{"torn')

    end = await resume(prepared)

    assert end.unfinished == 0
    repeated = 1 if before[1].outcome.reason == "cancelled" else 0
    assert end.summary.attempts == 2 + repeated
    after = {one.attempt: one for one in lines(prepared.folder)}
    assert after[1] == before[1]
    assert receipts(prepared.folder)[-1]["type"] == "job.close"


async def test_an_attempt_that_another_process_started_is_watched_not_started_again(
    make_job: MakeJob, broker: StatePaths
) -> None:
    prepared = make_job("hello", concurrency=1)
    opened = asyncio.Event()
    first = asyncio.get_running_loop().create_task(
        run_job(prepared, Shown(lambda _key, _event: opened.set()), asyncio.Event())
    )
    await opened.wait()
    first.cancel()  # as a killed command: its keeper goes on
    with pytest.raises(asyncio.CancelledError):
        await first
    shown = Shown()
    end = await resume(prepared, shown)

    assert (end.summary.attempts, end.unfinished) == (1, 0)
    starts = sorted(path.name for path in (prepared.folder / "attempts").iterdir())
    assert starts == ["hello__1"]


async def test_a_refusal_of_everything_is_the_commands_own_and_leaves_nothing(
    make_job: MakeJob, broker: StatePaths
) -> None:
    prepared = make_job("hello", attempts=5)
    one = prepared.prepared["hello"]
    refused = replace(one, spec=msgspec.structs.replace(one.spec, profile="nobody"))
    prepared = replace(prepared, prepared={"hello": refused})

    with pytest.raises(RefusedError, match="profile"):
        await run_job(prepared, Shown(), asyncio.Event())
    assert not prepared.folder.exists()


async def test_without_a_broker_nothing_is_left_behind(make_job: MakeJob, tmp_path: Path) -> None:
    prepared = make_job("hello")
    elsewhere = replace(prepared.prepared["hello"], paths=StatePaths(tmp_path))
    prepared = replace(prepared, prepared={"hello": elsewhere})
    with pytest.raises(BrokerUnreachableError):
        await run_job(prepared, Shown(), asyncio.Event())
    assert not prepared.folder.exists()


async def test_two_processes_never_work_on_one_folder(
    make_job: MakeJob, broker: StatePaths
) -> None:
    prepared = make_job("hello")
    opened = asyncio.Event()
    async with asyncio.TaskGroup() as group:
        group.create_task(
            run_job(prepared, Shown(lambda _key, _event: opened.set()), asyncio.Event())
        )
        await opened.wait()
        with pytest.raises(RefusedError, match="another `stanchion run`"):
            await resume(prepared)


def test_room_is_asked_for_before_anything_starts(make_job: MakeJob) -> None:
    check_room(make_job("hello"), nothing)
    with pytest.raises(RefusedError, match="MB"):
        check_room(make_job("hello", attempts=10_000_000), nothing)
