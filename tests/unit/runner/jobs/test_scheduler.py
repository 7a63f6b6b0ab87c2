"""The loop around the planner, with a disk and a work of our own."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
from tests.fakes.results import a_result

from stanchion.protocol.outcome import EndReason
from stanchion.protocol.refusal import refuse
from stanchion.protocol.result import AttemptResult
from stanchion.runner.jobs.on_disk import Found
from stanchion.runner.jobs.plan import Attach, Explain, Key, Seen, Start, State, Wanted
from stanchion.runner.jobs.scheduler import GaveUp, Scheduler
from stanchion.runner.jobs.trip import Trip

pytestmark = pytest.mark.timeout(20)

WANTED = Wanted(tasks=("a", "b"), attempts=2, retries=1, concurrency=2)
TRIPPED = refuse(
    "account_tripped", field="--model", value="x", rule="no key", remedy="Fix: it"
).refusal
POLICY = refuse("limit_missing", field="--model", value="x", rule="r", remedy="m").refusal


def ended(key: Key, result: AttemptResult, retry_of: int | None = None) -> Found:
    seen = Seen(
        task=key[0],
        number=key[1],
        state=State.ENDED,
        retry_of=retry_of,
        scored=result.score is not None,
        retry=result.outcome.retry,
        ended_at_ms=0,
    )
    return Found(Path(), seen, result=result)


def there(key: Key, state: State) -> Found:
    return Found(Path(), Seen(task=key[0], number=key[1], state=state))


@dataclass
class World:
    """A disk, and work that writes to it what it is told to."""

    endings: dict[Key, AttemptResult | GaveUp | Exception] = field(default_factory=dict)
    disk: dict[Key, Found] = field(default_factory=dict)
    started: list[Key] = field(default_factory=list)
    attached: list[Key] = field(default_factory=list)
    explained: list[Key] = field(default_factory=list)
    running: int = 0
    most: int = 0
    told: list[Key] = field(default_factory=list)
    before_end: Callable[[Key], None] = lambda _: None

    def look(self, known: Mapping[Key, Found]) -> list[Found]:
        assert known.keys() <= self.disk.keys()
        return list(self.disk.values())

    async def start(self, action: Start) -> GaveUp | None:
        assert action.key not in self.started, "run twice"
        self.started.append(action.key)
        self.running += 1
        self.most = max(self.most, self.running)
        self.disk[action.key] = there(action.key, State.RUNNING)
        await asyncio.sleep(0)
        self.running -= 1
        self.before_end(action.key)
        ending = self.endings.get(action.key, a_result())
        if isinstance(ending, GaveUp):
            self.disk[action.key] = there(action.key, State.NOT_OPENED)
            return ending
        assert isinstance(ending, AttemptResult)
        self.disk[action.key] = ended(action.key, ending, action.retry_of)
        return None

    async def attach(self, action: Attach) -> GaveUp | None:
        self.attached.append(action.key)
        self.disk[action.key] = ended(action.key, a_result())
        return None

    async def explain(self, action: Explain) -> GaveUp | None:
        self.explained.append(action.key)
        ending = self.endings.get(action.key, a_result(EndReason.SANDBOX_LOST, score=None))
        if isinstance(ending, GaveUp):
            return ending
        assert isinstance(ending, AttemptResult)
        self.disk[action.key] = ended(action.key, ending)
        return None

    def ended(self, found: Found) -> Trip | None:
        self.told.append(found.key)
        assert found.result is not None
        refused = found.result.outcome.reason is EndReason.PROVIDER_REFUSED
        return Trip(what="refused", fix="mend it") if refused else None


def scheduler(world: World, wanted: Wanted = WANTED) -> Scheduler:
    return Scheduler(wanted, world.look, world, world.ended, asyncio.Event())


async def test_all_is_run_once_and_never_more_at_a_time_than_wanted() -> None:
    world = World()
    await scheduler(world).run()

    assert sorted(world.started) == [("a", 1), ("a", 2), ("b", 1), ("b", 2)]
    assert sorted(world.told) == sorted(world.started)
    assert world.most == 2


async def test_what_there_is_already_is_watched_or_explained_and_not_told_again() -> None:
    world = World(
        disk={
            ("a", 1): ended(("a", 1), a_result()),
            ("b", 1): there(("b", 1), State.RUNNING),
            ("a", 2): there(("a", 2), State.LOST),
        }
    )
    await scheduler(world).run()

    assert (world.attached, world.explained) == ([("b", 1)], [("a", 2)])
    assert sorted(world.started) == [("a", 3), ("b", 2)], "one retry for the lost one"
    assert ("a", 1) not in world.told


async def test_a_dead_attempt_is_retried_and_stops_nobody() -> None:
    world = World(endings={("a", 1): a_result(EndReason.HARNESS_SIGNAL, score=None)})
    await scheduler(world).run()

    assert sorted(world.started) == [("a", 1), ("a", 2), ("a", 3), ("b", 1), ("b", 2)]


async def test_a_retry_that_waits_starts_when_it_is_due() -> None:
    limited = a_result(EndReason.RATE_LIMITED, score=None)
    world = World(endings={("a", 1): limited})
    wanted = replace(WANTED, tasks=("a",), attempts=1, backoff_ms=(1,))
    await scheduler(world, wanted).run()

    assert world.started == [("a", 1), ("a", 2)]


@pytest.mark.parametrize("how", ["result", "refusal"])
async def test_a_refused_account_stops_all_that_has_not_started(how: str) -> None:
    refused = a_result(EndReason.PROVIDER_REFUSED, score=None)
    by_refusal = GaveUp("no key", TRIPPED)
    world = World(endings={("a", 1): refused if how == "result" else by_refusal})
    one_by_one = scheduler(world, replace(WANTED, concurrency=1))
    await one_by_one.run()

    assert world.started == [("a", 1)]
    assert one_by_one.trip is not None


async def test_a_launch_that_is_refused_is_tried_once_and_others_go_on() -> None:
    world = World(endings={("a", 1): GaveUp("no", POLICY)})
    one_by_one = scheduler(world, replace(WANTED, concurrency=1))
    await one_by_one.run()

    assert world.started == [("a", 1), ("b", 1), ("b", 2)]
    assert list(one_by_one.gave_up) == [("a", 1)]


async def test_one_that_cannot_be_explained_does_not_go_round_and_round() -> None:
    world = World(
        disk={("a", 1): there(("a", 1), State.LOST)}, endings={("a", 1): GaveUp("no broker")}
    )
    await scheduler(world).run()

    assert world.explained == [("a", 1)]


async def test_once_cancelled_nothing_more_starts() -> None:
    world = World()
    cancelled = scheduler(world, replace(WANTED, concurrency=1))
    world.before_end = lambda _: cancelled.cancel.set()
    await cancelled.run()

    assert world.started == [("a", 1)]


async def test_a_cancel_ends_the_waiting_for_a_retry() -> None:
    world = World(endings={("a", 1): a_result(EndReason.RATE_LIMITED, score=None)})
    waiting = scheduler(world, replace(WANTED, tasks=("a",), attempts=1))
    waiting.now_ms = lambda: 0
    world.before_end = lambda _: asyncio.get_running_loop().call_later(0.05, waiting.cancel.set)
    await waiting.run()

    assert world.started == [("a", 1)]
