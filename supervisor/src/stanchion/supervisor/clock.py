"""Where the supervisor's time comes from. Decisions never read it; they are told."""

import time
from typing import Protocol


class Clock(Protocol):
    """Two readings: one to measure with, one to show to people."""

    def mono_ms(self) -> int:
        """Milliseconds that never run backwards."""
        ...

    def wall_ms(self) -> int:
        """Milliseconds since 1970, as the sandbox believes them."""
        ...


class SystemClock:
    """The machine's own."""

    def mono_ms(self) -> int:
        return time.monotonic_ns() // 1_000_000

    def wall_ms(self) -> int:
        return time.time_ns() // 1_000_000
