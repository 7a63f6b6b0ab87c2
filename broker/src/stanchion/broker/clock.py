"""The broker's clocks: monotonic milliseconds for decisions, wall milliseconds for records."""

import time


def mono_ms() -> int:
    """Never goes back; its zero means nothing."""
    return time.monotonic_ns() // 1_000_000


def wall_ms() -> int:
    """Milliseconds since 1970."""
    return time.time_ns() // 1_000_000
