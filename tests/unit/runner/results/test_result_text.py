"""A result as people read it."""

from tests.fakes.results import a_result

from stanchion.protocol.admin import EffortSeen
from stanchion.protocol.outcome import EndReason, Flag, Grade
from stanchion.protocol.result import ReceiptsShown, Stages
from stanchion.runner.results.result_text import result_text, score_text


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
    assert "no receipts could be fetched" in text


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
