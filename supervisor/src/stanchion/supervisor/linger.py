"""Decides when a harness that has finished its session and does not exit is to be stopped.

Pure. A clock step credits at most five seconds, as in the watchdog.
"""

LINGER_MS = 20_000
MOST_CREDIT_MS = 5_000


class Linger:
    """How long the session has stood finished, with nothing in flight."""

    def __init__(self, *, started_ms: int, after_ms: int = LINGER_MS) -> None:
        self._after_ms = after_ms
        self._last_ms = started_ms
        self._finished_ms: int | None = None
        self._passed_ms = 0

    def observe(self, *, finished: bool, at_ms: int) -> bool:
        """Whether it lingered long enough to be stopped."""
        self._passed_ms += min(max(at_ms - self._last_ms, 0), MOST_CREDIT_MS)
        self._last_ms = at_ms
        if not finished:
            self._finished_ms = None
            return False
        if self._finished_ms is None:
            self._finished_ms = self._passed_ms
        return self._passed_ms - self._finished_ms >= self._after_ms
