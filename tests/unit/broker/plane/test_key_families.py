"""The patterns against the standard library's encoders."""

import base64

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fakes.echoes import RAW_LINES, SPELLINGS
from stanchion.broker.plane.key_families import families, gate

KEY = "sk-CANARY+/\"\\'&<>~0123456789abcdef"
ALL = SPELLINGS | RAW_LINES
printable = st.text(st.characters(min_codepoint=0x21, max_codepoint=0x7E), min_size=8, max_size=20)


def occurrences(key: str, data: bytes) -> list[bytes]:
    return [match[0] for family in families(key) for match in family.pattern.finditer(data)]


@pytest.mark.parametrize("name", ALL)
def test_each_spelling_belongs_to_a_family_whose_gate_it_opens(name: str) -> None:
    data = b"<" + ALL[name](KEY) + b">"
    found = [family for family in families(KEY) if family.masked(data) is not data]
    assert found
    for family in found:
        masked = family.masked(data)
        spelled = data[masked.index(b"*") : masked.rindex(b"*") + 1]
        assert family.occurs(spelled)
        assert set(spelled) <= set(family.alphabet)
        assert len(spelled) <= family.longest


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


def test_however_it_is_broken_into_lines_one_letter_is_looked_for_and_one_probe_is_whole() -> None:
    for family in list(families(KEY))[-3:]:
        (gate,) = family.gates
        assert all(letter in probe for letter in gate.letters for probe in gate.probes)
        run = b"".join(gate.probes)
        assert all(gate.is_open(run[:at] + b"\n" + run[at:]) for at in range(len(run) + 1))


def test_halves_without_a_letter_in_common_have_a_gate_each() -> None:
    found = list(families("12345678"))[-3:]
    assert sum(len(family.gates) == 2 for family in found)
    for offset, family in enumerate(found):
        text = base64.b64encode(b"Bearer "[:offset] + b"12345678 tail")
        for at in range(len(text) + 1):
            broken = text[:at] + b"\r\n" + text[at:]
            assert family.masked(broken).replace(b"\r\n", b"") == family.masked(text)
            assert family.occurs(broken)


def test_nothing_of_it_is_shown_by_accident() -> None:
    for family in families(KEY):
        assert "CANARY" not in repr(family) + repr(family.units) + repr(family.gates)
