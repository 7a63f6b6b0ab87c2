"""A mean is never shown without what it leaves out."""

from tests.fakes.results import a_result

from stanchion.protocol.outcome import EndReason, Grade
from stanchion.runner.results.summary import cause, summarise, summary_text


def test_withheld_attempts_are_counted_by_cause_and_left_out_of_the_mean() -> None:
    summary = summarise(
        [
            a_result(score=1.0),
            a_result(score=0.0),
            a_result(EndReason.HARNESS_SIGNAL, score=None),
            a_result(EndReason.HARNESS_SIGNAL, score=None),
        ]
    )

    assert (summary.attempts, summary.scored, summary.coverage) == (4, 2, 0.5)
    assert summary.withheld == {"harness_signal": 2}
    assert summary.mean_over_scored == 0.5
    assert "2 (2 harness_signal)" in summary_text(summary)


def test_nothing_scored_is_no_mean_and_no_zero() -> None:
    summary = summarise([a_result(EndReason.OOM, score=None)])

    assert summary.mean_over_scored is None
    assert "mean over scored  unknown" in summary_text(summary)
    assert summarise([]).coverage is None


def test_a_good_ending_without_a_grade_is_the_graders_fault() -> None:
    result = a_result(score=None, grade=Grade.NO_REWARD)

    assert cause(result) == "no_reward"
