"""A result as people read it."""

import pytest
from tests.fakes.receipts import asked, closed, ending, exchange_end, exchange_start, honest
from tests.fakes.results import a_result, an_open_attempt

from stanchion.protocol.admin import EffortSeen
from stanchion.protocol.evidence import Answer, AnswerState
from stanchion.protocol.exchange import Answered, ErrorClass, ExchangeResult
from stanchion.protocol.outcome import EndReason, Flag, Grade
from stanchion.protocol.receipt import ExchangeEnd, ExchangeStart
from stanchion.protocol.result import ReceiptsShown, Stages, UsageShown
from stanchion.runner.results.result_text import result_text, score_text
from stanchion.runner.results.wire_picture import picture


def test_a_result_shows_every_stage_of_limit_and_effort() -> None:
    text = result_text(a_result())

    assert "limit  default 128000 | written 128000 | wire 128000" in text
    assert "effort max | written max | wire max" in text
    assert "ENDED  completed · score 1" in text


def test_a_withheld_score_is_never_a_number() -> None:
    result = a_result(EndReason.HARNESS_SIGNAL, score=None, reward={"reward": 0.0})

    assert score_text(result) == "score WITHHELD (tests said 0)"
    assert "blame harness · retry now" in result_text(result)
    assert score_text(a_result(score=None, reward=None, grade=Grade.NOT_RUN)) == (
        "score WITHHELD (not_run)"
    )


def test_declared_answers_are_shown_and_none_is_no_line() -> None:
    answers = (
        Answer(path="/work/a", state=AnswerState.PRESENT),
        Answer(path="/work/b", state=AnswerState.ABSENT),
    )
    assert "answer /work/a present, /work/b absent\n" in result_text(a_result(answers=answers))
    assert "answer" not in result_text(a_result())


def test_unknown_is_said_as_unknown() -> None:
    nothing = Stages(
        sandbox_start_s=None,
        supervisor_start_s=None,
        first_response_s=None,
        agent_s=None,
        held_s=None,
        verify_s=None,
        total_s=None,
    )
    text = result_text(
        a_result(
            stages=nothing,
            reasoning_present=None,
            effort=EffortSeen(requested=None, written=None, observed=(None,)),
            receipts=ReceiptsShown(head=None, exchanges=0, bundle=None),
        )
    )

    assert "start unknown" in text
    assert "reasoning unknown" in text
    assert "effort unspecified | written nothing | wire nothing" in text
    assert "no receipts at hand" in text


def test_flags_are_shown() -> None:
    result = a_result()
    outcome = type(result.outcome)(
        reason=EndReason.COMPLETED,
        detail="d",
        blame=None,
        retry=result.outcome.retry,
        flags=(Flag.CHILD_OOM,),
    )

    assert "flags child_oom" in result_text(a_result(outcome=outcome))


def test_with_the_receipts_every_request_is_counted() -> None:
    text = result_text(a_result(), picture(closed()))

    assert "profile evals" in text
    assert "wire 128000 x3" in text
    assert "max | written max | wire max x3" in text
    assert "asked Qwen/Qwen3 x3 | served nothing x3" in text
    assert "reasoning 0 of 3 (3 unknown)" in text
    assert "known for 0 of 3" in text
    assert "9 records · head dddd… · not proven: that no other route" in text


def test_a_row_of_failures_at_the_end_is_named() -> None:
    writing = honest(exchanges=1)
    for number in (2, 3):
        writing.add(ExchangeStart, **exchange_start(number, sent=asked()))
        answered = Answered(
            result=ExchangeResult.PROVIDER_ERROR,
            status=529,
            error_class=ErrorClass.OVERLOADED,
            provider_request_id="req_9",
        )
        writing.add(ExchangeEnd, **{**exchange_end(number), "answered": answered})
    result = a_result(EndReason.STALLED_FAILING, score=None, reward=None)
    text = result_text(result, picture(writing.close(**ending("stalled_failing", score=None))))

    assert "3 requests, last 2 failed, the very last 529 overloaded (req_9)" in text
    assert "stanchion rerun 7f3a90c41b22.1" in text


def test_the_next_command_uses_the_path_that_was_given() -> None:
    assert "stanchion logs out/attempts/a__1" in result_text(a_result(), where="out/attempts/a__1")


@pytest.mark.parametrize(
    ("attempt", "planned", "said"),
    [
        (2, 3, "attempt 2 of 3 ·"),
        (4, 3, "attempt 4, a retry ·"),
        (2, None, "attempt 2 ·"),
        (1, 1, "attempt 1 ·"),
    ],
)
def test_an_attempt_is_numbered_among_the_planned(
    attempt: int, planned: int | None, said: str
) -> None:
    assert said in result_text(a_result(attempt=attempt), planned=planned)


def test_an_attempt_that_runs_has_no_ending_and_says_how_to_join() -> None:
    text = result_text(an_open_attempt())

    assert "ENDED" not in text
    assert "RUNS   agent" in text
    assert "stanchion attach 7f3a90c41b22.1   or   stanchion logs -f 7f3a90c41b22.1" in text


def test_calls_and_sendings_are_shown_apart() -> None:
    receipts = ReceiptsShown(
        head="d" * 64, exchanges=3, bundle="/b", calls=2, sendings=5, ambiguous=1
    )
    text = result_text(a_result(receipts=receipts))
    assert "calls  2 logical · 5 sendings (1 ambiguous: nobody knows" in text
    assert "calls  3 logical · 3 sendings\n" in result_text(a_result(), picture(closed()))
    unknown = ReceiptsShown(head=None, exchanges=0, bundle=None)
    assert "calls  unknown logical · unknown sendings\n" in result_text(a_result(receipts=unknown))


def test_what_is_counted_beside_a_figure_is_said() -> None:
    usage = UsageShown(
        input_tokens=10,
        output_tokens=5,
        reasoning_tokens=7,
        cost=None,
        input_includes_cache=False,
        output_includes_reasoning=False,
    )
    text = result_text(a_result(usage=usage))
    assert "in 10 (without cache)  out 5 (without reasoning)  reasoning 7" in text
    assert "in 10  out 5  " in result_text(a_result())
