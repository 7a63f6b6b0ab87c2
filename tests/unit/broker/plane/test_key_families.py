"""The patterns against the standard library's encoders."""

import base64

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fakes.echoes import SPELLINGS
from stanchion.broker.plane.key_families import families, gate

KEY = "sk-CANARY+/\"\\'&<>~0123456789abcdef"
printable = st.text(st.characters(min_codepoint=0x21, max_codepoint=0x7E), min_size=8, max_size=20)


def occurrences(key: str, data: bytes) -> list[bytes]:
    return [match[0] for family in families(key) for match in family.pattern.finditer(data)]


@pytest.mark.parametrize("name", SPELLINGS)
def test_each_spelling_belongs_to_a_family_whose_gate_it_opens(name: str) -> None:
    data = b"<" + SPELLINGS[name](KEY) + b">"
    found = [family for family in families(KEY) if family.pattern.search(data)]
    assert found
    for family in found:
        match = family.pattern.search(data)
        assert match is not None
        assert family.occurs(match[0])
        assert set(match[0]) <= set(family.alphabet)
        assert len(match[0]) <= family.longest


@settings(max_examples=40, deadline=None)
@given(printable, st.binary(max_size=2), st.binary(max_size=3))
def test_base64_at_any_alignment_is_found_with_all_characters_that_depend_on_it(
    key: str, before: bytes, after: bytes
) -> None:
    encoded = base64.b64encode(before + key.encode() + after)
    other = base64.b64encode(bytes(len(before)) + key.encode() + bytes(len(after)))
    dependent = range(8 * len(before) // 6, -(-8 * (len(before) + len(key)) // 6))
    assert encoded[dependent.start : dependent.stop] in occurrences(key, encoded)
    assert encoded[dependent.start + 1 : dependent.stop - 1] in other


def test_a_pattern_wants_all_of_the_key() -> None:
    for spell in SPELLINGS.values():
        assert occurrences("sk-CANARY-0123456789", spell("sk-CANARX-0123456789")) == []
        assert occurrences("sk-CANARY-0123456789", spell("sk-CANARY-012345678")) == []


def test_a_key_of_backslashes_costs_no_more_than_another() -> None:
    key = "\\" * 40
    assert occurrences(key, b"\\" * 39 + b"x") == []
    assert occurrences(key, SPELLINGS["json in json"](key))


def test_a_beginning_reaches_to_the_end_of_the_bytes() -> None:
    text = next(families("sk-CANARY-0123456789"))
    for data, start in ((b"a sk-C", 2), (b"a s\\u006b-C", 2), (b"a \\u00", 2), (b"a sk%2", 2)):
        match = text.begun.search(data)
        assert match is not None
        assert (match.start(), match.end()) == (start, len(data))
    assert text.begun.search(b"a sk-D \\u0077 %9") is None


def test_the_rarest_letter_of_a_probe_comes_first_and_an_escape_has_one() -> None:
    assert gate(b"sk-Q1e").letters[:1] == b"Q"
    assert set(gate(b"sk-Q1e").letters) == set(b"sk-Q1e")
    assert gate(b"\\u00").letters == b"\\"


def test_nothing_of_it_is_shown_by_accident() -> None:
    for family in families(KEY):
        assert "CANARY" not in repr(family) + repr(family.units) + repr(family.gates)
