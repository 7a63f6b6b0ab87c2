"""Runs a plan: looks at the disk, does what the planner says, looks again after every change.

Holds nothing that a crash could lose; the disk and the keepers are the job. One failure never stops
the others: whatever goes wrong with an attempt is that attempt's.
"""

import asyncio
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Literal, Protocol

from stanchion.protocol.refusal import Refusal
from stanchion.runner.jobs.on_disk import Found
from stanchion.runner.jobs.plan import (
    Action,
    Attach,
    Explain,
    Key,
    Plan,
    Session,
    Start,
    State,
    Wanted,
    make_plan,
)
from stanchion.runner.jobs.trip import Trip, trip_of_refusal

THIS_ATTEMPT_ONLY = frozenset({"attempt_exists"})
"""Refusals that say nothing about other attempts of the same launch."""


@dataclass(frozen=True, slots=True)
class GaveUp:
    """An attempt could not be started, or explained, and another try now would not help."""

    why: str
    refusal: Refusal | None = None
    """The broker's; it holds for every attempt of the same launch."""
    broker_away: bool = False


class Work(Protocol):
    """Does one action to its end; what came of it is on the disk then."""

    async def start(self, action: Start) -> GaveUp | None:
        """Start the attempt and watch it to its end."""

    async def attach(self, action: Attach) -> GaveUp | None:
        """Watch it to its end."""

    async def explain(self, action: Explain) -> GaveUp | None:
        """Write the result that its keeper cannot write any more."""


Look = Callable[[Mapping[Key, Found]], list[Found]]
"""Reads the disk; attempts that had ended need not be read again."""


def wall_ms() -> int:
    """Milliseconds since 1970, the clock of the files."""
    return time.time_ns() // 1_000_000


@dataclass(slots=True)
class Scheduler:
    """One process's part in a job."""

    wanted: Wanted
    look: Look
    work: Work
    ended: Callable[[Found], Trip | None]
    """Told once of each attempt that ends; says if its account is refused."""
    cancel: asyncio.Event
    again: Collection[Key] = ()
    now_ms: Callable[[], int] = wall_ms
    found: dict[Key, Found] = field(default_factory=dict)
    gave_up: dict[Key, GaveUp] = field(default_factory=dict)
    trip: Trip | None = None
    _refused: set[str] = field(default_factory=set)
    _doing: "dict[asyncio.Task[GaveUp | None], Action]" = field(default_factory=dict)

    async def run(self) -> None:
        """Until nothing is left to do here."""
        await self._see()  # what had ended before is nobody's news
        async with asyncio.TaskGroup() as group:
            while True:
                plan = self._plan()
                for action in plan.actions:
                    self._doing[group.create_task(self._do(action))] = action
                if not self._doing and plan.wake_at_ms is None:
                    return
                await self._wait(plan)
                for one in await self._see():
                    self._trip_over(self.ended(one))

    def _plan(self) -> Plan:
        session = Session(
            busy=tuple(self._doing.values()),
            given_up=tuple(self.gave_up),
            given_up_tasks=tuple(self._refused),
            again=self.again,
            stopped=self.cancel.is_set() or self.trip is not None,
        )
        seen = [one.seen for one in self.found.values()]
        return make_plan(self.wanted, seen, session, now_ms=self.now_ms())

    async def _see(self) -> list[Found]:
        """Read the disk; what has ended since the last time."""
        before = {key for key, one in self.found.items() if one.seen.state is State.ENDED}
        found = await asyncio.to_thread(self.look, self.found)
        self.found = {one.key: one for one in found}
        return [one for one in found if one.seen.state is State.ENDED and one.key not in before]

    async def _do(self, action: Action) -> GaveUp | None:
        match action:
            case Start():
                return await self.work.start(action)
            case Attach():
                return await self.work.attach(action)
            case Explain():
                return await self.work.explain(action)

    async def _wait(self, plan: Plan) -> None:
        """Until something is done, a retry is due or the job is cancelled."""
        due_s = None
        if plan.wake_at_ms is not None:
            due_s = max(0, plan.wake_at_ms - self.now_ms()) / 1000
        cancelled = asyncio.Task(self.cancel.wait())
        watched: set[asyncio.Task[GaveUp | None] | asyncio.Task[Literal[True]]] = {*self._doing}
        if not self.cancel.is_set():
            watched.add(cancelled)
        try:
            await asyncio.wait(watched, timeout=due_s, return_when=asyncio.FIRST_COMPLETED)
        finally:
            cancelled.cancel()
        for task in [task for task in self._doing if task.done()]:
            action, result = self._doing.pop(task), task.result()
            if result is not None:
                self._give_up(action, result)

    def _give_up(self, action: Action, gave_up: GaveUp) -> None:
        self.gave_up[action.key] = gave_up
        if gave_up.refusal is not None:
            self._trip_over(trip_of_refusal(gave_up.refusal))
            if gave_up.refusal.id not in THIS_ATTEMPT_ONLY:
                self._refused.add(action.task)

    def _trip_over(self, trip: Trip | None) -> None:
        self.trip = trip if self.trip is None else self.trip.or_better(trip)
