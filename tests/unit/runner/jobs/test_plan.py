"""What is to be done next, for every order in which attempts end, die and are found again."""

from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stanchion.protocol.outcome import Retry
from stanchion.runner.jobs.plan import (
    Action,
    Attach,
    Explain,
    Key,
    Plan,
    Seen,
    Session,
    Start,
    State,
    Wanted,
    latest,
    make_plan,
)

WANTED = Wanted(tasks=("a", "b"), attempts=2, retries=1, concurrency=2)


def an(task: str, number: int, state: State = State.ENDED, **more: Any) -> Seen:
    return Seen(task=task, number=number, state=state, **more)


def plan(*seen: Seen, wanted: Wanted = WANTED, now_ms: int = 0, **session: Any) -> Plan:
    return make_plan(wanted, seen, Session(**session), now_ms=now_ms)


def test_every_task_gets_its_first_attempt_before_any_gets_its_second() -> None:
    everything = plan(wanted=replace(WANTED, concurrency=9))

    assert everything.actions == (Start("a", 1), Start("b", 1), Start("a", 2), Start("b", 2))
    assert plan().actions == (Start("a", 1), Start("b", 1))
    assert everything.unfinished == (("a", 1), ("b", 1), ("a", 2), ("b", 2))


def test_what_is_in_hand_takes_room_and_is_not_begun_again() -> None:
    first = Start("a", 1)

    assert plan(busy=[first]).actions == (Start("b", 1),)
    assert plan(busy=[first, Start("b", 1)]).actions == ()
    assert plan(an("a", 1, State.RUNNING), busy=[first]).actions == (Start("b", 1),)


def test_one_that_runs_elsewhere_is_watched_and_takes_room() -> None:
    seen = an("a", 1, State.RUNNING)

    assert plan(seen).actions == (Attach("a", 1), Start("b", 1))
    assert plan(seen, an("b", 1, State.RUNNING)).actions == (Attach("a", 1), Attach("b", 1))


def test_one_whose_keeper_died_is_explained_not_started_again() -> None:
    assert plan(an("a", 1, State.LOST)).actions[0] == Explain("a", 1)


@pytest.mark.parametrize("state", [State.EMPTY, State.NOT_OPENED])
def test_one_that_never_ran_is_started_under_its_own_number(state: State) -> None:
    assert plan(an("a", 1, state)).actions[0] == Start("a", 1)
    retry = an("a", 3, state, retry_of=1)
    dead = an("a", 1, retry=Retry.NOW)
    assert plan(dead, retry).actions[0] == Start("a", 3, retry_of=1)


def test_a_withheld_attempt_is_retried_under_a_new_number_as_often_as_allowed() -> None:
    dead = an("a", 1, retry=Retry.NOW)

    assert plan(dead).actions[0] == Start("a", 3, retry_of=1)
    again = an("a", 3, retry=Retry.NOW, retry_of=1)
    assert ("a", 3) not in plan(dead, again).unfinished
    once_more = plan(dead, again, wanted=replace(WANTED, retries=2)).actions[0]
    assert once_more == Start("a", 4, retry_of=3)
    assert plan(dead, wanted=replace(WANTED, retries=0)).actions[0] == Start("b", 1)


def test_a_retry_that_was_begun_and_is_not_on_the_disk_yet_is_not_begun_twice() -> None:
    dead = an("a", 1, retry=Retry.NOW)
    done = [an("b", 1, scored=True), an("a", 2, scored=True), an("b", 2, scored=True)]

    assert plan(dead, *done, busy=[Start("a", 3, retry_of=1)]).actions == ()


@pytest.mark.parametrize("seen", [an("a", 1, scored=True), an("a", 1, retry=Retry.NEVER)])
def test_a_score_or_a_never_is_final(seen: Seen) -> None:
    assert ("a", 1) not in plan(seen).unfinished


def test_a_retry_after_backoff_waits_and_keeps_nobody_else_waiting() -> None:
    limited = an("a", 1, retry=Retry.AFTER_BACKOFF, ended_at_ms=1_000)
    waiting = plan(limited, now_ms=2_000)

    assert waiting.actions == (Start("b", 1), Start("a", 2))
    assert waiting.wake_at_ms == 61_000
    assert plan(limited, now_ms=61_000).actions[0] == Start("a", 3, retry_of=1)


def test_later_retries_wait_longer() -> None:
    first = an("a", 1, retry=Retry.AFTER_BACKOFF, ended_at_ms=0)
    second = an("a", 3, retry=Retry.AFTER_BACKOFF, ended_at_ms=0, retry_of=1)
    wanted = replace(WANTED, retries=9)

    assert plan(first, wanted=wanted).wake_at_ms == 60_000
    assert plan(first, second, wanted=wanted).wake_at_ms == 300_000
    many = [an("a", n, retry=Retry.AFTER_BACKOFF, ended_at_ms=0, retry_of=n - 1) for n in (4, 5, 6)]
    chain = [first, second, replace(many[0], retry_of=3), *many[1:]]
    assert plan(*chain, wanted=wanted).wake_at_ms == 900_000


def test_once_stopped_nothing_new_starts_but_what_runs_is_watched() -> None:
    seen = [an("a", 1, State.RUNNING), an("b", 1, State.LOST)]
    stopped = plan(*seen, stopped=True)

    assert stopped.actions == (Attach("a", 1), Explain("b", 1))
    assert len(stopped.unfinished) == 4


