"""Relays a fixture in virtual time: hours of silence pass at once, and nobody waits for a clock.

The loop leaps to its next timer whenever nothing else is to be done. Nothing in it may wait for
anything but timers: the provider's side is played from the fixture, by its times.
"""

import asyncio
import selectors
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any, cast

from conformance.wire.recorded import Recorded
from conformance.wire.replay import pieces, reader_of
from stanchion.broker.plane.limits import Limits
from stanchion.broker.plane.relay import Relayed, relay
from stanchion.broker.plane.response_reader import ResponseReader
from stanchion.broker.plane.upstream import Ending, Upstream
from stanchion.protocol.dialects import Dialect

_ENDINGS = {"whole": Ending.COMPLETE, "fin": Ending.CUT, "rst": Ending.CUT}


class _Leaping(selectors.SelectSelector):
    """Instead of waiting, it moves the clock."""

    now = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        assert timeout is not None, "nothing will ever happen any more"
        self.now += timeout
        return super().select(0)


class VirtualLoop(asyncio.SelectorEventLoop):
    """An event loop whose time passes at once."""

    def __init__(self) -> None:
        self._leaping = _Leaping()
        super().__init__(self._leaping)

    def time(self) -> float:
        return self._leaping.now


class _Provider:
    """Sends the pieces at their times, then ends, or falls silent."""

    def __init__(self, recorded: Recorded, way: str) -> None:
        waits = [piece.after_ms / 1000 for piece in recorded.given] if way == "given" else []
        self._pieces = deque(zip_longest(waits, pieces(recorded, way), fillvalue=0.0))
        self._ends = recorded.ends
        self.quiet_since_s = 0.0
        """When the last piece came."""

    def take_body(self, on_body: Callable[[bytes], None], on_end: Callable[[Ending], None]) -> None:
        self._on_body, self._on_end = on_body, on_end
        self._wait_for_the_next()

    def _wait_for_the_next(self) -> None:
        if self._pieces:
            wait_s, _ = self._pieces[0]
            asyncio.get_running_loop().call_later(wait_s, self._send)
        elif self._ends in _ENDINGS:
            self._on_end(_ENDINGS[self._ends])

    def _send(self) -> None:
        _, piece = self._pieces.popleft()
        self.quiet_since_s = asyncio.get_running_loop().time()
        self._on_body(piece)
        self._wait_for_the_next()

    def pause(self) -> None:
        raise AssertionError("nobody is slow here")

    def resume(self) -> None:
        raise AssertionError("nobody was paused")

    def close(self) -> None:
        """The relay has enough."""


class _Harness:
    """Keeps what leaves for it."""

    gone = False

    def __init__(self) -> None:
        self.sent = b""

    def write(self, data: bytes) -> None:
        self.sent += data

    def watch(self, **_callbacks: Any) -> None:
        """It never leaves."""


@dataclass
class Played:
    """What became of a fixture."""

    relayed: Relayed
    tap: ResponseReader
    left_at_once: bytes
    """Before the record of its end."""
    lasted_s: float
    quiet_since_s: float


def play(recorded: Recorded, dialect: Dialect, way: str) -> Played:
    """Relay the fixture with the broker's own limits."""

    async def run() -> Played:
        provider, harness = _Provider(recorded, way), _Harness()
        tap = reader_of(recorded, dialect)
        flow = relay(
            cast("Upstream", provider), harness, tap, limits=Limits(), on_alive=lambda: None
        )
        relayed = await flow.run()
        lasted_s = asyncio.get_running_loop().time()
        return Played(relayed, tap, harness.sent, lasted_s, provider.quiet_since_s)

    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        return runner.run(run())
