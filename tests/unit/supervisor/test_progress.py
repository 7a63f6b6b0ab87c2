import pytest

from stanchion.protocol.exchange import Answered, ExchangeResult
from stanchion.supervisor.evidence import Evidence, RequestEnded, Step, Tick, ToolsActive
from stanchion.supervisor.progress import MOST_UNMATCHED, Progress

CONTENT = RequestEnded(1, Answered(result=ExchangeResult.COMPLETED, text_present=True))
CALL = RequestEnded(1, Answered(result=ExchangeResult.COMPLETED, tool_calls=1))
EMPTY = RequestEnded(1, Answered(result=ExchangeResult.COMPLETED, text_present=False, tool_calls=0))
CUT = RequestEnded(1, Answered(result=ExchangeResult.TRUNCATED, text_present=True))
TITLE = RequestEnded(1, Answered(result=ExchangeResult.COMPLETED, text_present=True), side=True)
STEP = Step(session="s", reason="stop", counts=True)
NOT_COUNTED = Step(session="s", reason="unknown", counts=False)


def verdicts(*evidence: Evidence) -> list[bool]:
    progress = Progress()
    return [progress.observe(item) for item in evidence]


def test_before_the_first_saved_step_the_wire_alone_counts() -> None:
    assert verdicts(CONTENT, CALL) == [True, True]


@pytest.mark.parametrize("nothing", [EMPTY, CUT, TITLE, Tick(), ToolsActive()])
def test_what_is_no_completed_response_with_content_is_none(nothing: Evidence) -> None:
    assert verdicts(nothing) == [False]


def test_a_response_and_its_step_make_one() -> None:
    assert verdicts(NOT_COUNTED, CONTENT, STEP) == [False, False, True]


def test_the_step_may_be_seen_first() -> None:
    assert verdicts(NOT_COUNTED, STEP, CONTENT) == [False, False, True]


def test_steps_without_responses_are_none_however_many_an_agent_writes() -> None:
    assert not any(verdicts(*[STEP] * 100))


def test_responses_that_are_never_saved_are_none() -> None:
    assert not any(verdicts(NOT_COUNTED, *[CONTENT] * 100))


def test_a_step_that_does_not_count_joins_nothing() -> None:
    assert verdicts(NOT_COUNTED, CONTENT, NOT_COUNTED) == [False, False, False]


def test_two_agents_may_finish_in_either_order() -> None:
    assert verdicts(STEP, CONTENT, CONTENT, CONTENT, STEP, STEP) == [
        False,
        True,
        False,
        False,
        True,
        True,
    ]


def test_forgotten_responses_do_not_vouch_for_steps_for_ever() -> None:
    progress = Progress()
    progress.observe(NOT_COUNTED)
    for _ in range(1000):
        progress.observe(CONTENT)
    assert sum(progress.observe(STEP) for _ in range(1000)) == MOST_UNMATCHED
    assert progress.counted_steps == 1000


def test_a_side_request_is_no_response_behind_a_step() -> None:
    assert verdicts(NOT_COUNTED, TITLE, STEP, CONTENT) == [False, False, False, True]
