import asyncio

from fakes.clock import FakeClock
from stanchion.broker.clock import mono_ms
from stanchion.broker.plane.pacing.pacer import Call, Failure, Verdict
from stanchion.broker.plane.pacing.trips import Trip
from stanchion.broker.plane.pacing.turns import Turns
from stanchion.protocol.exchange import ErrorClass

TRIP = Trip(ErrorClass.AUTH, "lab refused the key of evals/lab", "Fix it")


def call(*, arrived_ms: int = 1_000_000) -> Call:
    return Call(max_held_ms=60_000, hold_ms=60_000, arrived_ms=arrived_ms)


def refused(retry_after_ms: int) -> Failure:
    return Failure("429 rate_limited", retry_after_ms, account_wide=True)


async def test_a_turn_comes_at_once_where_nothing_holds() -> None:
    turns = Turns(2)
    assert turns.queue(call()).result() is Verdict.GO
    assert (turns.in_flight, turns.waiting) == (1, 0)


async def test_a_slot_that_is_given_back_goes_to_the_next() -> None:
    turns = Turns(1)
    turns.queue(call())
    second, third = turns.queue(call()), turns.queue(call())
    assert not second.done()
    turns.over()
    assert second.result() is Verdict.GO
    assert not third.done()


async def test_a_cool_down_ends_by_itself() -> None:
    turns, one = Turns(4, jitter=lambda: 0.0), call(arrived_ms=mono_ms())
    turns.queue(one)
    assert turns.failed(one, refused(0)) is Verdict.HOLD
    turn = turns.queue(one)
    assert not turn.done()
    assert "429 rate_limited" in turns.why(one)
    async with asyncio.timeout(20):
        assert await turn is Verdict.GO


async def test_who_leaves_makes_room() -> None:
    turns = Turns(1)
    turns.queue(call())
    leaver, stayer = call(), call()
    left, stays = turns.queue(leaver), turns.queue(stayer)
    turns.leave(leaver)
    assert left.cancelled()
    turns.over()
    assert stays.result() is Verdict.GO


async def test_who_would_wait_in_vain_is_told_at_once() -> None:
    clock = FakeClock()
    turns, one, other = Turns(1, now_ms=clock.mono_ms), call(), call()
    turns.queue(one)
    waits = turns.queue(other)
    assert turns.failed(one, refused(61_000)) is Verdict.GIVE_UP
    assert waits.result() is Verdict.GIVE_UP
    late = turns.queue(call())
    assert late.result() is Verdict.GIVE_UP
    clock.advance(1_000)
    assert not turns.queue(call()).done()


async def test_an_answer_opens_the_gate_for_the_rest() -> None:
    clock = FakeClock()
    turns, probe = Turns(9, now_ms=clock.mono_ms), call()
    turns.queue(probe)
    turns.failed(probe, refused(1_000))
    clock.advance(1_000)
    assert turns.queue(probe).result() is Verdict.GO
    rest = turns.queue(call())
    assert not rest.done()
    turns.accepted(probe)
    assert rest.result() is Verdict.GO


async def test_a_trip_ends_all_waits_and_stays() -> None:
    turns = Turns(1)
    turns.queue(call())
    held = turns.queue(call())
    turns.tripped(TRIP)
    turns.tripped(Trip(ErrorClass.BILLING, "later", "later"))
    assert held.result() is Verdict.REFUSED
    assert turns.trip is TRIP
    assert turns.queue(call()).result() is Verdict.REFUSED
