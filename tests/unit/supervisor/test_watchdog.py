import pytest

from fakes.playbook import Playbook
from stanchion.protocol.evidence import Stop, StopReason
from stanchion.protocol.exchange import Answered, ErrorClass, ExchangeResult, Finish
from stanchion.supervisor.evidence import (
    HarnessActive,
    RequestEnded,
    RequestHeld,
    RequestStarted,
    Step,
    StreamAlive,
    Tick,
    ToolFailed,
    ToolsActive,
)
from stanchion.supervisor.watchdog_states import State

GOOD = Answered(result=ExchangeResult.COMPLETED, text_present=True)
BROKEN = Answered(result=ExchangeResult.PROVIDER_ERROR, error_class=ErrorClass.SERVER_ERROR)
OVERFLOW = Answered(result=ExchangeResult.PROVIDER_ERROR, error_class=ErrorClass.CONTEXT_OVERFLOW)
STEP = Step(session="s", reason="stop", counts=True)
UNKNOWN = Step(session="s", reason="unknown", counts=False)
FAILING, SILENT = StopReason.STALLED_FAILING, StopReason.STALLED_SILENT


def ended(exchange: int, answered: Answered = GOOD) -> RequestEnded:
    return RequestEnded(exchange=exchange, answered=answered)


def test_nothing_at_all_is_silence_after_40_minutes() -> None:
    book = Playbook() >> (2399, Tick())
    book.goes_on()
    (book >> (2400, Tick())).stopped(SILENT, at_s=2400)


def test_progress_starts_the_silence_again() -> None:
    book = Playbook() >> (2000, ended(1)) >> (2001, STEP) >> (4399, Tick())
    book.goes_on()
    (book >> (4401, Tick())).stopped(SILENT, at_s=4401)


def test_a_failure_without_a_completed_step_is_15_minutes() -> None:
    book = Playbook() >> (60, ended(1, BROKEN)) >> (959, Tick())
    book.goes_on()
    assert book.dog.state is State.FAILING
    (book >> (960, Tick())).stopped(FAILING, at_s=960)


def test_progress_ends_the_failing() -> None:
    book = Playbook() >> (60, ended(1, BROKEN)) >> (900, ended(2)) >> (901, STEP) >> (1900, Tick())
    book.goes_on()
    assert book.dog.state is State.RUNNING


def test_a_saved_step_alone_does_not_end_the_failing() -> None:
    book = Playbook() >> (1, ended(1)) >> (2, STEP) >> (60, ended(2, BROKEN)) >> (500, STEP)
    (book >> (960, Tick())).stopped(FAILING, at_s=960)


def test_a_stream_that_lives_after_the_failure_is_given_its_time() -> None:
    book = Playbook() >> (60, ended(1, BROKEN)) >> (65, RequestStarted(2))
    for at_s in range(100, 1900, 100):
        book >> (at_s, StreamAlive(2))
    book.goes_on()
    # The stream falls silent: its life ends after 300 s, and the failure still stands.
    (book >> (2100, Tick())).stopped(FAILING, at_s=2100)


def test_a_response_after_the_failure_may_run_its_tools() -> None:
    book = Playbook() >> (60, ended(1, BROKEN)) >> (70, ended(2)) >> (71, UNKNOWN)
    for at_s in range(75, 1500, 5):
        book >> (at_s, ToolsActive())
    book.goes_on()
    (book >> (1520, Tick())).stopped(FAILING, at_s=1510)


def test_a_side_request_that_fails_does_not_kill_a_long_tool() -> None:
    book = Playbook() >> (1, ended(1)) >> (2, STEP) >> (3, ended(2)) >> (4, ended(3, BROKEN))
    for at_s in range(5, 1800, 5):
        book >> (at_s, ToolsActive())
    book.goes_on()


