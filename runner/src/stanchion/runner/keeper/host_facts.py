"""What the keeper saw, as host facts. Pure: sums up observations that others made.

Must never guess: a counter that could not be read is None with the reason.
"""

from dataclasses import dataclass, field

from stanchion.protocol.evidence import HostFacts

OOM_WINDOW_MS = 20_000
"""gVisor shows a memory kill to the parent about 10 s late; the host's counter rises at once."""
POLL_SLACK_MS = 1_500
"""The counter is read once a second."""
RUNTIME_FAILED = 128
"""Exit code of runsc where it could not start the sandbox."""
LAST_WORDS_BYTES = 2_000


@dataclass(slots=True)
class OomCounter:
    """The oom counter over time."""

    kills: int | None = None
    rises_ms: list[int] = field(default_factory=list)
    """Wall clock of each reading that was higher than the one before."""

    def read(self, kills: int | None, *, at_ms: int) -> None:
        """One reading."""
        if kills is None:
            return
        if kills > (self.kills or 0):
            self.rises_ms.append(at_ms)
        self.kills = kills

    def rose_before(self, end_ms: int | None) -> bool | None:
        """Whether it rose in the window before the end; None = not known."""
        if self.kills is None:
            return None
        if self.kills == 0:
            return False
        if end_ms is None:
            return None
        first, last = end_ms - OOM_WINDOW_MS, end_ms + POLL_SLACK_MS
        return any(first <= at_ms <= last for at_ms in self.rises_ms)


@dataclass(frozen=True, slots=True)
class Observed:
    """Everything that goes into the facts. None = not observed."""

    exit_code: int | None
    start_error: str | None
    killed_at_deadline: bool
    started_wall_ms: int
    first_event_ms: int | None
    """The broker's wall clock at the supervisor's first event."""
    agent_ended_ms: int | None
    total_ms: int
    oom: OomCounter
    oom_why: str | None
    peak_bytes: int | None
    last_words: bytes


def sum_up(seen: Observed) -> HostFacts:
    """The facts for the broker."""
    began = seen.first_event_ms is not None
    failed_to_start = seen.exit_code is None or (seen.exit_code == RUNTIME_FAILED and not began)
    start_error = seen.start_error
    if failed_to_start and start_error is None:
        words = seen.last_words[-LAST_WORDS_BYTES:].decode(errors="replace").strip()
        start_error = words or "it gave no reason"
    return HostFacts(
        sandbox_exit=seen.exit_code,
        sandbox_started=not failed_to_start,
        start_error=start_error,
        oom_kills=seen.oom.kills,
        oom_kills_why=seen.oom_why,
        oom_rose_before_end=seen.oom.rose_before(seen.agent_ended_ms),
        limits_enforced=seen.oom_why is None,
        memory_peak_bytes=seen.peak_bytes,
        killed_at_deadline=seen.killed_at_deadline,
        sandbox_start_ms=(
            max(0, seen.first_event_ms - seen.started_wall_ms)
            if seen.first_event_ms is not None
            else None
        ),
        total_ms=seen.total_ms,
    )
