"""Joins a response to the connection it answers: the seam `relay(up, down, tap)`.

Bytes leave first and are read after; only those of a possible terminal event, or the last piece of
a body that is no event stream, are read first and handed back to wait for their receipt. It paces
reading by writing and bounds every wait. It must never change a byte, but for those of a secret
that its scrub masks before anything else sees them.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Protocol

from stanchion.broker.plane.limits import Limits
from stanchion.broker.plane.upstream import Ending, Upstream

MAX_HELD_BYTES = 64 * 1024


class Tap(Protocol):
    """Who reads the copy."""

    semantic_events: int

    def holds_from(self, data: bytes) -> int | None:
        """Where a terminal event may start in the next bytes; None = nowhere."""

    def saw(self, data: bytes) -> None:
        """Read bytes."""

    @property
    def terminal(self) -> bool:
        """Whether the terminal event or an error came."""

    @property
    def undecided(self) -> bool:
        """Whether an event has begun that may be terminal."""

    @property
    def by_events(self) -> bool:
        """Whether the body is an event stream."""


class Scrub(Protocol):
    """Who masks a secret."""

    def feed(self, data: bytes) -> bytes:
        """What may leave now of the bytes so far."""

    def close(self) -> bytes:
        """What was held back."""


class Down(Protocol):
    """Where the bytes go."""

    gone: bool

    def write(self, data: bytes) -> None:
        """Send body bytes."""

    def watch(
        self,
        *,
        on_gone: Callable[[], None],
        on_pause: Callable[[], None],
        on_resume: Callable[[], None],
    ) -> None:
        """Say when the reader is gone, or slow."""


class RelayEnd(Enum):
    """Why the relay stopped."""

    __hash__ = object.__hash__  # members are one of a kind; the library's own is slow

    COMPLETE = "complete"
    """The whole body came."""
    TERMINAL = "terminal"
    """The terminal event came; the provider kept the connection open."""
    CUT = "cut"
    MALFORMED = "malformed"
    IDLE = "idle"
    READER = "reader"
    """The client took nothing for too long."""
    CLIENT_GONE = "client_gone"
    DRAIN = "drain"
    """It left, and the usage did not come in the time given."""
    REVOKED = "revoked"


@dataclass(frozen=True, slots=True)
class Relayed:
    """What the relay leaves to be done: bytes that may go once the receipt is durable."""

    end: RelayEnd
    held: bytes


_ENDS = {
    Ending.COMPLETE: RelayEnd.COMPLETE,
    Ending.CUT: RelayEnd.CUT,
    Ending.MALFORMED: RelayEnd.MALFORMED,
}


class Flow:
    """One relay under way; `revoke` ends it from outside."""

    def __init__(
        self,
        up: Upstream,
        down: Down,
        tap: Tap,
        *,
        limits: Limits,
        on_alive: Callable[[], None],
        scrub: Scrub | None = None,
    ) -> None:
        self._loop = asyncio.get_running_loop()
        self._up, self._down, self._tap, self._limits = up, down, tap, limits
        self._on_alive = on_alive
        self._scrub = scrub
        self._alive_at = float("-inf")
        self._held = bytearray()
        self._holding = False
        self._draining = False
        self._drained_bytes = 0
        self._result: asyncio.Future[Relayed] = self._loop.create_future()
        self._wait = (limits.idle_s, RelayEnd.IDLE)
        """For how long, and what its end is."""
        self._due = self._loop.time() + limits.idle_s
        self._timer = self._loop.call_at(self._due, self._late)

    async def run(self) -> Relayed:
        """Until the body ended, the client's drain ended, or a limit was reached."""
        self._down.watch(on_gone=self._client_gone, on_pause=self._pause, on_resume=self._read_on)
        if self._down.gone:
            self._client_gone()
        self._up.take_body(self._received, self._ended)
        try:
            relayed = await self._result
        except BaseException:
            self._up.close()
            raise
        finally:
            self._timer.cancel()
        if relayed.end is not RelayEnd.COMPLETE:
            self._up.close()
        return relayed

    def revoke(self) -> None:
        """The lease ended: cut both sides."""
        self._stop(RelayEnd.REVOKED)
        self._up.close()

    # bytes

    def _received(self, data: bytes) -> None:
        if self._result.done():
            return
        clean = data if self._scrub is None else self._scrub.feed(data)
        if clean:
            self._body(clean)

    def _body(self, data: bytes) -> None:
        before = self._tap.semantic_events
        if self._draining:
            self._drain(data)
        elif not self._tap.by_events:
            self._pass(bytes(self._held))
            self._held[:] = data
            self._tap.saw(data)
        else:
            self._event_bytes(data)
        if self._tap.semantic_events > before:
            self._semantic()

    def _event_bytes(self, data: bytes) -> None:
        if not self._holding:
            place = self._tap.holds_from(data)
            self._pass(data if place is None else data[:place])
            self._tap.saw(data)
            if place is None:
                return
            self._holding = True
            self._held += data[place:]
        else:
            self._held += data
            self._tap.saw(data)
        if self._tap.terminal:
            self._linger()
        elif not self._tap.undecided or len(self._held) > MAX_HELD_BYTES:
            # Of an event that is too long its beginning may go: without its end it is none.
            self._pass(bytes(self._held))
            self._held.clear()
            self._holding = self._tap.undecided

    def _pass(self, data: bytes) -> None:
        if data:
            self._down.write(data)

    def _drain(self, data: bytes) -> None:
        self._tap.saw(data)
        self._drained_bytes += len(data)
        if self._tap.terminal:
            self._stop(RelayEnd.CLIENT_GONE)
        elif self._drained_bytes > self._limits.drain_bytes:
            self._stop(RelayEnd.DRAIN)

    # waits

    def _semantic(self) -> None:
        """No timer is touched for an event: the one that runs looks at the time when it is due."""
        now = self._loop.time()
        if self._wait[1] is RelayEnd.IDLE:
            self._due = now + self._wait[0]
        if now - self._alive_at >= self._limits.alive_every_s:
            self._alive_at = now
            self._on_alive()

    def _expect(self, delay_s: float, end: RelayEnd) -> None:
        """What is waited for now, in place of what was."""
        self._wait = (delay_s, end)
        self._due = self._loop.time() + delay_s
        self._timer.cancel()
        self._timer = self._loop.call_at(self._due, self._late)

    def _late(self) -> None:
        if self._loop.time() < self._due:
            self._timer = self._loop.call_at(self._due, self._late)
        else:
            self._stop(self._wait[1])

    def _linger(self) -> None:
        if len(self._held) > MAX_HELD_BYTES:
            self._stop(RelayEnd.TERMINAL)
        else:
            self._expect(self._limits.linger_s, RelayEnd.TERMINAL)

    def _pause(self) -> None:
        """While nobody reads on the one side, silence of the other means nothing."""
        self._up.pause()
        if self._wait[1] is RelayEnd.IDLE:
            self._expect(self._limits.reader_s, RelayEnd.READER)

    def _read_on(self) -> None:
        self._up.resume()
        if self._wait[1] is RelayEnd.READER:
            self._expect(self._limits.idle_s, RelayEnd.IDLE)

    # ends

    def _client_gone(self) -> None:
        if self._result.done() or self._draining:
            return
        self._draining = True
        self._held.clear()
        if self._tap.terminal:
            self._stop(RelayEnd.CLIENT_GONE)
            return
        self._up.resume()
        self._expect(self._limits.drain_s, RelayEnd.DRAIN)

    def _ended(self, ending: Ending) -> None:
        self._stop(RelayEnd.CLIENT_GONE if self._draining else _ENDS[ending])

    def _stop(self, end: RelayEnd) -> None:
        rest = b"" if self._scrub is None or self._result.done() else self._scrub.close()
        if rest:
            self._body(rest)  # which may end it itself
        if not self._result.done():
            self._timer.cancel()
            self._result.set_result(Relayed(end, bytes(self._held)))


def relay(
    up: Upstream,
    down: Down,
    tap: Tap,
    *,
    limits: Limits,
    on_alive: Callable[[], None],
    scrub: Scrub | None = None,
) -> Flow:
    """The relay of one response; await its `run`."""
    return Flow(up, down, tap, limits=limits, on_alive=on_alive, scrub=scrub)
