"""Nothing that a sandbox wrote can steer a terminal."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stanchion.runner.live.plain_text import first_lines, one_line, plain


@pytest.mark.parametrize(
    "text", ["\x1b[2J", "\x9b31m", "\rover", "a\x08b", "\u202egnp.exe", "\u2028", "\x00", "\x07"]
)
def test_what_is_more_than_a_character_is_replaced(text: str) -> None:
    assert "\ufffd" in plain(text)
    assert plain(text).isprintable() or "\n" in plain(text)


@given(st.text())
def test_only_printable_characters_line_ends_and_tabs_come_out(text: str) -> None:
    odd = {char for char in plain(text) if not char.isprintable()} - {"\n", "\t"}

    # Spaces, and characters that are newer than this Python's tables.
    assert {unicodedata.category(char) for char in odd} <= {"Zs", "Cn"}


def test_ordinary_words_stay_as_they_are() -> None:
    assert plain("Zwölf · 猫\r\n\tx") == "Zwölf · 猫\n\tx"


def test_one_line_fits() -> None:
    assert one_line("a  b\n\nc", 80) == "a b c"
    assert one_line("abcdef", 4) == "abc…"
    assert one_line("abcd", 4) == "abcd"


def test_the_first_lines_say_how_many_more_there_are() -> None:
    assert first_lines("1\n2\n", 2) == "1\n2"
    assert first_lines("1\n2\n3\n4\n", 2) == "1\n2\n… 2 more"
