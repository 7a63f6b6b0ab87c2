"""Gauges of a running attempt. Every gauge is nullable; None = not observed, with `why`.

Inside gVisor per-process CPU time and RSS are true; system CPU, IO counters and load are not
(google/gvisor lacks them), so they are not asked for. Host gauges come from the host.
"""

import msgspec


class Vitals(msgspec.Struct, frozen=True, kw_only=True):
    """One sample."""

    processes: int | None = None
    """Processes of the agent's namespace, without the shim."""
    cpu_ms: int | None = None
    """CPU time of the agent's process tree so far."""
    rss_bytes: int | None = None
    """Resident size of the tree; counts shared pages more than once: a trend, not a bill."""
    supervisor_rss_bytes: int | None = None
    progress_age_ms: int | None = None
    """Since the last progress; None before the first."""
    liveness_age_ms: int | None = None
    steps: int | None = None
    """Steps the harness saved that count as progress."""
    requests: int | None = None
    held_ms: int | None = None
    """Time the broker held requests so far."""
    waiting: bool | None = None
    why: dict[str, str] = {}
    """For each gauge that is None: the reason."""
