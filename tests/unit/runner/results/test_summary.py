"""A mean is never shown without what it leaves out."""

from typing import Any

from tests.fakes.results import a_result

from stanchion.protocol.outcome import EndReason, Grade
from stanchion.protocol.result import AttemptResult, ReceiptsShown, UsageShown
from stanchion.runner.results.summary import cause, summarise, summary_text


def many(*results: AttemptResult, **more: Any) -> Any:
    return summarise(results, **more)


def test_withheld_attempts_are_counted_by_cause_and_left_out_of_the_mean() -> None:
    summary = many(
        a_result(attempt=1, score=1.0),
        a_result(attempt=2, score=0.0),
        a_result(EndReason.HARNESS_SIGNAL, attempt=3, score=None),
        a_result(EndReason.HARNESS_SIGNAL, attempt=4, score=None),
    )

    assert (summary.attempts, summary.planned, summary.scored) == (4, 4, 2)
    assert summary.coverage == 0.5
    assert summary.withheld == {"harness_signal": 2}
    assert summary.mean_over_scored == 0.5
    assert "2 (2 harness_signal)" in summary_text(summary)


def test_nothing_scored_is_no_mean_and_no_zero() -> None:
    summary = many(a_result(EndReason.OOM, score=None))

    assert summary.mean_over_scored is None
    assert "mean over scored  unknown" in summary_text(summary)
    assert many().coverage is None
    assert many(planned={"hello": 2}).coverage == 0.0


def test_a_good_ending_without_a_grade_is_the_graders_fault() -> None:
    result = a_result(score=None, grade=Grade.NO_REWARD)

    assert cause(result) == "no_reward"


def test_a_planned_attempt_counts_once_however_often_it_was_tried() -> None:
    summary = many(
        a_result(EndReason.OOM, attempt=1, score=None),
        a_result(attempt=3, score=1.0),
        a_result(EndReason.OOM, attempt=2, score=None),
        a_result(EndReason.HARNESS_EXIT, attempt=4, score=None),
        planned={"hello": 2},
        retried={("hello", 1), ("hello", 2)},
    )

    assert (summary.planned, summary.attempts, summary.scored) == (2, 4, 1)
    assert (summary.withheld, summary.retried) == ({"harness_exit": 1}, {"oom": 2})
    assert (summary.coverage, summary.mean_over_scored) == (0.5, 1.0)
    assert "retried           2 (2 oom)" in summary_text(summary)


def test_what_runs_and_what_never_started_is_there_for_each_task_and_in_all() -> None:
    summary = many(
        a_result(),
        planned={"hello": 3, "fix-bug": 3},
        running={("hello", 2)},
    )

    assert (summary.running, summary.not_started) == (1, 4)
    assert {name: sums.not_started for name, sums in summary.tasks.items()} == {
        "hello": 1,
        "fix-bug": 3,
    }
    text = summary_text(summary)
    assert "hello    scored 1 of 3  mean 1.000  withheld 0  running 1  not started 1" in text
    assert "fix-bug  scored 0 of 3  mean unknown  withheld 0  not started 3" in text


def test_an_unknown_part_makes_the_sum_unknown() -> None:
    priced = UsageShown(input_tokens=1, output_tokens=2, reasoning_tokens=None, cost="0.10")
    both = many(a_result(usage=priced), a_result(attempt=2, usage=priced))

    assert both.usage == UsageShown(
        input_tokens=2, output_tokens=4, reasoning_tokens=None, cost="0.20"
    )
    assert many(a_result(usage=priced), a_result(attempt=2)).usage.cost is None
    assert many().usage.input_tokens is None


def test_calls_and_sendings_are_summed_apart_and_unknown_where_one_is() -> None:
    one = ReceiptsShown(head=None, exchanges=3, bundle=None, calls=2, sendings=4, ambiguous=1)
    old = ReceiptsShown(head=None, exchanges=3, bundle=None)
    both = many(a_result(receipts=one), a_result(attempt=2, receipts=one))

    assert (both.calls, both.sendings, both.ambiguous) == (4, 8, 2)
    assert "calls             4 logical, 8 sendings (2 ambiguous)" in summary_text(both)
    mixed = many(a_result(receipts=one), a_result(attempt=2, receipts=old))
    assert (mixed.calls, mixed.sendings) == (None, None)
    assert "calls             unknown logical, unknown sendings\n" in summary_text(mixed)


def test_attempts_that_count_different_things_are_never_added_up() -> None:
    def used(*, cache: bool | None, reasoning: bool | None) -> UsageShown:
        return UsageShown(
            input_tokens=10,
            output_tokens=5,
            reasoning_tokens=None,
            cost=None,
            input_includes_cache=cache,
            output_includes_reasoning=reasoning,
        )

    same = used(cache=True, reasoning=True)
    both = many(a_result(usage=same), a_result(attempt=2, usage=same)).usage
    assert (both.input_tokens, both.output_tokens) == (20, 10)
    assert (both.input_includes_cache, both.output_includes_reasoning) == (True, True)
    other = used(cache=False, reasoning=False)
    mixed = many(a_result(usage=same), a_result(attempt=2, usage=other)).usage
    assert (mixed.input_tokens, mixed.output_tokens) == (None, None)
    assert (mixed.input_includes_cache, mixed.output_includes_reasoning) == (None, None)
