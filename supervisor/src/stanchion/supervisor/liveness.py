"""Decides whether anything is alive, which is never progress: streams, tools, the harness's CPU.

Pure; times are those of the watchdog's own clocks, in milliseconds.
"""

from dataclasses import dataclass, field

from stanchion.supervisor.evidence import (
    Evidence,
    HarnessActive,
    RequestEnded,
    RequestHeld,
    RequestStarted,
    StreamAlive,
    ToolsActive,
)

TOOLS_BUSY_MS = 10_000
"""Tools count as running this long after their last sign: two samples of the vitals."""


@dataclass(slots=True)
class Liveness:
    """The fold of the signs of life."""

    stream_live_ms: int
    requests: int = 0
    in_flight: dict[int, int | None] = field(default_factory=dict)
    """Exchange to its last semantic event; None = none yet."""
    held: set[int] = field(default_factory=set)
    last_sign_ms: int | None = None
    """The last moment at which something was alive."""
    tools_sign_ms: int | None = None

    def observe(self, evidence: Evidence, *, active_ms: int, passed_ms: int) -> None:
        """`active_ms` stands still while waiting, `passed_ms` does not."""
        self._follow_streams(active_ms)
        match evidence:
            case RequestStarted(exchange=exchange):
                self.requests += 1
                self.in_flight.setdefault(exchange, None)
            case StreamAlive(exchange=exchange):
                self.in_flight[exchange] = self.last_sign_ms = active_ms
            case RequestHeld(exchange=exchange, holding=True):
                self.in_flight.setdefault(exchange, None)
                self.held.add(exchange)
            case RequestHeld(exchange=exchange):
                self.held.discard(exchange)
            case RequestEnded(exchange=exchange):
                self.in_flight.pop(exchange, None)
                self.held.discard(exchange)
            case ToolsActive():
                self.tools_sign_ms = passed_ms
                self.last_sign_ms = active_ms
            case HarnessActive():
                self.last_sign_ms = active_ms
            case _:
                pass

    def _follow_streams(self, active_ms: int) -> None:
        """Streams were alive up to now, or to where their life ran out between two observations."""
        for last in self.in_flight.values():
            if last is not None:
                alive_ms = min(active_ms, last + self.stream_live_ms)
                self.last_sign_ms = max(self.last_sign_ms or 0, alive_ms)

    def stream_alive(self, active_ms: int, *, since_ms: int = -1) -> bool:
        """Whether a stream in flight carried semantic events lately (and after `since_ms`)."""
        return any(
            last is not None and last > since_ms and active_ms - last < self.stream_live_ms
            for last in self.in_flight.values()
        )

    def tools_busy(self, passed_ms: int) -> bool:
        """Whether the tool tree did something a moment ago."""
        last = self.tools_sign_ms
        return last is not None and passed_ms - last <= TOOLS_BUSY_MS

    def waiting(self, passed_ms: int) -> bool:
        """Whether requests are held by the broker and nothing else runs."""
        running = self.in_flight.keys() - self.held
        return bool(self.held) and not running and not self.tools_busy(passed_ms)
