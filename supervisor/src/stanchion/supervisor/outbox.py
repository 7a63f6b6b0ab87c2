"""What waits to be told to the broker: numbered, acknowledged, bounded by bytes.

Pure. An event gets its number when it is first taken, so that what had to be dropped leaves no hole
in the numbers but one Warned event that says what is missing. A sent line is kept until its ack.
"""

from collections import deque
from dataclasses import dataclass, field

from stanchion.protocol.codec import encode, encode_line
from stanchion.protocol.control import Publish
from stanchion.protocol.events import (
    Envelope,
    Event,
    FileSent,
    OutputWritten,
    TranscriptChanged,
    VitalsSampled,
    Warned,
)

MAX_BYTES = 32 * 1024 * 1024
WINDOW_BYTES = 4 * 1024 * 1024
"""Sent and not yet acknowledged, at most (one larger line is let through alone)."""

DROP_ORDER: tuple[type, ...] = (OutputWritten, VitalsSampled, TranscriptChanged, FileSent)
"""What goes first when the broker does not take it; everything else is always kept."""


@dataclass(slots=True)
class _Item:
    event: Event
    mono_ms: int
    wall_ms: int
    size_bytes: int


@dataclass(slots=True)
class _Gap:
    mono_ms: int
    wall_ms: int
    dropped: dict[str, int] = field(default_factory=dict)
    """Events by kind."""
    dropped_bytes: int = 0

    size_bytes = 0

    def add(self, item: _Item) -> None:
        kind = type(item.event).__name__
        self.dropped[kind] = self.dropped.get(kind, 0) + 1
        self.dropped_bytes += item.size_bytes

    @property
    def event(self) -> Event:
        counts = ", ".join(f"{count} {kind}" for kind, count in self.dropped.items())
        return Warned(
            what="gap",
            detail=f"dropped here: {counts}, {self.dropped_bytes} bytes; the broker was not taking",
        )


def _size(event: Event) -> int:
    if isinstance(event, OutputWritten | FileSent):
        return len(event.data) * 4 // 3 + 256  # base64, without encoding it twice
    return len(encode(event)) + 128


class Outbox:
    """Events in, lines to send out."""

    def __init__(
        self, *, boot: str, max_bytes: int = MAX_BYTES, window_bytes: int = WINDOW_BYTES
    ) -> None:
        self._boot = boot
        self._max_bytes = max_bytes
        self._window_bytes = window_bytes
        self._pending: deque[_Item | _Gap] = deque()
        self._sent: deque[tuple[int, bytes]] = deque()
        self._resend = 0
        """How many of `_sent` went out on this connection."""
        self._next_seq = 1
        self.waiting_bytes = 0
        """Held here: not yet sent or not yet acknowledged."""
        self._unacked_bytes = 0

    @property
    def empty(self) -> bool:
        """Whether everything was acknowledged."""
        return not self._pending and not self._sent

    def add(self, event: Event, *, mono_ms: int, wall_ms: int) -> None:
        """Keep an event until it is acknowledged."""
        size_bytes = _size(event)
        self._pending.append(_Item(event, mono_ms, wall_ms, size_bytes))
        self.waiting_bytes += size_bytes
        if self.waiting_bytes > self._max_bytes:
            self._shed()

    def take(self) -> bytes | None:
        """The next line to send; None = nothing, or enough is on its way."""
        if self._resend < len(self._sent):
            line = self._sent[self._resend][1]
            self._resend += 1
            return line
        if not self._pending or self._unacked_bytes >= self._window_bytes:
            return None
        item = self._pending.popleft()
        envelope = Envelope(
            seq=self._next_seq,
            boot=self._boot,
            mono_ms=item.mono_ms,
            wall_ms=item.wall_ms,
            event=item.event,
        )
        line = encode_line(Publish(envelope=envelope))
        self._sent.append((self._next_seq, line))
        self._resend += 1
        self._next_seq += 1
        self.waiting_bytes += len(line) - item.size_bytes
        self._unacked_bytes += len(line)
        return line

    def ack(self, seq: int) -> None:
        """Everything up to `seq` is durable at the broker."""
        while self._sent and self._sent[0][0] <= seq:
            _, line = self._sent.popleft()
            self._resend = max(0, self._resend - 1)
            self._unacked_bytes -= len(line)
            self.waiting_bytes -= len(line)

    def rewind(self) -> None:
        """A new connection: what was not acknowledged goes out again."""
        self._resend = 0

    def _shed(self) -> None:
        """Drop by kind until a quarter is free, oldest first; neighbours share one gap.

        A file loses a piece only where there is no room at all without that.
        """
        for kind in DROP_ORDER:
            target = self._max_bytes if kind is FileSent else self._max_bytes * 3 // 4
            if self.waiting_bytes <= target:
                return
            kept: deque[_Item | _Gap] = deque()
            for item in self._pending:
                if self.waiting_bytes <= target or not self._drops(item, kind):
                    kept.append(item)
                    continue
                if not kept or not isinstance(kept[-1], _Gap):
                    kept.append(_Gap(item.mono_ms, item.wall_ms))
                gap = kept[-1]
                if isinstance(gap, _Gap) and isinstance(item, _Item):
                    gap.add(item)
                self.waiting_bytes -= item.size_bytes
            self._pending = kept

    @staticmethod
    def _drops(item: _Item | _Gap, kind: type) -> bool:
        return isinstance(item, _Item) and isinstance(item.event, kind)
