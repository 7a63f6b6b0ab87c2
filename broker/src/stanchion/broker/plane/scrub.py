"""Masks a key in a stream of bytes, whatever way it was cut, without IO.

Each spelling of it becomes asterisks of equal length, so that lengths and framing stay true. Held
back is only an end that is a proper beginning of a spelling; everything else leaves at once. It
must never let a whole key through, and never change another byte.
"""

import re
from collections.abc import Callable
from typing import Protocol

from stanchion.broker.plane.delta_scrub import DeltaScrub
from stanchion.broker.plane.glance import EVENT_ENDS
from stanchion.broker.plane.spellings import FRAGMENT, Spellings

_NO_LINE_END = re.compile(rb"[^\r\n]")


class Digest(Protocol):
    """A hash under way."""

    def update(self, data: bytes, /) -> None:
        """Take more bytes."""

    def hexdigest(self) -> str:
        """Of all bytes so far."""


class Scrubber:
    """Bytes in, the same bytes without the key out. One for each body."""

    __slots__ = (
        "_deltas", "_last_bytes", "_letters", "_passed", "_received", "_tail", "spellings",
    )  # fmt: skip

    def __init__(
        self, spellings: Spellings, passed: Callable[[], Digest], *, events: bool = False
    ) -> None:
        """`passed` gives a copy of the hash of all that left so far.

        Whoever reads the body hashes it anyway; another hash is kept only once the two differ.
        `events` = it is an event stream, in whose deltas the key may be spread.
        """
        self.spellings = spellings
        self._passed = passed
        self._letters = bytearray(spellings.first_letters)
        """Of each gate the one that is looked for: one look for a few letters is the cheapest."""
        self._last_bytes = spellings.last_bytes
        self._tail = b""
        self._deltas = DeltaScrub(spellings, self._found) if events else None
        self._received: Digest | None = None

    @property
    def hit(self) -> bool:
        """Whether the key came."""
        return self._received is not None

    @property
    def received_sha256(self) -> str | None:
        """Of everything that was fed, as it came; None = it is that of what left."""
        return None if self._received is None else self._received.hexdigest()

    @property
    def at_rest(self) -> bool:
        """Whether no key is under way, and none came: a glance tells of what may leave."""
        under_way = self._tail or not (self._deltas is None or self._deltas.at_rest)
        return self._received is None and not under_way

    def left(self, data: bytes) -> None:
        """Take note of bytes of events that left after a glance."""
        if self._deltas is not None:
            self._deltas.left(data)

    def feed(self, data: bytes) -> bytes:
        """What may leave now."""
        if self._received is not None:
            self._received.update(data)
        window = self._tail + data if self._tail else data
        if self._may_be_in(window):
            window = self._masked(window)
        if self._tail:
            self._tail = b""
        if window and not window.endswith(EVENT_ENDS) and window[-1] in self._last_bytes:
            place = self.spellings.begun_at(window)
            self._tail, window = window[place:], window[:place]
        return window if self._deltas is None else self._deltas.feed(window)

    def close(self) -> bytes:
        """What was held back: it did not become the key, and a large part of one it never shows."""
        rest, self._tail = self._tail, b""
        if len(rest) >= FRAGMENT:
            self._found(self._held, rest)
            rest = _NO_LINE_END.sub(b"*", rest)
        if self._deltas is None:
            return rest
        return self._deltas.feed(rest) + self._deltas.close()

    def _may_be_in(self, window: bytes) -> bool:
        # Nothing is taken out: the quickest way to know that none of them is there.
        if len(window.translate(None, self._letters)) == len(window):
            return False
        for place, letter in enumerate(self._letters):
            if letter in window:
                gate = self.spellings.gates[place]
                if gate.is_open(window):
                    return True
                # The letter is in other bytes of this stream, maybe in all its events: another one.
                self._letters[place] = gate.letter_beside(window, letter)
        return False

    def _masked(self, window: bytes) -> bytes:
        masked = self.spellings.masked(window)
        if masked is not window:
            self._tail = b""
            self._found(self._held, window)
        return masked

    @property
    def _held(self) -> bytes:
        return b"" if self._deltas is None else self._deltas.held

    def _found(self, *unsent: bytes) -> None:
        """Before a byte is changed: what came and has not left, but for the tail."""
        if self._received is None:
            self._received = self._passed()
            for data in (*unsent, self._tail):
                self._received.update(data)
