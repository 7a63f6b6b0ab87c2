"""Entries as `logs` prints them."""

import pytest

from stanchion.protocol.transcript import ItemKind
from stanchion.runner.live.entry_text import entry_text
from stanchion.runner.live.transcript_lines import Entry


def an_entry(at_ms: int | None, text: str) -> Entry:
    return Entry(at_ms=at_ms, label="text", kind=ItemKind.TEXT, text=text)


def test_further_lines_stand_under_the_first() -> None:
    lines = entry_text(an_entry(1_796_088_900_961, "one\ntwo")).plain.splitlines()

    assert lines[0].startswith("01:35:00 text ")
    assert lines[0].index("one") == lines[1].index("two")


@pytest.mark.parametrize("at_ms", [None, 10**18, -(10**18)])
def test_a_time_that_is_none_is_no_trouble(at_ms: int | None) -> None:
    assert entry_text(an_entry(at_ms, "x")).plain.endswith("x")
