from itertools import product

from stanchion.supervisor.watchdog_states import MEANING, TRANSITIONS, WAITS, Observed, State


def test_the_table_says_where_everything_leads() -> None:
    assert set(TRANSITIONS) == set(State)
    assert all(set(row) == set(Observed) for row in TRANSITIONS.values())
    assert set(MEANING) == {*State, *Observed}


def test_a_stop_is_reached_by_a_limit_only_and_is_never_left() -> None:
    into_stop = {
        (state, observed)
        for state, observed in product(State, Observed)
        if TRANSITIONS[state][observed] is State.STOPPED
    }
    leaving = {(State.STOPPED, observed) for observed in Observed}
    assert into_stop - leaving == {
        (State.RUNNING, Observed.LIMIT),
        (State.FAILING, Observed.LIMIT),
    }
    assert leaving <= into_stop


def test_a_wait_is_begun_and_ended_by_the_broker_and_forgets_no_failure() -> None:
    for state in (State.RUNNING, State.FAILING):
        assert TRANSITIONS[state][Observed.HELD] in WAITS
        assert TRANSITIONS[TRANSITIONS[state][Observed.HELD]][Observed.LET_GO] is state
        assert TRANSITIONS[TRANSITIONS[state][Observed.HELD]][Observed.FAILURE] is (
            State.WAITING_FAILED
        )
    for state in WAITS:
        for observed in set(Observed) - {Observed.LET_GO}:
            assert TRANSITIONS[state][observed] in WAITS


def test_progress_alone_ends_the_failing() -> None:
    failing = {State.FAILING, State.WAITING_FAILED}
    ended = {
        observed
        for state, observed in product(failing, Observed)
        if TRANSITIONS[state][observed] not in {*failing, State.STOPPED}
    }
    assert ended == {Observed.PROGRESS}
