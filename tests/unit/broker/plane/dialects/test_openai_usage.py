from typing import Any

import pytest

from stanchion.broker.plane.dialects.openai_usage import RESPONSES, UsageFold
from stanchion.protocol.usage import Usage


def read(*objects: Any, produced: bool = False) -> tuple[Usage | None, str | None]:
    fold = UsageFold()
    for value in objects:
        fold.take(value)
    return fold.read(produced=produced)


def test_the_last_object_wins_and_null_says_nothing() -> None:
    usage, why = read({"prompt_tokens": 1, "completion_tokens": 2}, {"completion_tokens": 9}, None)
    assert (usage, why) == (Usage(output_tokens=9), None)


@pytest.mark.parametrize("value", [None, 3, [], {}, "x"])
def test_no_object_is_unknown_with_a_reason(value: object) -> None:
    assert read(value) == (None, "the provider reported no usage")


@pytest.mark.parametrize("value", ["5", -1, 1.5, True, None, 2**53, [1]])
def test_a_figure_out_of_range_is_unknown(value: object) -> None:
    usage, why = read({"completion_tokens": value})
    assert usage == Usage()
    assert why == "the provider reported no valid completion_tokens"


@pytest.mark.parametrize(
    "said",
    [
        {"prompt_tokens_details": {"cached_tokens": 4}},
        {"cached_tokens": 4},
        {"prompt_cache_hit_tokens": 4},
    ],
)
def test_cached_tokens_sit_in_one_of_three_places(said: dict[str, object]) -> None:
    usage, _ = read({"completion_tokens": 1, **said})
    assert usage is not None
    assert usage.cache_read_tokens == 4


def test_an_explicit_zero_stays_unless_something_came() -> None:
    zero = {"prompt_tokens": 3, "completion_tokens": 0}
    assert read(zero) == (Usage(input_tokens=3, output_tokens=0), None)
    usage, why = read(zero, produced=True)
    assert usage == Usage(input_tokens=3)
    assert why is not None


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
    assert fold.read(produced=True) == (
        Usage(
            input_tokens=3,
            output_tokens=9,
            reasoning_tokens=4,
            cache_read_tokens=2,
            cache_write_tokens=1,
        ),
        None,
    )
    fold.take({"completion_tokens": 9})
    assert fold.read(produced=True) == (Usage(), "the provider reported no valid output_tokens")
