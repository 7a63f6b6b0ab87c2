"""A prepared job, run to its end: reads as the story of it.

Folder and receipts first, then attempts as they come, then the summary and the signed list. What it
leaves behind is the same whether one process did it all or five did, one after the other.
"""

import asyncio
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from stanchion.broker.client import BrokerUnreachableError, StatePaths
from stanchion.broker.client.config_file import find_config
from stanchion.protocol.events import Event, Unknown
from stanchion.protocol.outcome import EndReason
from stanchion.protocol.refusal import RefusedError
from stanchion.protocol.result import AttemptResult
from stanchion.runner.jobs.host_room import available_memory_mb, place_of
from stanchion.runner.jobs.job_lock import alone_in
from stanchion.runner.jobs.job_receipts import close_receipts, open_receipts
from stanchion.runner.jobs.on_disk import Found, read_attempts, retried, sum_up
from stanchion.runner.jobs.plan import Key, Session, State, make_plan
from stanchion.runner.jobs.preflight import check_disk, memory_warning
from stanchion.runner.jobs.prepare import PreparedJob
from stanchion.runner.jobs.scheduler import GaveUp, Scheduler, wall_ms
from stanchion.runner.jobs.trip import Trip, trip_of_result
from stanchion.runner.jobs.work import KeeperWork
from stanchion.runner.launching.attempt_run import AttemptError
from stanchion.runner.launching.broker_return import BrokerReturn
from stanchion.runner.launching.brokers import Say, ensure_broker
from stanchion.runner.launching.keepers import Keeper
from stanchion.runner.results.job_folder import JobFolder
from stanchion.runner.results.summary import Summary

AGAIN = frozenset({EndReason.CANCELLED, EndReason.PROVIDER_REFUSED})
"""Ended by an operator, or for one's account: a job that is resumed repeats them."""


