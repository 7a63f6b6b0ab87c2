import asyncio

import pytest

from stanchion.broker.idle import Idle


class Room:
    """A clock, and whether attempts are open."""

    def __init__(self, after_s: float | None = 900) -> None:
        self.now_s, self.open = 0.0, False
        self.idle = Idle(after_s=after_s, busy=lambda: self.open, clock_s=lambda: self.now_s)


def test_it_is_over_when_nobody_needed_it_for_so_long() -> None:
    room = Room()
    room.now_s = 899
    assert not room.idle.over
    room.now_s = 900
    assert room.idle.over


def test_a_question_starts_the_time_again() -> None:
    room = Room()
    room.now_s = 800
    room.idle.needed()
    room.now_s = 1699
    assert not room.idle.over
    room.now_s = 1700
    assert room.idle.over


def test_the_time_begins_when_the_last_attempt_has_ended() -> None:
    room = Room()
    room.open, room.now_s = True, 5000
    assert not room.idle.over
    room.open, room.now_s = False, 5899
    assert not room.idle.over
    room.now_s = 5900
    assert room.idle.over


async def test_without_a_time_it_stays() -> None:
    room = Room(after_s=None)
    room.now_s = 10.0**9
    assert not room.idle.over
    await room.idle.watch(lambda: pytest.fail("it was not told to go"))


async def test_its_end_is_called_once_it_is_over() -> None:
    clock = asyncio.get_running_loop().time
    ended = asyncio.Event()
    idle = Idle(after_s=0.01, busy=lambda: False, clock_s=clock)
    await idle.watch(ended.set)
    assert ended.is_set()
