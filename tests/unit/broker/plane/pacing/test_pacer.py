import pytest

from stanchion.broker.plane.pacing.pacer import (
    FIRST_BACKOFF_MS,
    LONGEST_BACKOFF_MS,
    PROBE_MS,
    SHORTEST_HOLD_MS,
    Call,
    Failure,
    Pacer,
    Verdict,
    failure_of,
)
from stanchion.protocol.exchange import Answered, ErrorClass, ExchangeResult


def call(*, max_held_ms: int = 1_200_000, hold_ms: int = 290_000, arrived_ms: int = 0) -> Call:
    return Call(max_held_ms=max_held_ms, hold_ms=hold_ms, arrived_ms=arrived_ms)


def refused(retry_after_ms: int | None = None) -> Failure:
    return Failure("429 rate_limited", retry_after_ms, account_wide=True)


OWN = Failure("500 server_error", None, account_wide=False)


def go(pacer: Pacer, one: Call, now_ms: int) -> None:
    pacer.wait(one, now_ms)
    assert pacer.next(now_ms) is one


def fail(pacer: Pacer, one: Call, failure: Failure, now_ms: int, *, jitter: float = 0.0) -> Verdict:
    pacer.released()
    return pacer.failed(one, failure, now_ms=now_ms, jitter=jitter)


def test_where_nothing_holds_a_request_it_leaves_at_once() -> None:
    pacer, one, other = Pacer(max_in_flight=2), call(), call()
    assert pacer.free(one, 5)
    assert (pacer.in_flight, one.place, one.started_ms, one.held_ms) == (1, 1, 5, 0)
    assert pacer.free(other, 6)
    assert not pacer.free(call(), 7)
    assert (pacer.in_flight, other.place) == (2, 2)


def test_nothing_overtakes_what_waits_or_leaves_into_a_cool_down() -> None:
    pacer, one, late = Pacer(max_in_flight=2), call(), call()
    pacer.wait(one, 0)
    assert not pacer.free(call(), 0)
    go(pacer := Pacer(max_in_flight=2), one := call(), 0)
    fail(pacer, one, refused(1000), 0)
    for now_ms in (500, 1500):  # cooling, then until one was answered: each leaves as a probe
        assert not pacer.free(call(), now_ms)
    late.ready_ms = 100
    assert not Pacer(max_in_flight=2).free(late, 99)
    assert Pacer(max_in_flight=2).free(late, 100)


@pytest.mark.parametrize(
    ("status", "kind", "paced", "account_wide"),
    [
        (429, ErrorClass.RATE_LIMITED, True, True),
        (529, ErrorClass.OVERLOADED, True, True),
        (503, ErrorClass.OVERLOADED, True, True),
        (500, ErrorClass.SERVER_ERROR, True, False),
        (502, ErrorClass.SERVER_ERROR, True, False),
        (504, ErrorClass.SERVER_ERROR, True, False),
        (524, ErrorClass.SERVER_ERROR, True, False),
        (522, ErrorClass.SERVER_ERROR, True, True),
        (525, ErrorClass.SERVER_ERROR, False, None),
        (429, ErrorClass.QUOTA, False, None),
        (429, ErrorClass.BILLING, False, None),
        (401, ErrorClass.AUTH, False, None),
        (400, ErrorClass.INVALID_REQUEST, False, None),
        (501, ErrorClass.SERVER_ERROR, False, None),
        (200, ErrorClass.OVERLOADED, False, None),
    ],
)
def test_only_what_a_wait_may_mend_is_tried_again(
    status: int, kind: ErrorClass, *, paced: bool, account_wide: bool | None
) -> None:
    answered = Answered(result=ExchangeResult.PROVIDER_ERROR, status=status, error_class=kind)
    found = failure_of(answered, None)
    assert (found is not None) is paced
    if found is not None:
        assert found.account_wide is account_wide
        assert str(status) in found.words


def test_a_server_error_with_a_retry_after_speaks_of_the_account() -> None:
    answered = Answered(
        result=ExchangeResult.PROVIDER_ERROR, status=500, error_class=ErrorClass.SERVER_ERROR
    )
    found = failure_of(answered, 5_000)
    assert found == Failure("500 server_error", 5_000, account_wide=True)


