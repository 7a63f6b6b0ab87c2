import pytest

from stanchion.protocol.exchange import Answered, ErrorClass, ExchangeResult, Finish
from stanchion.supervisor.evidence import Evidence, RequestEnded, Step, Tick, ToolFailed
from stanchion.supervisor.failures import Failures, failed

NOTHING = Answered(
    result=ExchangeResult.COMPLETED, text_present=False, tool_calls=0, cut_tool_calls=0
)
BROKEN = Answered(result=ExchangeResult.TRUNCATED)
OVERFLOW = Answered(result=ExchangeResult.PROVIDER_ERROR, error_class=ErrorClass.CONTEXT_OVERFLOW)
CUT = Answered(
    result=ExchangeResult.COMPLETED, finish=Finish.LENGTH, text_present=False, tool_calls=0,
    cut_tool_calls=1,
)  # fmt: skip
UNREAD = Answered(result=ExchangeResult.COMPLETED)
CALL = Answered(result=ExchangeResult.COMPLETED, text_present=False, tool_calls=1, cut_tool_calls=0)


def after(*evidence: Evidence) -> Failures:
    failures = Failures()
    for at_ms, item in enumerate(evidence):
        failures.observe(item, at_ms)
    return failures


@pytest.mark.parametrize("result", [*ExchangeResult])
def test_every_end_but_completion_is_a_failure(result: ExchangeResult) -> None:
    assert failed(Answered(result=result, text_present=True)) is (
        result is not ExchangeResult.COMPLETED
    )


def test_a_complete_response_fails_only_where_it_is_known_to_hold_nothing() -> None:
    assert failed(NOTHING)
    assert not failed(UNREAD)
    assert not failed(CALL)
    assert not failed(CUT)


def test_the_first_and_the_last_failure_are_kept() -> None:
    failures = after(Tick(), RequestEnded(1, BROKEN), Tick(), RequestEnded(2, NOTHING), Tick())
    assert (failures.first_ms, failures.last_ms, failures.in_a_row) == (1, 3, 2)
    assert after(Tick()).first_ms is None


def test_a_failure_that_shows_on_the_wire_and_as_a_step_is_counted_once() -> None:
    unknown = Step(session="s", reason="unknown", counts=False)
    assert after(RequestEnded(1, BROKEN), unknown, RequestEnded(2, BROKEN), unknown).in_a_row == 2


@pytest.mark.parametrize(
    "evidence",
    [
        Step(session="s", reason="stop", counts=False),
        Step(session="s", reason="unknown", counts=True),
        RequestEnded(1, BROKEN, side=True),
        RequestEnded(1, CALL),
    ],
)
def test_what_is_no_failure_leaves_no_trace(evidence: Evidence) -> None:
    assert after(evidence) == Failures()


def test_context_overflows_are_counted_apart_too() -> None:
    failures = after(RequestEnded(1, OVERFLOW), RequestEnded(2, BROKEN), RequestEnded(3, OVERFLOW))
    assert (failures.overflows, failures.requests) == (2, 3)


def test_invalid_calls_are_counted_while_they_say_the_same_and_start_no_clock() -> None:
    calls = [ToolFailed(item=f"i{number}", call="a") for number in range(3)]
    failures = after(*calls, calls[-1])
    assert (failures.invalid_calls, failures.first_ms) == (3, None)
    assert after(*calls, ToolFailed(item="j", call="b")).invalid_calls == 1
