from typing import Any

import pytest

from stanchion.broker.plane.dialects.figures import Reported
from stanchion.broker.plane.dialects.openai_usage import RESPONSES, UsageFold
from stanchion.protocol.usage import Usage


def read(*objects: Any, produced: bool = False, reasoned: bool = False) -> Reported:
    fold = UsageFold()
    for value in objects:
        fold.take(value)
    return fold.report(produced=produced, reasoned=reasoned, ended=True)


def test_the_last_figure_wins_and_null_says_nothing() -> None:
    found = read({"prompt_tokens": 1, "completion_tokens": 2}, {"completion_tokens": 9}, None)
    assert (found.usage, found.why) == (Usage(input_tokens=1, output_tokens=9), None)


@pytest.mark.parametrize("value", [None, 3, [], {}, "x", {"completion_tokens": None}])
def test_no_object_is_unknown_with_a_reason(value: object) -> None:
    assert read(value) == Reported()


@pytest.mark.parametrize("value", ["5", -1, 1.5, True, 2**53, [1]])
def test_a_figure_out_of_range_is_malformed(value: object) -> None:
    found = read({"completion_tokens": value})
    assert found.usage == Usage()
    assert set(found.malformed) == {"output_tokens"}


@pytest.mark.parametrize(
    "said",
    [
        {"prompt_tokens_details": {"cached_tokens": 4}},
        {"cached_tokens": 4},
        {"prompt_cache_hit_tokens": 4},
    ],
)
def test_cached_tokens_sit_in_one_of_three_places(said: dict[str, object]) -> None:
    found = read({"completion_tokens": 1, **said})
    assert found.usage is not None
    assert found.usage.cache_read_tokens == 4


def test_an_explicit_zero_stays_unless_something_came() -> None:
    zero = {"prompt_tokens": 3, "completion_tokens": 0}
    assert read(zero).usage == Usage(input_tokens=3, output_tokens=0)
    found = read(zero, produced=True)
    assert (found.usage, found.contradicted) == (Usage(input_tokens=3), True)


def test_the_responses_api_has_names_of_its_own() -> None:
    fold = UsageFold(RESPONSES)
    fold.take(
        {
            "input_tokens": 3,
            "input_tokens_details": {"cached_tokens": 2, "cache_write_tokens": 1},
            "output_tokens": 9,
            "output_tokens_details": {"reasoning_tokens": 4},
            "prompt_tokens": 5,
        }
    )
    found = fold.report(produced=True, reasoned=True, ended=True)
    assert (found.usage, found.why) == (
        Usage(
            input_tokens=3,
            output_tokens=9,
            reasoning_tokens=4,
            cache_read_tokens=2,
            cache_write_tokens=1,
        ),
        None,
    )
    other = UsageFold(RESPONSES)
    other.take({"input_tokens": 1, "completion_tokens": 9})
    assert other.report(produced=True, reasoned=False, ended=True).why == (
        "the provider reported no output_tokens"
    )


@pytest.mark.parametrize(
    ("output", "reasoning", "total", "included"),
    [
        (30, 29, 37, True),
        (30, None, None, True),
        (30, 0, 99, True),
        (30, 29, None, True),
        (9, 94, None, False),  # more reasoning than output: it cannot be in it
        (9, 94, 110, False),  # xAI: 7 + 9 + 94
        (30, 29, 66, False),
        (30, 29, 50, None),  # a total that fits neither
        (6000, 6001, 6008, None),  # vercel/ai#18614: the total has the reasoning only
        (9, 94, 16, None),  # the total leaves it out, and it is too large to be in the output
        (30, 29, "37", True),
    ],
)
def test_whether_output_includes_reasoning_is_arithmetic_where_that_tells(
    output: int,
    reasoning: int | None,
    total: object,
    included: bool | None,
) -> None:
    said = {
        "prompt_tokens": 7,
        "completion_tokens": output,
        "completion_tokens_details": {"reasoning_tokens": reasoning},
        "total_tokens": total,
    }
    assert read(said, produced=True).output_includes_reasoning is included


@pytest.mark.parametrize(("cached", "included"), [(None, True), (7, True), (8, False)])
def test_input_includes_the_cache_unless_that_gave_more_than_there_was(
    cached: int | None,
    included: bool,
) -> None:
    said = {"prompt_tokens": 7, "completion_tokens": 1, "cached_tokens": cached}
    assert read(said).input_includes_cache is included


def test_figures_beside_content_are_those_of_a_moment_until_the_end_came() -> None:
    fold = UsageFold()
    fold.take({"prompt_tokens": 3, "completion_tokens": 5}, passing=True)
    cut = fold.report(produced=True, reasoned=False, ended=False)
    assert (cut.usage, cut.malformed) == (Usage(input_tokens=3), {})
    assert fold.report(produced=True, reasoned=False, ended=True).usage == Usage(
        input_tokens=3, output_tokens=5
    )
    fold.take({"prompt_tokens": 3, "completion_tokens": 6})
    last = fold.report(produced=True, reasoned=False, ended=False)
    assert last.usage == Usage(input_tokens=3, output_tokens=6)
