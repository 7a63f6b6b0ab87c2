import pytest

from stanchion.broker.plane.dialects.figures import Reported
from stanchion.broker.plane.dialects.gemini_usage import UsageFold
from stanchion.protocol.usage import Usage


def read(*said: object, produced: bool = True, ended: bool = True) -> Reported:
    fold = UsageFold()
    for value in said:
        fold.take(value)
    return fold.report(produced=produced, reasoned=False, ended=ended)


def test_the_last_figure_wins_and_an_event_without_one_keeps_it() -> None:
    first = {"promptTokenCount": 30, "candidatesTokenCount": 2, "thoughtsTokenCount": 500}
    second = {"promptTokenCount": 30, "candidatesTokenCount": 64, "thoughtsTokenCount": None}
    found = read(first, second, None, {}, {"totalTokenCount": 9})
    assert found.usage == Usage(input_tokens=30, output_tokens=64, reasoning_tokens=500)
    assert found.why is None


def test_what_the_cache_gave_is_within_the_prompt() -> None:
    found = read({"promptTokenCount": 30, "cachedContentTokenCount": 20, "candidatesTokenCount": 1})
    assert found.usage == Usage(input_tokens=30, output_tokens=1, cache_read_tokens=20)


@pytest.mark.parametrize("said", [None, {}, [], 5, {"promptTokenCount": None}])
def test_nothing_reported_is_unknown(said: object) -> None:
    assert read(said) == Reported()


@pytest.mark.parametrize("value", [-1, 1.5, True, "3", 2**53])
def test_a_figure_out_of_range_is_malformed(value: object) -> None:
    found = read({"promptTokenCount": 3, "candidatesTokenCount": value})
    assert found.usage == Usage(input_tokens=3)
    assert set(found.malformed) == {"output_tokens"}


def test_no_candidates_counted_is_said() -> None:
    found = read({"promptTokenCount": 3})
    assert found.why == "the provider reported no candidatesTokenCount"


def test_thoughts_are_counted_beside_the_output() -> None:
    found = read({"promptTokenCount": 3, "candidatesTokenCount": 5})
    assert (found.input_includes_cache, found.output_includes_reasoning) == (None, False)


def test_no_candidate_tokens_contradict_content_but_not_thoughts_alone() -> None:
    said = {"promptTokenCount": 3, "candidatesTokenCount": 0, "thoughtsTokenCount": 4}
    found = read(said)
    assert found.usage == Usage(input_tokens=3, reasoning_tokens=4)
    assert found.why == "0 output tokens were reported for a response with content"
    assert read(said, produced=False).usage == Usage(
        input_tokens=3, output_tokens=0, reasoning_tokens=4
    )


def test_without_an_end_the_output_is_that_of_a_moment() -> None:
    said = {"promptTokenCount": 3, "candidatesTokenCount": 5, "thoughtsTokenCount": 4}
    found = read(said, ended=False)
    assert found.usage == Usage(input_tokens=3)
    assert found.why == "the response did not end, its output was counted so far only"


def test_thoughts_that_were_counted_are_evidence_whatever_came_later() -> None:
    fold = UsageFold()
    assert not fold.thought
    fold.take({"thoughtsTokenCount": 0})
    assert not fold.thought
    fold.take({"thoughtsTokenCount": 1})
    assert fold.thought