class Screen(Protocol):
    """Shows a job; never touches it."""

    def say(self, text: str) -> None:
        """One line."""

    def show(self, key: Key, event: Event | Unknown) -> None:
        """An event of an attempt that runs."""

    def ended(self, found: Found, summary: Summary) -> None:
        """An attempt has ended."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JobEnd:
    """What became of a job in this process."""

    summary: Summary
    results: tuple[AttemptResult, ...]
    """All there are, by task and number."""
    finals: tuple[AttemptResult, ...]
    """Those that no other one repeats."""
    unfinished: int
    """Planned attempts that have no final result yet."""
    ended_unscored: int
    """In this process."""
    trip: Trip | None
    gave_up: Mapping[Key, GaveUp]


def paths_of(prepared: PreparedJob) -> StatePaths:
    """The state folder that all of it is in."""
    return next(iter(prepared.prepared.values())).paths


def check_room(prepared: PreparedJob, say: Say) -> None:
    """RefusedError where the disk is too small; memory is only spoken of."""
    running = min(prepared.wanted.concurrency, prepared.planned)
    check_disk(
        place_of(paths_of(prepared).root / "sandboxes"),
        place_of(prepared.folder),
        running=running,
        attempts=prepared.planned,
    )
    limits_mb = [task.spec.sandbox.memory_mb for task in prepared.job.tasks]
    warning = memory_warning(limits_mb, running=running, available_mb=available_memory_mb())
    if warning is not None:
        say(warning)


async def run_job(
    prepared: PreparedJob, screen: Screen, cancel: asyncio.Event, spare: Keeper | None = None
) -> JobEnd:
    """To the end of what can be done now. Raises where nothing at all could be started."""
    job, resumed = prepared.job, prepared.request.resume is not None
    folder = JobFolder(prepared.folder) if resumed else JobFolder.create(prepared.folder, job)
    with alone_in(folder.path):
        try:
            await open_receipts(job, folder, paths_of(prepared))
        except (RefusedError, BrokerUnreachableError):
            if not resumed:
                folder.discard()
            raise
        return await _Part(prepared, folder, screen, cancel).run(spare)


class _Part:
    """This process's part in a job."""

    def __init__(
        self, prepared: PreparedJob, folder: JobFolder, screen: Screen, cancel: asyncio.Event
    ) -> None:
        self._prepared = prepared
        self._job = prepared.job
        self._folder = folder
        self._screen = screen
        self._unscored = 0
        self._work = KeeperWork(
            job=prepared.job,
            folder=folder,
            prepared=prepared.prepared,
            cancel=cancel,
            show=screen.show,
            restart_broker=self._restart_broker,
            broker_back=BrokerReturn(paths_of(prepared), self._restart_broker, screen.say),
        )
        before = self._look({})
        folder.mend_lines([one.result for one in before if one.result is not None])
        self._scheduler = Scheduler(
            prepared.wanted, self._look, self._work, self._ended, cancel, again=_to_repeat(before)
        )

    async def run(self, spare: Keeper | None) -> JobEnd:
        self._work.spare = spare
        try:
            await self._scheduler.run()
        finally:
            if self._work.spare is not None:
                self._work.spare.discard()
        found = sorted(self._scheduler.found.values(), key=lambda one: one.key)
        self._raise_if_nothing_began(found)
        unfinished = self._unfinished(found)
        summary = self._write_summary(found)
        if not unfinished:
            await close_receipts(self._job, self._folder, paths_of(self._prepared), found)
        superseded = retried(found)
        return JobEnd(
            summary=summary,
            results=_results(found),
            finals=_results([one for one in found if one.key not in superseded]),
            unfinished=unfinished,
            ended_unscored=self._unscored,
            trip=self._scheduler.trip,
            gave_up=self._scheduler.gave_up,
        )

    def _look(self, known: Mapping[Key, Found]) -> list[Found]:
        return read_attempts(self._folder.path, self._prepared.wanted.tasks, known=known)

    def _ended(self, found: Found) -> Trip | None:
        """One more result: its line, the summary so far, and whether its account is refused."""
        result = found.result
        assert result is not None, "an attempt that ended has one"
        self._folder.append(result)
        summary = self._write_summary(list(self._scheduler.found.values()))
        self._screen.ended(found, summary)
        if result.score is not None:
            return None
        self._unscored += 1
        profile = self._job.task(found.seen.task).spec.profile
        try:
            bundle = Path(result.receipts.bundle or "").read_bytes()
        except OSError:
            return None
        return trip_of_result(result, profile, bundle)

    def _write_summary(self, found: Sequence[Found]) -> Summary:
        summary = sum_up(found, self._job.planned)
        self._folder.write_summary(summary)
        return summary

    def _unfinished(self, found: Sequence[Found]) -> int:
        session = Session(again=self._scheduler.again)
        seen = [one.seen for one in found]
        return len(make_plan(self._prepared.wanted, seen, session, now_ms=wall_ms()).unfinished)

    def _raise_if_nothing_began(self, found: Sequence[Found]) -> None:
        """A refusal of everything is the command's own: the folder is taken back."""
        scheduler = self._scheduler
        refused = next(iter(scheduler.gave_up.values()), None)
        idle = {State.EMPTY, State.NOT_OPENED}
        if refused is None or scheduler.trip or any(one.seen.state not in idle for one in found):
            return
        if self._prepared.request.resume is None:
            self._folder.discard()
        if refused.refusal is not None:
            raise RefusedError(refused.refusal)
        if refused.broker_away:
            raise BrokerUnreachableError(refused.why)
        raise AttemptError(refused.why)

    async def _restart_broker(self) -> None:
        asked = self._job.asked
        config = find_config(asked.config, os.environ, folder=Path.cwd(), home=Path.home())
        await ensure_broker(paths_of(self._prepared), config, self._screen.say)


def _to_repeat(found: Sequence[Found]) -> frozenset[Key]:
    superseded = retried(found)
    return frozenset(
        one.key
        for one in found
        if one.result is not None
        and one.result.score is None
        and one.result.outcome.reason in AGAIN
        and one.key not in superseded
    )


def _results(found: Sequence[Found]) -> tuple[AttemptResult, ...]:
    return tuple(one.result for one in found if one.result is not None)
