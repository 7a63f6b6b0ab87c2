from typing import Any

import pytest

from bench.broker.judging import beside, judged


def a_round(**changes: float) -> dict[str, Any]:
    figures = {
        "chunk": 40.0, "request": 300.0, "lag_p99_ms": 1.5, "pss_mb": 80.0, "events_per_s": 9000.0,
        "errors": 0.0, "errors_of_1500": 0.0, **changes,
    }  # fmt: skip
    return {
        "nginx": {
            "streams": {"cpu_us_per_unit": 30.0},
            "requests": {"cpu_us_per_unit": 20.0},
        },
        "broker": {
            "streams": {
                "cpu_us_per_unit": figures["chunk"],
                **{name: figures[name] for name in ("lag_p99_ms", "pss_mb", "errors")},
            },
            "held": {"errors": figures["errors_of_1500"]},
            "requests": {"cpu_us_per_unit": figures["request"]},
            "ingest": {"events_per_s": figures["events_per_s"]},
        },
    }


def verdicts(*rounds: dict[str, Any], calm: bool = True) -> dict[str, str]:
    return {row["id"]: row["verdict"] for row in judged(list(rounds), calm=calm)}  # type: ignore[misc]


def test_a_figure_meets_its_goal_or_its_bar_or_neither() -> None:
    assert verdicts(a_round()) == {
        "chunk": "goal", "request": "bar", "lag": "goal", "held": "goal", "pss": "bar",
        "ingest": "bar",
    }  # fmt: skip
    worse = a_round(chunk=61.0, request=301.0, lag_p99_ms=41.0, pss_mb=121.0, events_per_s=4999.0)
    found = verdicts(worse)
    assert {name for name, word in found.items() if word == "missed"} == {
        "chunk", "request", "lag", "pss", "ingest",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("errors", "of_1500", "verdict"), [(0, 1, "bar"), (1, 0, "goal"), (1, 1, "missed")]
)
def test_streams_are_held_where_no_error_was_counted(
    errors: int, of_1500: int, verdict: str
) -> None:
    assert verdicts(a_round(errors=errors, errors_of_1500=of_1500))["held"] == verdict


def test_one_round_with_an_error_is_enough() -> None:
    assert verdicts(a_round(), a_round(errors_of_1500=3), a_round())["held"] == "bar"


def test_the_median_of_the_rounds_counts() -> None:
    rows = judged([a_round(chunk=30.0), a_round(chunk=90.0), a_round(chunk=60.0)], calm=True)
    assert (rows[0]["value"], rows[0]["rounds"], rows[0]["verdict"]) == (
        2.0,
        [1.0, 3.0, 2.0],
        "bar",
    )


def test_on_a_busy_machine_there_is_no_verdict() -> None:
    assert set(verdicts(a_round(), calm=False).values()) == {"not measured: load"}


def test_what_was_not_measured_has_no_row() -> None:
    one = a_round()
    del one["broker"]["ingest"]
    assert "ingest" not in verdicts(one)


def test_litellm_is_compared_only_where_both_were_measured() -> None:
    broker = {"requests": {"cpu_us_per_unit": 200.0}, "streams": {"cpu_us_per_unit": 50.0}}
    assert beside(broker, {}, calm=True) == []
    other = {"requests": {"cpu_us_per_unit": 12_000.0}}
    (row,) = beside(broker, other, calm=True)
    assert (row["shown"], row["verdict"]) == ("60x", "for comparison")
    assert beside(broker, other, calm=False)[0]["verdict"] == "not measured: load"
