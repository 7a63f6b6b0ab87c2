import pytest

from stanchion.broker.plane.dialects.anthropic_usage import MAX_TOKENS, UsageFold
from stanchion.protocol.usage import Usage


def test_the_provisional_output_of_the_start_is_no_figure() -> None:
    fold = UsageFold()
    fold.start({"input_tokens": 3, "output_tokens": 1, "output_tokens_details": None})
    usage, why = fold.read(produced=True)
    assert usage == Usage(input_tokens=3)
    assert why == "the provider reported no final output_tokens"


def test_the_last_figure_wins_and_what_is_absent_stays() -> None:
    fold = UsageFold()
    fold.start({"input_tokens": 3, "cache_read_input_tokens": 2, "cache_creation_input_tokens": 1})
    fold.take({"output_tokens": 4})
    fold.take({"output_tokens": 9, "output_tokens_details": {"thinking_tokens": 5}})
    assert fold.read(produced=True) == (
        Usage(
            input_tokens=3,
            output_tokens=9,
            reasoning_tokens=5,
            cache_read_tokens=2,
            cache_write_tokens=1,
        ),
        None,
    )


def test_a_figure_that_falls_is_unknown_for_good() -> None:
    fold = UsageFold()
    for count in (9, 4, 10):
        fold.take({"input_tokens": 1, "output_tokens": count})
    usage, why = fold.read(produced=True)
    assert usage == Usage(input_tokens=1)
    assert why == "output_tokens fell, although figures are cumulative"


def test_no_output_is_believed_where_nothing_was_produced() -> None:
    fold = UsageFold()
    fold.take({"input_tokens": 1, "output_tokens": 0})
    assert fold.read(produced=False) == (Usage(input_tokens=1, output_tokens=0), None)
    assert fold.read(produced=True)[0] == Usage(input_tokens=1)


@pytest.mark.parametrize("value", [None, "3", -1, 1.5, True, MAX_TOKENS + 1, [], {}])
def test_what_is_no_count_is_unknown(value: object) -> None:
    fold = UsageFold()
    fold.take({"input_tokens": value, "output_tokens": value, "output_tokens_details": value})
    assert fold.read(produced=True) == (None, "the provider reported no usage")


@pytest.mark.parametrize("value", [None, 3, "x", []])
def test_what_is_no_object_says_nothing(value: object) -> None:
    fold = UsageFold()
    fold.start(value)
    fold.take(value)
    assert fold.read(produced=True)[0] is None
