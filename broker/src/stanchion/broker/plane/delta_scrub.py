"""Masks a key that is spread over the strings of consecutive events of a stream. Pure.

A model's text comes in pieces, each a string under the same field name in an event of its own, and
the key may be cut between them: `"content":"sk-AB"` and then `"content":"CD…"`. Once LEAST
characters of it stand at the end of such a string, that event and what follows wait until the next
string of the field says whether it goes on. So at most the first LEAST - 1 characters of a key
leave before it is known (there all keys of a provider are alike), and an event of any other text
leaves at once.

Not found here: pieces of its hexadecimal or base64 form, pieces of two fields or of two texts that
come by turns, pieces with more than one other event between them, and of a key's first LEAST
characters those that came more than MAX_CONTEXT_BYTES before the rest.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from stanchion.broker.plane.key_families import Family
from stanchion.broker.plane.spellings import FRAGMENT, LEAST, Spellings

MAX_HELD_BYTES = 16 * 1024
MAX_CONTEXT_BYTES = 4 * 1024
"""Kept of what left: in there are the strings in which a key may have begun."""
MAX_THREADS = 32
MAX_LINES_APART = 1
"""Other events between two pieces, such as a ping."""

_PAIR = re.compile(
    rb'"(?P<name>[^"\\\r\n]*)"[ \t]*:[ \t]*"(?P<text>(?:[^"\\\r\n]|\\[^\r\n])*+)(?P<end>"?)'
)
_OPEN_ESCAPE = re.compile(rb"(?:\\{1,4}(?:u[0-9a-fA-F]{0,3})?|%[0-9a-fA-F]?)?")
_LINE_END = re.compile(rb"\r\n|\n|\r")


@dataclass(slots=True)
class _Thread:
    """A key that may have begun, in the strings of one field."""

    name: bytes
    family: Family
    characters: int = 0
    spans: list[tuple[int, int]] = field(default_factory=list)
    """Where its characters stand, by the offset in the stream."""
    lines_apart: int = 0

    @property
    def whole(self) -> bool:
        return self.characters == len(self.family.steps)

    def take(self, text: bytes, at: int, offset: int) -> int:
        """Read on in `text` from `at`; where the characters of the key end there."""
        start, steps = at, self.family.steps
        while at < len(text) and self.characters < len(steps):
            match = steps[self.characters].match(text, at)
            if match is None:
                break
            at = match.end()
            self.characters += 1
        if at > start:
            self.spans.append((offset + start, offset + at))
        return at

    def copy(self) -> "_Thread":
        return _Thread(self.name, self.family, self.characters, list(self.spans))


class DeltaScrub:
    """Bytes in, of which no single string holds a whole key; bytes out, nor do several strings."""

    __slots__ = (
        "_families", "_found", "_full_at", "_held", "_left", "_line", "_may_go_on", "_read",
        "_recent", "_starts", "_threads",
    )  # fmt: skip

    def __init__(self, spellings: Spellings, found: Callable[[bytes], None]) -> None:
        """`found` takes all that came and has not left, before any of it is changed."""
        self._families = spellings.texts
        self._starts = spellings.starts
        self._may_go_on = spellings.may_go_on
        self._found = found
        self._recent: list[bytes] = []
        """The end of what left."""
        self._full_at = 2 * MAX_CONTEXT_BYTES
        self._left = 0
        """How many bytes left."""
        self._held = bytearray()
        self._line = 0
        """Lines that begin before this offset have been read."""
        self._read = 0
        """Strings that begin before this offset have been read."""
        self._threads: list[_Thread] = []

    @property
    def held(self) -> bytes:
        """What came and has not left."""
        return bytes(self._held)

    def feed(self, data: bytes) -> bytes:
        """What may leave now."""
        if self._threads or self._held or self._may_go_on(data):
            self._held += data
            return self._release(self._read_on())
        self.left(data)
        return data

    @property
    def at_rest(self) -> bool:
        """Whether no key is under way."""
        return not (self._threads or self._held)

    def close(self) -> bytes:
        """The rest: no further string comes."""
        return self._release(None)

    def left(self, data: bytes) -> None:
        """Take note of bytes that left, in which nothing may go on."""
        self._left += len(data)
        self._recent.append(data)
        if self._left > self._full_at:
            self._full_at = self._left + MAX_CONTEXT_BYTES
            self._recent = [b"".join(self._recent)[-MAX_CONTEXT_BYTES:]]

    def _read_on(self) -> int:
        """Read the strings that came; the offset from which on bytes must wait."""
        before = b"".join(self._recent)
        if not self._threads:
            before = self._worth_reading(before)
        base = max(self._left - len(before), self._line)
        text = (before + self._held)[base - self._left + len(before) :]
        open_at: int | None = None
        for line, start, end in _lines(text):
            names, open_at = self._line_read(line, base + start, ended=end is not None)
            if end is not None:
                self._line = base + end
                if line.startswith(b"data"):
                    self._line_ended(names)
        waits = [thread for thread in self._threads if thread.characters >= LEAST]
        starts = [start for thread in waits for start, _ in self._still_here(thread)]
        starts += [base + len(text) if open_at is None else open_at]
        return max(min(starts), self._left)

    def _worth_reading(self, before: bytes) -> bytes:
        """The last lines of it, back to the one in which a key has begun that may go on now."""
        lines = before.split(b"\n")
        needed, quiet = len(lines) - 1, 0
        for number in range(len(lines) - 2, -1, -1):
            if lines[number].startswith(b"data"):
                quiet = 0 if self._has_part(lines[number]) else quiet + 1
                if quiet > MAX_LINES_APART:
                    break
                needed = needed if quiet else number
        return b"\n".join(lines[needed:])

    def _has_part(self, line: bytes) -> bool:
        texts = [pair["text"] for pair in _PAIR.finditer(line)]
        return any(
            text in self._starts[-1] or text.endswith(self._starts) or b"\\u00" in text
            for text in texts
        )

    def _line_read(self, line: bytes, base: int, *, ended: bool) -> tuple[set[bytes], int | None]:
        """The fields with strings in it, and where one begins that is not whole and must wait."""
        names, open_at = set(), None
        for pair in _PAIR.finditer(line):
            name, text, offset = pair["name"], pair["text"], base + pair.start("text")
            names.add(name)
            if pair["end"] and offset >= self._read:
                self._read = offset + len(text) + 1
                self._string(name, text, offset)
            elif not pair["end"] and not ended:
                open_at = self._unfinished(name, text, offset)
        return names, open_at

    def _string(self, name: bytes, text: bytes, offset: int) -> None:
        """A whole string of a field: which keys go on in it, or begin."""
        threads = [thread for thread in self._threads if thread.name == name]
        others = [thread for thread in self._threads if thread.name != name]
        going: list[_Thread] = []
        for thread in threads:
            end = thread.take(text, 0, offset)
            if thread.whole:
                self._mask(thread)
            elif end == len(text):
                thread.lines_apart = 0
                going.append(thread)
        going += self._begun(name, text, offset)
        self._threads = others + going[:MAX_THREADS]

    def _begun(self, name: bytes, text: bytes, offset: int) -> Iterator[_Thread]:
        plainly = text.endswith(self._starts) or self._starts[-1] in text
        if not plainly and b"\\" not in text and b"%" not in text:
            return
        for family in self._families:
            at = max(0, len(text) - family.longest)
            while (match := family.begun.search(text, at)) is not None:
                thread, at = _Thread(name, family), match.start()
                if thread.take(text, at, offset) == len(text) and not thread.whole:
                    yield thread
                at += 1

    def _unfinished(self, name: bytes, text: bytes, offset: int) -> int | None:
        """A string whose end has not come: where it begins, if a key may go on in it."""
        waits = False
        for thread in [thread for thread in self._threads if thread.name == name]:
            ahead = thread.copy()
            rest = text[ahead.take(text, 0, offset) :]
            if ahead.whole:
                self._threads.remove(thread)
                self._mask(ahead)
            else:
                waits = waits or _OPEN_ESCAPE.fullmatch(rest) is not None
        return offset if waits else None

    def _line_ended(self, names: set[bytes]) -> None:
        for thread in self._threads:
            if thread.name not in names:
                thread.lines_apart += 1
        self._threads = [t for t in self._threads if t.lines_apart <= MAX_LINES_APART]

    def _still_here(self, thread: _Thread) -> list[tuple[int, int]]:
        return [(max(start, self._left), end) for start, end in thread.spans if end > self._left]

    def _mask(self, thread: _Thread) -> None:
        spans = self._still_here(thread)
        if spans:
            self._found(bytes(self._held))
        for start, end in spans:
            self._held[start - self._left : end - self._left] = b"*" * (end - start)

    def _release(self, until: int | None) -> bytes:
        """Let go what is before the offset; all, where the body ends or it becomes too much."""
        came = self._left + len(self._held)
        if until is None or came - until > MAX_HELD_BYTES:
            for thread in self._threads:
                if thread.characters >= FRAGMENT:
                    self._mask(thread)
            until = came
        count = until - self._left
        out = bytes(self._held[:count])
        self.left(out)
        del self._held[:count]
        return out


def _lines(text: bytes) -> Iterator[tuple[bytes, int, int | None]]:
    """Each line, where it starts, and where the next one does; None = it has not ended."""
    start = 0
    for end in _LINE_END.finditer(text):
        yield text[start : end.start()], start, end.end()
        start = end.end()
    yield text[start:], start, None
