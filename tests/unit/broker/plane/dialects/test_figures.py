from typing import Any

import pytest

from stanchion.broker.plane.dialects.figures import MAX_TOKENS, Figures, Reported
from stanchion.protocol.usage import Usage


def report(
    *said: tuple[str, object], produced: bool = False, reasoned: bool = False, **changes: Any
) -> Reported:
    figures = Figures()
    for name, value in said:
        figures.take(name, value)
    terms: dict[str, Any] = {
        "output": "completion_tokens",
        "input_includes_cache": True,
        "output_includes_reasoning": False,
        **changes,
    }
    return figures.report(produced=produced, reasoned=reasoned, **terms)


def test_nothing_said_is_unknown_and_so_is_what_it_would_include() -> None:
    found = report(("input_tokens", None))
    assert found == Reported()
    assert (found.usage, found.why) == (None, "the provider reported no usage")
    assert (found.input_includes_cache, found.output_includes_reasoning) == (None, None)


def test_the_last_figure_stands_and_an_absent_one_keeps_it() -> None:
    found = report(("output_tokens", 1), ("output_tokens", 7), ("output_tokens", None))
    assert found.usage == Usage(output_tokens=7)
    assert (found.input_includes_cache, found.output_includes_reasoning) == (True, False)


@pytest.mark.parametrize(
    ("value", "kept"),
    [
        (-1, "-1"),
        (1.5, "1.5"),
        (30.0, "30.0"),
        (True, "true"),
        ("30", "'30'"),
        (MAX_TOKENS + 1, str(MAX_TOKENS + 1)),
        ([], "an array"),
        ({}, "an object"),
    ],
)
def test_what_is_no_count_is_null_and_kept_as_it_was_said(value: object, kept: str) -> None:
    found = report(("input_tokens", 3), ("output_tokens", value))
    assert found.usage == Usage(input_tokens=3)
    assert found.malformed == {"output_tokens": kept}
    assert found.why == f"no count of tokens: output_tokens {kept}"
    assert not found.contradicted


def test_malformed_figures_alone_are_a_report_and_no_absence() -> None:
    assert report(("output_tokens", -1)).usage == Usage()


def test_a_count_after_one_that_was_none_stands() -> None:
    found = report(("output_tokens", "x"), ("output_tokens", 5))
    assert (found.usage, found.malformed) == (Usage(output_tokens=5), {})


def test_a_figure_that_falls_is_malformed_for_good() -> None:
    found = report(("output_tokens", 9), ("output_tokens", 4), ("output_tokens", 10))
    assert found.usage == Usage()
    assert found.malformed == {"output_tokens": "9, then 4"}
    assert found.why == "output_tokens fell, although figures are cumulative"


def test_the_largest_count_is_one() -> None:
    assert report(("output_tokens", MAX_TOKENS)).usage == Usage(output_tokens=MAX_TOKENS)


def test_a_zero_stays_where_nothing_contradicts_it() -> None:
    found = report(("output_tokens", 0), ("reasoning_tokens", 0))
    assert found.usage == Usage(output_tokens=0, reasoning_tokens=0)
    assert (found.why, found.malformed, found.contradicted) == (None, {}, False)


def test_a_zero_against_content_is_a_contradiction() -> None:
    found = report(("input_tokens", 3), ("output_tokens", 0), produced=True)
    assert found.usage == Usage(input_tokens=3)
    assert found.malformed == {"output_tokens": "0"}
    assert (found.contradicted, found.why) == (
        True,
        "0 output tokens were reported for a response with content",
    )


def test_a_zero_of_reasoning_against_reasoning_is_a_contradiction_of_its_own() -> None:
    found = report(("output_tokens", 9), ("reasoning_tokens", 0), produced=True, reasoned=True)
    assert found.usage == Usage(output_tokens=9)
    assert found.malformed == {"reasoning_tokens": "0"}
    assert found.why == "0 reasoning tokens were reported for a response with reasoning"


def test_what_was_growing_still_is_left_out() -> None:
    found = report(
        ("input_tokens", 3), ("output_tokens", 5), momentary=frozenset({"output_tokens"})
    )
    assert found.usage == Usage(input_tokens=3)
    assert found.malformed == {}
    assert found.why == "the response did not end, its output was counted so far only"


def test_output_that_was_not_said_is_named_as_the_provider_does() -> None:
    found = report(("input_tokens", 3), produced=True)
    assert found.why == "the provider reported no completion_tokens"


def test_a_figure_can_be_asked_for_as_it_stands() -> None:
    figures = Figures()
    figures.take("output_tokens", 5)
    figures.take("input_tokens", -5)
    assert (figures.get("output_tokens"), figures.get("input_tokens")) == (5, None)
    assert figures.get("reasoning_tokens") is None
