import base64

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fakes.echoes import ESCAPED_LINE_ENDS, LINE_ENDS, RAW_LINES, SPELLINGS, base64_lines, shows
from stanchion.broker.plane.spellings import LEAST, Spellings

KEY = "sk-CANARY-0123456789abcdefghij"
LONG = "sk-proj-" + "4fKq0ZtXw7RhBvY2mJdLc9NsEgPuAi83oTkQ" * 4
SPELLED = Spellings(KEY)
ALL = SPELLINGS | RAW_LINES
HARD = Spellings("sk/CAN+ARY\"\\'&<~0123456789")


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("spelled", [SPELLED, HARD], ids=["usual key", "hard key"])
def test_it_is_masked_at_equal_length_and_nothing_else_is(name: str, spelled: Spellings) -> None:
    echo = ALL[name](spelled.key)
    before, after = b'{"message":"bad ', b' (really)"}\n'
    masked = spelled.masked(before + echo + after)
    assert shows(echo, spelled.key)
    assert not shows(masked, spelled.key)
    assert len(masked) == len(before + echo + after)
    assert masked.startswith(before)
    assert masked.endswith(after)


def test_base64_loses_only_what_depends_on_the_key() -> None:
    whole = base64.b64encode(b"Bearer " + KEY.encode() + b" and more")
    masked = SPELLED.masked(whole)
    start, end = 8 * 7 // 6, -(-8 * (7 + len(KEY)) // 6)
    assert masked == whole[:start] + b"*" * (end - start) + whole[end:]


@pytest.mark.parametrize("key", [KEY, LONG], ids=["usual key", "of many lines"])
@pytest.mark.parametrize("width", [60, 64, 76])
@pytest.mark.parametrize("end", LINE_ENDS | ESCAPED_LINE_ENDS)
def test_base64_in_lines_is_masked_wherever_a_line_ends(key: str, width: int, end: str) -> None:
    spelled, between = Spellings(key), (LINE_ENDS | ESCAPED_LINE_ENDS)[end]
    for column in range(0, width, 4):
        for offset in range(3):
            unbroken = base64_lines("", offset, column=column)(key)
            broken = base64_lines(between, offset, column=column, width=width)(key)
            masked = spelled.masked(broken)
            assert len(masked) == len(broken)
            assert masked.replace(between.encode(), b"") == spelled.masked(unbroken)
            assert not shows(masked, key)


def test_text_in_lines_is_not_the_key() -> None:
    encoded = base64.b64encode(KEY.encode())
    for clean in (
        KEY[:9].encode() + b"\n" + KEY[9:].encode(),
        encoded[:20] + b"\n\t" + encoded[20:],
        encoded[:20] + b"\\t" + encoded[20:],
        encoded[:20] + b"\n" + encoded[21:],
    ):
        assert SPELLED.masked(clean) is clean


def test_clean_bytes_are_the_same_object() -> None:
    for clean in (b"nothing", KEY[:-1].encode(), b"100 % \\u0073k & %73", b""):
        assert SPELLED.masked(clean) is clean
    text = "nothing, näher: \ud800"
    assert SPELLED.masked_text(text) is text


def test_text_is_masked_around_whatever_else_it_holds() -> None:
    assert SPELLED.masked_text(f"ä\ud800{KEY}é") == f"ä\ud800{'*' * len(KEY)}é"


@pytest.mark.parametrize("offset", [1, 2])
def test_a_character_with_a_part_of_the_first_one_is_not_waited_for(offset: int) -> None:
    encoded = base64.b64encode(bytes(offset) + KEY.encode())
    assert SPELLED.begun_at(b'"' + encoded[: offset + 1]) == offset + 2
    masked = SPELLED.masked(encoded[offset + 1 :])
    assert masked.startswith(b"*" * len(KEY))
    assert set(masked) <= set(b"*=")


def test_a_name_loses_it_in_any_case() -> None:
    stars = b"*" * len(KEY)
    assert SPELLED.masked_name(b"x-ratelimit-" + KEY.lower().encode()) == b"x-ratelimit-" + stars
    assert SPELLED.masked_name(KEY.upper().encode()) == stars
    assert SPELLED.masked_name(b"x-ratelimit-remaining") == b"x-ratelimit-remaining"
    encoded = base64.b64encode(KEY.encode())
    assert SPELLED.masked_name(encoded.lower()) == b"*" * len(encoded)


@pytest.mark.parametrize("name", ALL)
def test_an_end_is_a_beginning_of_it_wherever_it_is_cut(name: str) -> None:
    echo = ALL[name](KEY)
    masked = SPELLED.masked(echo)
    start, end = masked.index(b"*"), masked.rindex(b"*") + 1
    if SPELLED.begun_at(echo[: start + 1]) > start:  # it holds a part of the first character only
        start += 1
    for cut in range(start + 1, end):
        assert SPELLED.begun_at(b'"' + echo[:cut]) <= 1 + start
        assert SPELLED.begun_at(b'"' + echo[:cut] + b'"') == cut + 2


def test_an_end_that_is_no_beginning_may_leave() -> None:
    for end in (
        b"hello\n",
        b"sk-CANARX",
        b"sk- ",
        b"\\n",
        b"\\u0a",
        b"%9",
        b"xyz!",
        b"a\r",
        b"x\n",
        b"sk-\n",
    ):
        assert SPELLED.begun_at(end) == len(end)
    assert SPELLED.begun_at(b"") == 0


def test_the_letters_that_tell_are_of_the_first_characters_but_the_very_first() -> None:
    letters = {chr(sign.letter) for sign in SPELLED.signs}
    assert letters == set(KEY[1:LEAST])
    for sign in SPELLED.signs:
        assert sign.pattern.search(f'"text":"is {KEY}"'.encode())
        for cut in range(1, LEAST):
            pieces = f'"text":"{KEY[:cut]}"', f'"text": "{KEY[cut:LEAST]}"'
            assert any(sign.pattern.search(piece.encode()) for piece in pieces)


def test_a_key_of_the_least_length_has_signs_too() -> None:
    shortest = Spellings("aB3-xY7_")
    assert all(sign.pattern.search(b'"aB3-xY7_ and"') for sign in shortest.signs)


@settings(max_examples=25, deadline=None)
@given(
    st.text(st.characters(min_codepoint=0x21, max_codepoint=0x7E), min_size=8, max_size=24),
    st.sampled_from(sorted(SPELLINGS)),
    st.binary(max_size=9),
    st.binary(max_size=9),
)
def test_any_key_in_any_spelling(key: str, name: str, before: bytes, after: bytes) -> None:
    spelled = Spellings(key)
    echo = SPELLINGS[name](key)
    masked = spelled.masked(before + b" " + echo + b" " + after)
    assert len(masked) == len(before + echo + after) + 2
    assert not shows(masked[len(before) + 1 : -len(after) - 1], key)


def test_the_key_is_not_in_its_repr() -> None:
    assert KEY not in repr(SPELLED) + repr(SPELLED.signs)