def test_a_provider_out_of_reach_is_tried_again_and_a_good_answer_stands() -> None:
    unreachable = Answered(
        result=ExchangeResult.UPSTREAM_UNREACHABLE, error_class=ErrorClass.CONNECT
    )
    found = failure_of(unreachable, None)
    assert found is not None
    assert found.account_wide
    assert failure_of(Answered(result=ExchangeResult.COMPLETED, status=200), None) is None


def test_a_free_account_lets_everybody_go_at_once() -> None:
    pacer = Pacer(max_in_flight=3)
    for _ in range(3):
        go(pacer, call(), 10)
    assert (pacer.in_flight, pacer.waiting, pacer.wake_ms) == (3, 0, None)


def test_retry_after_is_obeyed_and_the_time_is_the_calls() -> None:
    pacer, one = Pacer(max_in_flight=3), call()
    go(pacer, one, 1_000)
    assert fail(pacer, one, refused(2_000), 1_100) is Verdict.HOLD
    pacer.wait(one, 1_100)
    assert pacer.next(3_099) is None
    assert pacer.wake_ms == 3_100
    assert pacer.next(3_100) is one
    assert one.held_ms == 2_000


def test_a_retry_after_of_nothing_is_no_invitation_to_a_loop() -> None:
    pacer, one = Pacer(max_in_flight=3), call()
    go(pacer, one, 0)
    fail(pacer, one, refused(0), 0)
    pacer.wait(one, 0)
    assert pacer.wake_ms == SHORTEST_HOLD_MS


def test_without_one_the_wait_doubles_with_jitter_up_to_a_bound() -> None:
    waits = []
    pacer, one, now = Pacer(max_in_flight=3), call(hold_ms=10_000_000), 0
    for _ in range(8):
        go(pacer, one, now)
        assert fail(pacer, one, refused(), now, jitter=1.0) is Verdict.HOLD
        waits.append(pacer.cool_until_ms - now)
        now = pacer.cool_until_ms
    assert waits[:3] == [FIRST_BACKOFF_MS, 2 * FIRST_BACKOFF_MS, 4 * FIRST_BACKOFF_MS]
    assert waits[-1] == LONGEST_BACKOFF_MS
    go(pacer, one, now)
    fail(pacer, one, refused(), now, jitter=0.0)
    assert pacer.cool_until_ms - now == LONGEST_BACKOFF_MS / 2


def test_one_cool_down_holds_all_in_order_of_arrival() -> None:
    pacer = Pacer(max_in_flight=10)
    first, second, third = call(), call(), call()
    go(pacer, first, 0)
    go(pacer, second, 0)
    assert fail(pacer, second, refused(4_000), 100) is Verdict.HOLD
    pacer.wait(second, 100)
    pacer.wait(third, 200)
    assert fail(pacer, first, refused(3_000), 300) is Verdict.HOLD
    pacer.wait(first, 300)
    assert "cools down after 429 rate_limited" in pacer.why(third, 300)
    assert pacer.next(4_099) is None
    assert pacer.next(4_100) is first


def test_after_a_cool_down_they_leave_one_by_one_until_one_is_answered() -> None:
    pacer = Pacer(max_in_flight=10)
    calls = [call() for _ in range(5)]
    go(pacer, calls[0], 0)
    fail(pacer, calls[0], refused(1_000), 0)
    for one in calls:
        pacer.wait(one, 0)
    assert pacer.next(1_000) is calls[0]
    assert pacer.next(1_000) is None
    assert pacer.wake_ms == 1_000 + PROBE_MS
    assert pacer.next(1_000 + PROBE_MS) is calls[1]
    pacer.accepted(calls[0])
    assert [pacer.next(3_001) for _ in range(3)] == calls[2:]


