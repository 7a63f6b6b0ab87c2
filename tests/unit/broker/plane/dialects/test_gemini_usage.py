import pytest

from stanchion.broker.plane.dialects.gemini_usage import UsageFold
from stanchion.protocol.usage import Usage


def read(
    *said: object, produced: bool = True, ended: bool = True
) -> tuple[Usage | None, str | None]:
    fold = UsageFold()
    for value in said:
        fold.take(value)
    return fold.read(produced=produced, ended=ended)


def test_the_last_figure_wins_and_an_event_without_one_keeps_it() -> None:
    first = {"promptTokenCount": 30, "candidatesTokenCount": 2, "thoughtsTokenCount": 500}
    second = {"promptTokenCount": 30, "candidatesTokenCount": 64, "thoughtsTokenCount": None}
    usage, why = read(first, second, None, {}, {"totalTokenCount": 9})
    assert usage == Usage(input_tokens=30, output_tokens=64, reasoning_tokens=500)
    assert why is None


def test_what_the_cache_gave_is_within_the_prompt() -> None:
    usage, _ = read(
        {"promptTokenCount": 30, "cachedContentTokenCount": 20, "candidatesTokenCount": 1}
    )
    assert usage == Usage(input_tokens=30, output_tokens=1, cache_read_tokens=20)


@pytest.mark.parametrize("said", [None, {}, [], 5, {"promptTokenCount": None}])
def test_nothing_reported_is_unknown(said: object) -> None:
    assert read(said) == (None, "the provider reported no usage")


@pytest.mark.parametrize("value", [-1, 1.5, True, "3", 2**53])
def test_a_figure_out_of_range_is_unknown(value: object) -> None:
    usage, why = read({"promptTokenCount": 3, "candidatesTokenCount": value})
    assert usage == Usage(input_tokens=3)
    assert why == "the provider reported no candidatesTokenCount"


def test_no_candidate_tokens_contradict_content_but_not_thoughts_alone() -> None:
    said = {"promptTokenCount": 3, "candidatesTokenCount": 0, "thoughtsTokenCount": 4}
    usage, why = read(said)
    assert usage == Usage(input_tokens=3, reasoning_tokens=4)
    assert why == "0 output tokens were reported for a response with content"
    assert read(said, produced=False)[0] == Usage(
        input_tokens=3, output_tokens=0, reasoning_tokens=4
    )


def test_without_an_end_the_output_is_that_of_a_moment() -> None:
    said = {"promptTokenCount": 3, "candidatesTokenCount": 5, "thoughtsTokenCount": 4}
    usage, why = read(said, ended=False)
    assert usage == Usage(input_tokens=3)
    assert why == "the response did not end, its output was counted so far only"


def test_thoughts_that_were_counted_are_evidence_whatever_came_later() -> None:
    fold = UsageFold()
    assert not fold.thought
    fold.take({"thoughtsTokenCount": 0})
    assert not fold.thought
    fold.take({"thoughtsTokenCount": 1})
    assert fold.thought