def test_one_that_was_refused_is_left_for_another_day() -> None:
    given_up = [("a", 1)]

    assert plan(an("a", 1, State.NOT_OPENED), given_up=given_up).actions == (
        Start("b", 1),
        Start("a", 2),
    )


def test_what_an_operator_stopped_is_repeated_by_the_next_process() -> None:
    stopped = an("a", 1, retry=Retry.NEVER)

    assert plan(stopped, again=[("a", 1)]).actions[0] == Start("a", 3, retry_of=1)
    failed = an("a", 3, retry=Retry.NOW, retry_of=1)
    assert plan(stopped, failed, again=[("a", 1)]).actions[0] == Start("a", 4, retry_of=3)
    assert plan(an("a", 1, scored=True), again=[("a", 1)]).actions[0] == Start("b", 1)


def test_one_that_cannot_be_explained_now_waits_for_another_day() -> None:
    assert plan(an("a", 1, State.LOST), given_up=[("a", 1)]).actions[0] == Start("b", 1)


def test_the_newest_of_each_chain_counts() -> None:
    seen = [an("a", 1), an("a", 3, retry_of=1), an("b", 1)]

    assert [one.key for one in latest(seen)] == [("a", 3), ("b", 1)]


@dataclass
class World:
    """A disk, processes that end as they like, and a planner that is killed at any moment."""

    wanted: Wanted
    disk: dict[Key, Seen] = field(default_factory=dict)
    busy: dict[Key, Action] = field(default_factory=dict)
    started: dict[Key, int] = field(default_factory=dict)
    most_running: int = 0
    now_ms: int = 0

    def step(self) -> Plan:
        made = make_plan(
            self.wanted,
            list(self.disk.values()),
            Session(busy=list(self.busy.values())),
            now_ms=self.now_ms,
        )
        for action in made.actions:
            self.busy[action.key] = action
        return made

    def execute(self, key: Key, *, opened: bool) -> None:
        """A start takes effect on the disk."""
        action = self.busy[key]
        if not isinstance(action, Start):
            return
        known = self.disk.get(key)
        assert known is None or known.state in {State.EMPTY, State.NOT_OPENED}, "run twice"
        state = State.RUNNING if opened else State.NOT_OPENED
        self.disk[key] = an(*key, state, retry_of=action.retry_of)
        if opened:
            self.started[key] = self.started.get(key, 0) + 1
        else:
            del self.busy[key]
        running = sum(one.state is State.RUNNING for one in self.disk.values())
        self.most_running = max(self.most_running, running)

    def end(self, key: Key, *, scored: bool, retry: Retry, lost: bool) -> None:
        """A running attempt ends, or its keeper dies."""
        state = State.LOST if lost else State.ENDED
        self.disk[key] = replace(
            self.disk[key], state=state, scored=scored, retry=retry, ended_at_ms=self.now_ms
        )
        self.busy.pop(key, None)


@given(data=st.data(), wanted=st.builds(
    Wanted,
    tasks=st.sampled_from([("a",), ("a", "b"), ("a", "b", "c")]),
    attempts=st.integers(1, 3),
    retries=st.integers(0, 2),
    concurrency=st.integers(1, 4),
    backoff_ms=st.just((10, 50)),
))  # fmt: skip
@settings(max_examples=120, deadline=None)
def test_nothing_is_run_twice_and_nothing_is_lost(data: st.DataObject, wanted: Wanted) -> None:
    world = World(wanted)
    for _ in range(400):
        made = world.step()
        if not made.unfinished:
            break
        pending = [
            key
            for key, action in world.busy.items()
            if isinstance(action, Start)
            and (key not in world.disk or world.disk[key].state is not State.RUNNING)
        ]
        running = [key for key, one in world.disk.items() if one.state is State.RUNNING]
        lost = [key for key, action in world.busy.items() if isinstance(action, Explain)]
        moves = [
            *([("execute", key) for key in pending]),
            *([("end", key) for key in running]),
            *([("explain", key) for key in lost]),
            ("wait", None),
            ("kill", None),
        ]
        what, key = data.draw(st.sampled_from(moves))
        if what == "execute":
            world.execute(key, opened=data.draw(st.integers(0, 9)) > 0)
        elif what == "end":
            scored = data.draw(st.booleans())
            retry = Retry.NEVER if scored else data.draw(st.sampled_from(list(Retry)))
            world.end(key, scored=scored, retry=retry, lost=data.draw(st.integers(0, 4)) == 0)
        elif what == "explain":
            world.end(key, scored=False, retry=Retry.NOW, lost=False)
        elif what == "wait":
            world.now_ms += 20
        else:
            world.busy.clear()  # kill -9: the disk and the keepers are all that is left

    assert all(times == 1 for times in world.started.values())
    assert world.most_running <= wanted.concurrency
    retried = [(one.task, one.retry_of) for one in world.disk.values() if one.retry_of]
    assert len(retried) == len(set(retried)), "an attempt has two retries"


@given(data=st.data())
@settings(max_examples=60, deadline=None)
def test_left_alone_a_job_comes_to_its_end(data: st.DataObject) -> None:
    wanted = replace(WANTED, retries=2, backoff_ms=(10, 50))
    world = World(wanted)
    for _ in range(500):
        made = world.step()
        if not made.unfinished:
            return
        for key in list(world.busy):
            world.execute(key, opened=True)
            scored = data.draw(st.booleans())
            world.end(key, scored=scored, retry=data.draw(st.sampled_from(list(Retry))), lost=False)
        if made.wake_at_ms is not None:
            world.now_ms = max(world.now_ms, made.wake_at_ms)
    pytest.fail("the job never ended")
