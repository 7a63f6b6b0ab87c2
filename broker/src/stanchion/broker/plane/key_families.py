"""The ways in which a key may be spelled, as patterns over bytes. Pure.

Plain; in JSON's escapes, also those of JSON within JSON; in URL and HTML escapes, mixed as they
come; in hexadecimal of either case; in base64 and base64url at each of its three alignments, also
broken into lines, where only the characters that depend on the key belong to it. It must never give
a pattern that other text satisfies: each one spells the whole key.

Sources: RFC 8259 section 7 (JSON strings), RFC 3986 section 2.1 (percent-encoding), RFC 4648
sections 4, 5 and 8 (base64, base64url, base16), WHATWG HTML section 13.5 (named references).
"""

import re
import string
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

from stanchion.broker.plane.line_ends import LINE, LONGEST_END, changed_across

RARE: Final = b"QZJXKVWYUGPHBFqzjxNMLRDOSTICAE9876543210vkwygbpfmhulrdcnosaite-_.+/=~"
"""Bytes of keys in the order in which they are tried, those first that few event streams have."""

_BASE64: Final = string.ascii_uppercase + string.ascii_lowercase + string.digits + "+/"
_NAMED: Final = {"&": "amp", "<": "lt", ">": "gt", '"': "quot", "'": "apos"}
_SHORT_ESCAPES: Final = {'"': r"\\{1,3}", "/": r"\\{1,2}"}
"""The backslashes before a character that JSON may escape so, on two levels."""
_ESCAPES: Final = (b"\\", b"%", b"&")
"""What escapes begin with, rarer than all that follows there."""
_HEX_PROBE: Final = 16
"""Digits at the end of the key that are looked for: fewer are found sooner, and these tell it."""
_ESCAPED: Final = len(r"\\\\u0000")
"""The most bytes that one character takes."""


@dataclass(frozen=True, slots=True, repr=False)
class Unit:
    """One character of the key: its spellings, and how they may have begun at the end of bytes."""

    whole: str
    begun: str = ""

    @property
    def first(self) -> str:
        """Of it there is at least the beginning."""
        return f"(?:{self.whole}|(?:{self.begun})\\Z)" if self.begun else f"(?:{self.whole})"

    @property
    def next(self) -> str:
        """There may be nothing of it yet."""
        return f"(?:\\Z|{self.first})"


@dataclass(frozen=True, slots=True, repr=False)
class Gate:
    """A family does not occur without one of the probes."""

    probes: tuple[bytes, ...]
    letters: bytes
    """Each of them is in every probe; the rarest comes first."""

    def is_open(self, data: bytes) -> bool:
        """Whether a probe is in these bytes."""
        for probe in self.probes:  # noqa: SIM110 — `any` costs more than the search
            if data.find(probe) >= 0:  # `in` makes an error and drops it (3.11)
                return True
        return False

    def letter_beside(self, data: bytes, letter: int) -> int:
        """The rarest of its letters that is not in these bytes; where all are, the one it was."""
        for other in self.letters:
            if other not in data:
                return other
        return letter


@dataclass(frozen=True, repr=False)
class Family:
    """One way of spelling. Some gate of it is in the bytes of each of its occurrences."""

    units: tuple[Unit, ...]
    gates: tuple[Gate, ...]
    alphabet: bytes
    """Every byte that its spellings may have."""
    longest: int
    is_text: bool = False
    """Whether each unit is one character of the key."""
    edge: Unit | None = None
    """A character before the others with a part of the key's first one. It is masked with them, but
    it alone holds nothing back: it may be a quarter of all letters."""
    in_lines: bool = False
    """Whether it may be broken into lines. Their ends are not the key's, and stay."""

    @cached_property
    def pattern(self) -> re.Pattern[bytes]:
        """The whole key."""
        return re.compile((self._edge + "".join(f"(?:{u.whole})" for u in self.units)).encode())

    @cached_property
    def begun(self) -> re.Pattern[bytes]:
        """The whole key or, at the end of the bytes, a beginning of it."""
        return re.compile(self.beginning.encode())

    @cached_property
    def steps(self) -> tuple[re.Pattern[bytes], ...]:
        """Each character of the key alone."""
        return tuple(re.compile(unit.whole.encode()) for unit in self.units)

    @cached_property
    def in_any_case(self) -> re.Pattern[bytes]:
        """The whole key in letters of any case."""
        return re.compile(self.pattern.pattern, re.IGNORECASE)

    @property
    def beginning(self) -> str:
        """Expression of `begun`."""
        first, *rest = self.units
        return self._edge + first.first + "".join(unit.next for unit in rest)

    @property
    def _edge(self) -> str:
        return "" if self.edge is None else f"(?:{self.edge.whole})?"

    def occurs(self, data: bytes) -> bool:
        """Whether it may be in these bytes; False is certain."""
        return any(gate.is_open(data) for gate in self.gates)

    def masked(self, data: bytes, *, any_case: bool = False) -> bytes:
        """With an asterisk for each byte of the key; the same object without any."""
        pattern = self.in_any_case if any_case else self.pattern

        def struck(text: bytes) -> bytes:
            masked, hits = pattern.subn(lambda match: b"*" * len(match[0]), text)
            return masked if hits else text

        return struck(changed_across(data, struck) if self.in_lines else data)


