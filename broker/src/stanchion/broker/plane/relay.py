"""Joins a response to the connection it answers: the seam `relay(up, down, tap)`.

Bytes leave first and are read after; only those of a possible terminal event, or the last piece of
a body that is no event stream, are read first and handed back to wait for their receipt. Most
pieces of a stream pass after a glance, and are read a few at a time. It paces
reading by writing and bounds every wait. It must never change a byte, but for those of a secret
that its scrub masks before anything else sees them.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

from stanchion.broker.plane.glance import glance
from stanchion.broker.plane.limits import MAX_UNREAD_BYTES, Limits
from stanchion.broker.plane.parties import Down, Scrub, Tap
from stanchion.broker.plane.upstream import Ending, Upstream

MAX_HELD_BYTES = 64 * 1024


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

    __slots__ = (
        "_as_it_comes", "_calm", "_came_at", "_down", "_drained_bytes", "_draining", "_due", "_end",
        "_glance", "_held", "_holding", "_limits", "_loop", "_on_alive", "_over", "_result",
        "_scrub", "_start", "_tap", "_tell_at", "_timer", "_unframed", "_unread", "_unread_bytes",
        "_up", "_wait",
    )  # fmt: skip

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
        self._glance = glance(None if scrub is None else scrub.spellings, tap.lookout)
        self._start: bytes | None = None
        self._end = b""
        """The frame of the last event that was read."""
        self._unframed: list[int] = []
        """Which of the pieces below are not in it."""
        self._calm = tap.by_events
        """Whether a piece may pass after a glance: nothing is under way that could go on in it."""
        self._unread: list[bytes] = []
        """Pieces that passed so; neither the scrub nor the tap knows of them yet."""
        self._came_at: list[float] = []
        """When each of them came."""
        self._unread_bytes = 0
        self._tell_at = float("-inf")
        """When the next sign of life is due to be told."""
        self._held = bytearray()
        self._as_it_comes = tap.by_events
        """Whether bytes leave before they are read."""
        self._holding = False
        self._draining = False
        self._over = False
        self._drained_bytes = 0
        self._result: asyncio.Future[Relayed] = self._loop.create_future()
        self._wait = (limits.idle_s, RelayEnd.IDLE)
        """For how long, and what its end is."""
        self._due = self._loop.time() + limits.idle_s
        """Where nothing semantic comes."""
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
            self._over, self._calm = True, False
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
        framed = self._calm and self._is_framed(data)
        if framed or (self._calm and self._glance.passes(data)):
            now = self._loop.time()
            self._down.write(data)
            if not framed:
                self._unframed.append(len(self._unread))
            self._unread.append(data)
            self._came_at.append(now)
            self._unread_bytes += len(data)
            if self._unread_bytes > MAX_UNREAD_BYTES or now >= self._tell_at:
                self._settle()
                self._tell(now)
        elif not self._over:
            self._settle()
            self._look_closer(data)
            self._calm = self._is_calm()

    def _is_framed(self, data: bytes) -> bool:
        """Whether it is an event in the frame, with a text that nobody has to look at."""
        start, end = self._start, self._end
        if start is None or not data.startswith(start) or not data.endswith(end):
            return False
        text = data[len(start) : -len(end)]
        return len(start) + len(text) + len(end) == len(data) and self._glance.is_plain(text)

    def _settle(self) -> None:
        """Tell of what passed after a glance, before anything else happens."""
        if self._unread:
            pieces, came_at = self._unread, self._came_at
            self._unread, self._came_at, self._unread_bytes = [], [], 0
            if self._scrub is not None:
                self._scrub.left(b"".join(pieces))
            unframed, self._unframed = self._unframed, []
            self._tap.passed_all(pieces, came_at, unframed)
            if unframed:
                frame = self._tap.frame
                self._start, self._end = (None, b"") if frame is None else (frame.start, frame.end)

    def _is_calm(self) -> bool:
        if self._over or not self._as_it_comes or not self._tap.at_rest:
            return False
        return self._scrub is None or self._scrub.at_rest

    def _look_closer(self, data: bytes) -> None:
        if self._scrub is not None:
            data = self._scrub.feed(data)
        if data:
            self._body(data)

    def _body(self, data: bytes) -> None:
        now = self._loop.time()
        if self._as_it_comes:
            place = self._tap.holds_from(data)
            if place is None:
                self._down.write(data)
                self._tap.passed(data, now)
            else:
                self._hold(data, place, now)
        elif self._draining:
            self._drain(data, now)
        elif self._holding:
            self._held += data
            self._tap.saw(data, now)
            self._decide()
        else:
            self._pass(bytes(self._held))
            self._held[:] = data
            self._tap.saw(data, now)
        self._tell(now)

    def _tell(self, now: float) -> None:
        """That it is alive, once in a while."""
        if now >= self._tell_at and self._tap.semantic_at == now:
            self._tell_at = now + self._limits.alive_every_s
            self._on_alive()

    def _hold(self, data: bytes, place: int, now: float) -> None:
        """From this place on, until it is known whether it ends the stream."""
        self._pass(data[:place])
        self._held += data[place:]
        self._as_it_comes, self._holding = False, True
        self._tap.passed(data, now)
        self._decide()

    def _decide(self) -> None:
        if self._tap.terminal:
            self._linger()
        elif not self._tap.undecided or len(self._held) > MAX_HELD_BYTES:
            # Of an event that is too long its beginning may go: without its end it is none.
            self._pass(bytes(self._held))
            self._held.clear()
            self._holding = self._tap.undecided
            self._as_it_comes = not self._holding

    def _pass(self, data: bytes) -> None:
        if data:
            self._down.write(data)

    def _drain(self, data: bytes, now: float) -> None:
        self._tap.saw(data, now)
        self._drained_bytes += len(data)
        if self._tap.terminal:
            self._stop(RelayEnd.CLIENT_GONE)
        elif self._drained_bytes > self._limits.drain_bytes:
            self._stop(RelayEnd.DRAIN)

    # waits

    def _expect(self, delay_s: float, end: RelayEnd) -> None:
        """What is waited for now, in place of what was."""
        self._wait = (delay_s, end)
        self._due = self._loop.time() + delay_s
        self._timer.cancel()
        self._timer = self._loop.call_at(self._due, self._late)

    def _late(self) -> None:
        """No timer is touched for an event: the one that runs looks back when it is due."""
        self._settle()
        if self._wait[1] is RelayEnd.IDLE:
            self._due = max(self._due, self._tap.semantic_at + self._wait[0])
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
        if self._over or self._draining:
            return
        self._settle()
        self._draining, self._as_it_comes, self._calm = True, False, False
        self._held.clear()
        if self._tap.terminal:
            self._stop(RelayEnd.CLIENT_GONE)
            return
        self._up.resume()
        self._expect(self._limits.drain_s, RelayEnd.DRAIN)

    def _ended(self, ending: Ending) -> None:
        self._stop(RelayEnd.CLIENT_GONE if self._draining else _ENDS[ending])

    def _stop(self, end: RelayEnd) -> None:
        self._settle()
        self._calm = False
        rest = b"" if self._scrub is None or self._over else self._scrub.close()
        if rest:
            self._body(rest)  # which may end it itself
        if not self._over:
            self._over = True
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
