"""Amounts as people read them."""

import pytest

from stanchion.runner.live.amounts import count, duration, size


@pytest.mark.parametrize(
    ("ms", "words"),
    [
        (None, "unknown"),
        (0, "0.0 s"),
        (400, "0.4 s"),
        (12_000, "12 s"),
        (182_000, "3 min 02 s"),
        (3_900_000, "1 h 05 min"),
    ],
)
def test_durations(ms: int | None, words: str) -> None:
    assert duration(ms) == words


def test_unknown_is_a_word_and_never_0() -> None:
    assert (size(None), count(None)) == ("unknown", "unknown")
    assert (size(412_000_000), count(1234)) == ("412 MB", "1,234")
