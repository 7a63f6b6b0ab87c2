import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes.echoes import ESCAPED_LINE_ENDS, LINE_ENDS
from stanchion.broker.plane.line_ends import LONGEST_END, changed_across, found_across

ENDS = [*(LINE_ENDS | ESCAPED_LINE_ENDS).values(), "\\\\u000d\\\\u000a", "%0a", "\\\\\\\\r\\\\n"]
WORD = re.compile(rb"w(?:\Z|o(?:\Z|r(?:\Z|d\Z)))")


def shouted(text: bytes) -> bytes:
    found = text.replace(b"word", b"WORD")
    return text if found == text else found


@pytest.mark.parametrize("end", ENDS)
def test_a_change_is_made_across_the_end_of_a_line_which_stays(end: str) -> None:
    assert len(end) <= LONGEST_END
    between = end.encode()
    for at in range(1, 4):
        broken = b"a " + b"word"[:at] + between + b"word"[at:] + between + b"b"
        changed = b"a " + b"WORD"[:at] + between + b"WORD"[at:] + between + b"b"
        assert changed_across(broken, shouted) == changed


@given(st.lists(st.sampled_from([*ENDS, "wo", "rd", "word", "\\", "%", "u000", "\n"])))
def test_what_is_not_changed_is_the_same_object_and_else_only_words_are(parts: list[str]) -> None:
    data = "".join(parts).encode()
    changed = changed_across(data, shouted)
    assert len(changed) == len(data)
    assert changed.lower() == data.lower()
    assert changed_across(data, lambda joined: joined) is data


@pytest.mark.parametrize("end", ENDS)
def test_a_beginning_is_found_across_an_end_and_one_that_has_begun(end: str) -> None:
    text = b"abc wo" + end.encode() + b"r"
    assert found_across(text, WORD) == 4
    for cut in range(5, len(text)):
        assert found_across(text[:cut], WORD) == 4
    assert found_across(b"abc" + end.encode() + b"w", WORD) == 3 + len(end)
    assert found_across(text + b"x", WORD) is None