@pytest.mark.parametrize("kind", ["requests", "steps", "both"])
def test_twenty_failing_steps_are_a_storm(kind: str) -> None:
    book = Playbook()
    for number in range(20):
        book.goes_on()
        if kind in {"requests", "both"}:
            book >> (number, ended(number, BROKEN))
        if kind in {"steps", "both"}:
            book >> (number, UNKNOWN)
    book.stopped(FAILING, at_s=19)


@pytest.mark.parametrize("text", [False, True])
def test_three_calls_cut_at_the_limit_in_a_row_are_one_end(*, text: bool) -> None:
    """Though the harness saves each as a step like any other."""
    cut = Answered(
        result=ExchangeResult.COMPLETED, finish=Finish.LENGTH, text_present=text, cut_tool_calls=1
    )
    step = Step(session="s", reason="length", counts=True)
    book = Playbook() >> (1, ended(1, cut)) >> (1, step) >> (2, ended(2, cut)) >> (2, step)
    book >> (3, ended(3)) >> (3, STEP) >> (4, ended(4, cut)) >> (5, ended(5, cut)) >> (5, step)
    book.goes_on()
    (book >> (6, ended(6, cut))).stopped(StopReason.LENGTH_STOP, at_s=6)


def test_answers_cut_in_their_text_are_the_harness_to_handle() -> None:
    cut = Answered(result=ExchangeResult.COMPLETED, finish=Finish.LENGTH, text_present=True)
    book = Playbook()
    for number in range(9):
        book >> (number, ended(number, cut)) >> (number, STEP)
    book.goes_on()


def test_progress_resets_every_storm() -> None:
    book = Playbook()
    for number in range(100):
        if number % 15 == 0:
            book >> (number, ended(number)) >> (number, STEP)
        if number % 40 < 2:
            book >> (number, ended(number, OVERFLOW))
        book >> (number, UNKNOWN)
    book.goes_on()


def test_responses_with_nothing_in_them_are_a_storm_though_each_was_complete() -> None:
    """The harness asks again on each (OpenCode issues #49414, #49008)."""
    nothing = Answered(
        result=ExchangeResult.COMPLETED, text_present=False, tool_calls=0, cut_tool_calls=0
    )
    book = Playbook()
    for number in range(20):
        book.goes_on()
        book >> (number, RequestStarted(number)) >> (number, StreamAlive(number))
        book >> (number, ended(number, nothing))
    book.stopped(FAILING, at_s=19)


def test_three_context_overflows_are_a_loop_whatever_compacts_between() -> None:
    book = Playbook() >> (1, ended(1)) >> (1, STEP)
    compaction = Step(session="s", reason="stop", counts=False)
    for number in range(1, 4):
        book.goes_on()
        book >> (number * 2, ended(number, OVERFLOW)) >> (number * 2 + 1, ended(100 + number))
        book >> (number * 2 + 1, compaction)
    book.stopped(FAILING, at_s=6)


def test_ten_identical_invalid_calls_are_a_loop() -> None:
    book = Playbook()
    for number in range(10):
        book.goes_on()
        book >> (number, ToolFailed(item=f"i{number}", call="bash\0{}"))
        book >> (number, ToolFailed(item=f"i{number}", call="bash\0{}"))  # saved again
    book.stopped(FAILING, at_s=9)


def test_different_invalid_calls_are_no_loop() -> None:
    book = Playbook()
    for number in range(60):
        book >> (number, ToolFailed(item=f"i{number}", call=f"bash\0{number // 9}"))
    book.goes_on()


def test_the_deadline_comes_even_while_progressing() -> None:
    book = Playbook(agent_s=100)
    for at_s in range(0, 100, 10):
        book >> (at_s, ended(at_s)) >> (at_s, STEP)
    book.goes_on()
    (book >> (100, Tick())).stopped(StopReason.DEADLINE, at_s=100)