def families(key: str) -> Iterator[Family]:
    backslashes = ("\\", "\\\\", "\\\\\\\\") if "\\" in key else ("\\",)
    for backslash in backslashes:
        yield _text(key, backslash)
    in_hex = tuple(dict.fromkeys((key.encode().hex(), key.encode().hex().upper())))
    gates = tuple(_either(*(digits[-_HEX_PROBE:].encode() for digits in in_hex)))
    for digits in in_hex:
        yield replace(_family([Unit(digit) for digit in digits], [], digits), gates=gates)
    for offset in range(3):
        yield _base64(key.encode(), offset)


def _text(key: str, backslash: str) -> Family:
    """Its characters, each plain or escaped; a backslash of the key is spelled in one way only."""
    units = [_character(letter, backslash) for letter in key]
    probes = [key.replace("\\", backslash), "\\u00", "%"]
    probes += ["\\" + letter for letter in _SHORT_ESCAPES if letter in key]
    probes += ["&" for letter in _NAMED if letter in key][:1]
    named = "&;" + "".join(_NAMED.values()) if "&" in probes else ""
    letters = key + "\\u%" + string.hexdigits + named
    family = _family(units, [probe.encode() for probe in probes], letters, width=_ESCAPED)
    return replace(family, is_text=True)


def _character(letter: str, backslash: str) -> Unit:
    code = f"{ord(letter):02x}"
    high, low = code[0], code[1]
    spellings = [re.escape(letter if letter != "\\" else backslash)]
    spellings.append(rf"(?:\\{{1,4}}u00|%){high}{_either_case(low)}")
    begun = [rf"\\{{1,4}}(?:u(?:0(?:0{high}?)?)?)?", f"%{high}?"]
    if letter in _SHORT_ESCAPES:
        spellings.append(_SHORT_ESCAPES[letter] + letter)
    if letter in _NAMED:
        name = f"&{_NAMED[letter]};"
        spellings.append(name)
        begun += [name[:end] for end in range(1, len(name))]
    return Unit("|".join(spellings), "|".join(begun))


def _base64(key: bytes, offset: int) -> Family:
    """At `offset` bytes after the beginning of a group of three."""
    sets = list(_base64_sets(key, offset))
    runs = re.findall("[^+/ ]+", "".join(some if len(some) == 1 else " " for some in sets))
    run = max(runs, key=len)[:LINE].encode()
    units = [_base64_unit(some) for some in sets]
    edge = units.pop(0) if offset else None
    family = _family(units, [], _BASE64 + "-_%\\u\r\n", width=_ESCAPED)
    longest = family.longest + _ESCAPED + (len(units) // LINE + 1) * LONGEST_END
    gates = tuple(_either(run[: len(run) // 2], run[len(run) // 2 :]))
    return replace(family, edge=edge, longest=longest, gates=gates, in_lines=True)


def _either(*probes: bytes) -> Iterator[Gate]:
    """One gate for all, if they have a letter in common: it is looked for once."""
    common = frozenset[int].intersection(*map(frozenset, probes))
    if common:
        yield Gate(probes, gate(bytes(common)).letters)
    else:
        yield from map(gate, probes)


def _base64_sets(key: bytes, offset: int) -> Iterator[str]:
    """For each character that depends on the key, those that it may be: its other bits are free."""
    behind = -8 * (offset + len(key)) % 6
    bits = int.from_bytes(key) << behind
    known = ((1 << 8 * len(key)) - 1) << behind
    characters = (8 * (offset + len(key)) + behind) // 6
    for place in range(8 * offset // 6, characters):
        shift = 6 * (characters - 1 - place)
        value, mask = (bits >> shift) & 63, (known >> shift) & 63
        free = 63 ^ mask
        yield (
            _BASE64[value]
            if not free
            else "".join(letter for number, letter in enumerate(_BASE64) if number & mask == value)
        )


def _base64_unit(letters: str) -> Unit:
    also = {"+": "-", "/": "_"}
    plain = "".join(re.escape(letter + also.get(letter, "")) for letter in letters)
    spellings, begun = [f"[{plain}]"], []
    for letter, low in (("+", "b"), ("/", "f")):
        if letter in letters:
            spellings.append(rf"(?:\\{{1,4}}u00|%)2{_either_case(low)}")
            begun += [r"\\{1,4}(?:u(?:0(?:02?)?)?)?", "%2?"]
    if "/" in letters:
        spellings.append(_SHORT_ESCAPES["/"] + "/")
    return Unit("|".join(spellings), "|".join(dict.fromkeys(begun)))


def _either_case(digit: str) -> str:
    return digit if digit.isdigit() else f"[{digit}{digit.upper()}]"


def _family(
    units: Iterable[Unit], probes: Iterable[bytes], letters: str, *, width: int = 1
) -> Family:
    units = tuple(units)
    return Family(
        units=units,
        gates=tuple(gate(probe) for probe in probes),
        alphabet="".join(sorted(set(letters))).encode(),
        longest=len(units) * width,
    )


def gate(probe: bytes) -> Gate:
    """With the letters of the probe."""
    rarity = {letter: place for place, letter in enumerate(RARE)}
    letters = sorted(set(probe), key=lambda letter: rarity.get(letter, -1))
    return Gate((probe,), bytes(letters[:1] if probe[:1] in _ESCAPES else letters))
