import pytest

from stanchion.broker.plane.dialects.anthropic_usage import UsageFold
from stanchion.broker.plane.dialects.figures import MAX_TOKENS, Reported
from stanchion.protocol.usage import Usage


def after(*said: object, start: object = None, produced: bool = True) -> Reported:
    fold = UsageFold()
    fold.start(start)
    for value in said:
        fold.take(value)
    return fold.report(produced=produced, reasoned=False)


def test_the_provisional_output_of_the_start_is_no_figure() -> None:
    found = after(start={"input_tokens": 3, "output_tokens": 1, "output_tokens_details": None})
    assert found.usage == Usage(input_tokens=3)
    assert found.why == "the provider reported no final output_tokens"


def test_the_last_figure_wins_and_what_is_absent_stays() -> None:
    found = after(
        {"output_tokens": 4},
        {"output_tokens": 9, "output_tokens_details": {"thinking_tokens": 5}},
        start={"input_tokens": 3, "cache_read_input_tokens": 2, "cache_creation_input_tokens": 1},
    )
    assert found.why is None
    assert found.usage == Usage(
        input_tokens=3,
        output_tokens=9,
        reasoning_tokens=5,
        cache_read_tokens=2,
        cache_write_tokens=1,
    )


def test_a_figure_that_falls_is_malformed_for_good() -> None:
    found = after(*({"input_tokens": 1, "output_tokens": count} for count in (9, 4, 10)))
    assert found.usage == Usage(input_tokens=1)
    assert found.malformed == {"output_tokens": "9, then 4"}


def test_no_output_is_believed_where_nothing_was_produced() -> None:
    said = {"input_tokens": 1, "output_tokens": 0}
    assert after(said, produced=False).usage == Usage(input_tokens=1, output_tokens=0)
    assert after(said).usage == Usage(input_tokens=1)


@pytest.mark.parametrize("value", ["3", -1, 1.5, True, MAX_TOKENS + 1, [], {}])
def test_what_is_no_count_is_malformed(value: object) -> None:
    found = after({"input_tokens": value, "output_tokens": value, "output_tokens_details": value})
    assert found.usage == Usage()
    assert set(found.malformed) == {"input_tokens", "output_tokens"}


@pytest.mark.parametrize("value", [None, 3, "x", []])
def test_what_is_no_object_says_nothing(value: object) -> None:
    assert after(value, start=value) == Reported()


def test_input_leaves_the_cache_out_and_output_has_the_thinking_in() -> None:
    found = after({"input_tokens": 3, "output_tokens": 9})
    assert (found.input_includes_cache, found.output_includes_reasoning) == (False, True)