def test_time_held_by_the_broker_counts_for_nothing() -> None:
    book = Playbook(agent_s=3000) >> (10, RequestStarted(1)) >> (20, RequestHeld(1, holding=True))
    book >> (20_020, Tick())
    book.goes_on()
    assert book.dog.state is State.WAITING
    assert (book.dog.active_ms, book.dog.held_ms) == (20_000, 20_000_000)
    book >> (20_020, RequestHeld(1, holding=False)) >> (22_000, Tick())
    book.goes_on()
    (book >> (22_400, Tick())).stopped(SILENT, at_s=22_400)


def test_a_storm_that_is_seen_during_a_wait_stops_when_the_wait_is_over() -> None:
    book = Playbook() >> (1, RequestStarted(1)) >> (2, RequestHeld(1, holding=True))
    for number in range(30):
        book >> (number + 3, UNKNOWN)
    book.goes_on()
    assert book.dog.state is State.WAITING_FAILED
    (book >> (40, RequestHeld(1, holding=False))).stopped(FAILING, at_s=40)


def test_a_held_request_does_not_stop_the_clock_for_another_that_runs() -> None:
    book = Playbook() >> (1, RequestStarted(1)) >> (1, RequestStarted(2))
    book >> (2, RequestHeld(1, holding=True))
    assert book.dog.state is State.RUNNING
    (book >> (2400, Tick())).stopped(SILENT, at_s=2400)


def test_tools_that_run_beside_a_held_request_keep_the_clock_running() -> None:
    book = Playbook(agent_s=600) >> (1, RequestStarted(1)) >> (2, RequestHeld(1, holding=True))
    for at_s in range(5, 650, 5):
        book >> (at_s, ToolsActive())
    assert book.decision is not None
    assert book.decision.reason is StopReason.DEADLINE


@pytest.mark.parametrize("sign", [ToolsActive(), HarnessActive(), StreamAlive(1)])
def test_signs_of_life_keep_it_running_and_are_no_progress(
    sign: ToolsActive | HarnessActive | StreamAlive,
) -> None:
    book = Playbook()
    for at_s in range(0, 20_000, 250):
        book >> (at_s, sign)
    book.goes_on()
    assert book.dog.progress_age_ms is None
    assert book.dog.liveness_age_ms is not None


@pytest.mark.parametrize("jump_s", [-3600, 3600, 86_400 * 30])
def test_a_jump_or_a_pause_never_fires(jump_s: int) -> None:
    book = Playbook(agent_s=3600) >> (1, ended(1, BROKEN)) >> (800, Tick())
    for _ in range(10):
        book.jump(jump_s)
    book.goes_on()


def test_a_decision_stands() -> None:
    book = Playbook() >> (2400, Tick())
    first = book.decision
    assert book.dog.observe(ended(1), 2_500_000) == first
    assert book.dog.state is State.STOPPED
    assert isinstance(first, Stop)
    assert "2400 s" in first.detail


def test_a_side_request_neither_fails_nor_cuts_nor_mends_anything() -> None:
    cut = Answered(
        result=ExchangeResult.COMPLETED, finish=Finish.LENGTH, text_present=True, cut_tool_calls=1
    )

    def aside(exchange: int, answered: Answered) -> RequestEnded:
        return RequestEnded(exchange=exchange, answered=answered, side=True)

    book = Playbook(max_failing_steps=2, max_cut_responses=2)
    for number in range(1, 9):
        book >> (number, aside(number, BROKEN)) >> (number, aside(number, cut))
    book.goes_on()
    assert book.dog.state is State.RUNNING
    assert book.dog.progress_age_ms is None
    book >> (60, ended(20, BROKEN)) >> (900, aside(21, GOOD)) >> (959, Tick())
    book.goes_on()
    (book >> (960, Tick())).stopped(FAILING, at_s=960)


def test_a_side_request_under_way_is_a_sign_of_life() -> None:
    book = Playbook() >> (5, RequestStarted(1)) >> (2000, StreamAlive(1)) >> (2401, Tick())
    book.goes_on()
    side = RequestEnded(exchange=1, answered=GOOD, side=True)
    assert (book >> (2402, side)).dog.liveness.in_flight == {}
