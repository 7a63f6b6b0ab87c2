"""Finds and masks all spellings of one key in bytes and in text. Pure.

It decides where an end of the bytes may be the beginning of a spelling, and what is cheap to look
for first. It must never show the key, nor change a byte that is not of it.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from stanchion.broker.plane.key_families import Family, Gate, families, gate
from stanchion.broker.plane.line_ends import found_across

LEAST: Final = 8
"""Characters of a key by which it is told from other text; shorter keys are not looked for."""
SHORT: Final = 256
_BACKSLASH: Final = ord("\\")
_IN_LINE_ENDS: Final = b"\n\r\\%"
"""Some of these is in each line's end, and in each that has begun."""
FRAGMENT: Final = 12
"""A beginning of the key this long is masked as well, where a body ends within it."""


@dataclass(frozen=True, slots=True, repr=False)
class Sign:
    """A letter without which a plain key does not pass, and how it stands there."""

    letter: int
    pattern: re.Pattern[bytes]


@dataclass(frozen=True, repr=False)
class Spellings:
    """All families of one key, which has printable ASCII characters only."""

    key: str

    @cached_property
    def families(self) -> tuple[Family, ...]:
        """In the order in which they are masked."""
        return tuple(families(self.key))

    @cached_property
    def texts(self) -> tuple[Family, ...]:
        """Those that a character at a time may be of: plain and escaped text."""
        return tuple(family for family in self.families if family.is_text)

    @cached_property
    def gates(self) -> tuple[Gate, ...]:
        """Of all families."""
        return tuple(dict.fromkeys(gate for family in self.families for gate in family.gates))

    @cached_property
    def first_letters(self) -> bytes:
        """Of each gate the rarest letter."""
        return bytes(gate.letters[0] for gate in self.gates)

    @cached_property
    def _probes(self) -> tuple[bytes, ...]:
        """Without any of these no family occurs."""
        return tuple(dict.fromkeys(probe for gate in self.gates for probe in gate.probes))

    @cached_property
    def looked_for(self) -> tuple[tuple[int, Gate], ...]:
        """Each gate behind its rarest letter: a search for a byte is the cheapest."""
        return tuple((gate.letters[0], gate) for gate in self.gates)

    @cached_property
    def _any_probe(self) -> re.Pattern[bytes]:
        return re.compile(b"|".join(re.escape(probe) for probe in self._probes))

    @cached_property
    def _any_probe_in_text(self) -> re.Pattern[str]:
        return re.compile(self._any_probe.pattern.decode("ascii"))

    @cached_property
    def _any_probe_in_any_case(self) -> re.Pattern[bytes]:
        return re.compile(self._any_probe.pattern.lower())

    @cached_property
    def last_bytes(self) -> frozenset[int]:
        """A byte beside these never is the last of a spelling that is under way."""
        return frozenset(b"".join(family.alphabet for family in self.families))

    @cached_property
    def _begun(self) -> re.Pattern[bytes]:
        return re.compile("|".join(family.beginning for family in self.families).encode())

    @cached_property
    def _begun_in_lines(self) -> re.Pattern[bytes]:
        families = (family for family in self.families if family.in_lines)
        return re.compile("|".join(family.beginning for family in families).encode())

    @cached_property
    def _alphabet(self) -> bytes:
        return bytes(sorted(self.last_bytes))

    @cached_property
    def _longest(self) -> int:
        return max(family.longest for family in self.families)

    @cached_property
    def starts(self) -> tuple[bytes, ...]:
        """The plain beginnings that are shorter than LEAST, and that of LEAST characters."""
        return tuple(self.key[:end].encode() for end in range(1, LEAST + 1))

    @cached_property
    def signs(self) -> tuple[Sign, ...]:
        """Of the first LEAST characters: the letters by which one can tell that they pass."""
        letters = gate(self.key[1:LEAST].encode()).letters.decode()
        return tuple(_sign(letter, self.key) for letter in letters)

    @cached_property
    def escaped_sign(self) -> re.Pattern[bytes]:
        """One of these letters, escaped, or what may become one at the end of the bytes."""
        codes = "|".join(sorted({f"{ord(letter):02x}" for letter in self.key[1:LEAST]}))
        return re.compile(f"\\\\u00(?i:{codes}|[2-7]?\\Z)".encode())

    @cached_property
    def may_go_on(self) -> Callable[[bytes], bool]:
        """Whether more than LEAST - 1 characters of the key may have come; False is certain."""
        sign, escaped = self.signs[0], self.escaped_sign.search
        # Of the rarest letter. Its place beside others tells: all events may have the letter.
        letter, beside = sign.letter, sign.pattern.search

        def goes_on(data: bytes) -> bool:
            if letter in data and beside(data) is not None:
                return True
            return _BACKSLASH in data and data.find(b"\\u00") >= 0 and escaped(data) is not None

        return goes_on

    def masked(self, data: bytes) -> bytes:
        """The same bytes with an asterisk for each byte of the key; the same object without any."""
        if not self._may_occur(data):
            return data
        for family in self.families:
            if family.occurs(data):
                data = family.masked(data)
        return data

    def _may_occur(self, data: bytes) -> bool:
        """One look for few bytes, such as a header; for many a search for each probe is faster."""
        if len(data) <= SHORT:
            return self._any_probe.search(data) is not None
        return any(letter in data and gate.is_open(data) for letter, gate in self.looked_for)

    def masked_text(self, text: str) -> str:
        """The same for text."""
        if len(text) < LEAST or (len(text) <= SHORT and not self._any_probe_in_text.search(text)):
            return text
        data = text.encode("utf-8", "surrogatepass")
        masked = self.masked(data)
        return text if masked is data else masked.decode("utf-8", "surrogatepass")

    def may_be_in(self, headers: Iterable[tuple[str, str]]) -> bool:
        """Whether the key may occur in these, whatever has become of the case of its letters."""
        words = "\n".join([word for header in headers for word in header])
        lower = words.encode("utf-8", "surrogatepass").lower()
        return self._any_probe_in_any_case.search(lower) is not None

    def masked_name(self, name: bytes) -> bytes:
        """A header's name, which may have lost the case of its letters."""
        lower = name.lower()
        if self._any_probe_in_any_case.search(lower) is None:
            return name
        for family in self.families:
            if any(probe.lower() in lower for gate in family.gates for probe in gate.probes):
                name = family.masked(name, any_case=True)
        return name

    def begun_at(self, data: bytes) -> int:
        """Where the longest end begins that is a proper beginning of a spelling. None is whole."""
        bounded = max(len(data.rstrip(self._alphabet)), len(data) - self._longest)
        end = data[bounded:]
        match = self._begun.search(end)
        places = [len(end) if match is None else match.start()]
        if any(byte in end for byte in _IN_LINE_ENDS):
            broken = found_across(end, self._begun_in_lines)
            places += [] if broken is None else [broken]
        return bounded + min(places)


def _sign(letter: str, key: str) -> Sign:
    """It stands beside its neighbours, or at the edge of a string or of the bytes."""
    sign = re.escape(letter)
    patterns = []
    for place, other in enumerate(key[:LEAST]):
        if other == letter:
            edges = [rf"\A{quote}{sign}" for quote in ("", '"', ' "')]
            edges += [f':"{sign}', f': "{sign}', re.escape(key[place - 1]) + sign]
            before = f"(?:{'|'.join(f'(?<={edge})' for edge in edges)})" if place else ""
            after = f'(?:\\Z|"(?! ?:)|{re.escape(key[place + 1])})' if key[place + 1 :] else ""
            patterns.append(before + after)
    return Sign(ord(letter), re.compile(f"{sign}(?:{'|'.join(patterns)})".encode()))
