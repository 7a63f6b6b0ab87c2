import time

from stanchion.supervisor.clock import SystemClock


def test_it_counts_in_milliseconds() -> None:
    clock = SystemClock()
    before = time.monotonic_ns() // 1_000_000
    assert before <= clock.mono_ms() <= time.monotonic_ns() // 1_000_000
    assert abs(clock.wall_ms() - time.time_ns() // 1_000_000) < 60_000