def test_a_burst_that_fails_together_counts_once() -> None:
    pacer = Pacer(max_in_flight=10)
    calls = [call() for _ in range(4)]
    for one in calls:
        go(pacer, one, 0)
    for at, one in enumerate(calls):
        fail(pacer, one, refused(), 10 + at, jitter=1.0)
    assert pacer.cool_until_ms == 13 + FIRST_BACKOFF_MS


def test_an_old_answer_does_not_end_a_newer_cool_down() -> None:
    pacer = Pacer(max_in_flight=10)
    old, new = call(), call()
    go(pacer, old, 0)
    go(pacer, new, 0)
    fail(pacer, new, refused(60_000), 5)
    pacer.accepted(old)
    pacer.wait(new, 6)
    assert pacer.next(7) is None
    assert pacer.cause == "429 rate_limited"


def test_a_server_error_holds_only_its_own_call() -> None:
    pacer = Pacer(max_in_flight=10)
    poison, other = call(), call()
    go(pacer, poison, 0)
    assert fail(pacer, poison, OWN, 0, jitter=1.0) is Verdict.HOLD
    pacer.wait(poison, 0)
    go(pacer, other, 1)
    assert pacer.why(poison, 1) == "another try after a failure"
    assert pacer.wake_ms == FIRST_BACKOFF_MS
    assert pacer.next(FIRST_BACKOFF_MS) is poison


def test_slots_are_given_back_and_waiting_for_one_is_held_time() -> None:
    pacer = Pacer(max_in_flight=1)
    first, second = call(), call()
    go(pacer, first, 0)
    pacer.wait(second, 100)
    assert pacer.next(200) is None
    assert pacer.wake_ms is None
    assert "1 requests of the account are in flight" in pacer.why(second, 200)
    pacer.released()
    assert pacer.next(350) is second
    assert second.held_ms == 250


def test_a_retry_after_beyond_the_longest_wait_gives_up_at_once() -> None:
    pacer, one, other = Pacer(max_in_flight=9), call(max_held_ms=60_000), call(max_held_ms=60_000)
    go(pacer, one, 0)
    pacer.wait(other, 0)
    assert fail(pacer, one, refused(60_001), 0) is Verdict.GIVE_UP
    assert pacer.hopeless(0) == [other]
    patient = call(max_held_ms=60_001)
    pacer.wait(patient, 0)
    assert pacer.hopeless(0) == [other]


def test_the_longest_wait_counts_over_the_harnesss_own_tries() -> None:
    pacer, one = Pacer(max_in_flight=9), call(max_held_ms=25_000, hold_ms=10_000)
    go(pacer, one, 0)
    assert fail(pacer, one, refused(20_000), 0) is Verdict.HOLD
    pacer.wait(one, 0)
    assert one.patience_ms(0) == 10_000
    pacer.leave(one, 10_000)
    assert one.out_of_patience(10_000) is Verdict.HAND_BACK
    one.arrived_ms = 12_000  # the harness asks again: the same call
    pacer.wait(one, 12_000)
    assert pacer.next(20_000) is one
    assert one.held_ms == 18_000
    assert fail(pacer, one, refused(8_000), 20_000) is Verdict.GIVE_UP


def test_a_call_keeps_its_place_when_it_is_made_again() -> None:
    pacer, one, later = Pacer(max_in_flight=1), call(), call()
    busy = call()
    go(pacer, busy, 0)
    pacer.wait(one, 1)
    pacer.wait(later, 2)
    pacer.leave(one, 3)
    pacer.leave(one, 3)
    pacer.wait(one, 4)
    pacer.released()
    assert pacer.next(5) is one


def test_a_hold_that_is_over_when_it_fails_is_handed_back() -> None:
    pacer, one = Pacer(max_in_flight=9), call(hold_ms=10_000)
    go(pacer, one, 0)
    assert fail(pacer, one, refused(1_000), 11_000) is Verdict.HAND_BACK


def test_no_wait_at_all_gives_up_at_the_first_failure() -> None:
    pacer, one = Pacer(max_in_flight=9), call(max_held_ms=0)
    go(pacer, one, 0)
    assert fail(pacer, one, refused(), 1) is Verdict.GIVE_UP
    assert one.out_of_patience(1) is Verdict.GIVE_UP
