"""A test of the watchdog as a transcript: `>> (seconds, evidence)`, then what it decides."""

from typing import Self

from stanchion.protocol.evidence import Stop, StopReason
from stanchion.protocol.launch import WatchdogLimits
from stanchion.supervisor.evidence import Evidence, Tick
from stanchion.supervisor.watchdog import Watchdog

STEP_MS = 5_000


class Playbook:
    """Moves a watchdog through time, one tick each five seconds, as the supervisor does."""

    def __init__(self, *, agent_s: int = 1_000_000, **limits: int) -> None:
        self.now_ms = 0
        self.dog = Watchdog(WatchdogLimits(**limits), agent_s=agent_s, started_ms=0)
        self.decision: Stop | None = None
        self.decided_s: int | None = None

    def __rshift__(self, step: tuple[int, Evidence]) -> Self:
        """At this second, after ticks up to it, this evidence."""
        at_s, evidence = step
        while self.now_ms + STEP_MS < at_s * 1000:
            self.now_ms += STEP_MS
            self._observe(Tick())
        self.now_ms = at_s * 1000
        self._observe(evidence)
        return self

    def jump(self, seconds: int, evidence: Evidence | None = None) -> Self:
        """The clock jumps; nothing was observed between."""
        self.now_ms += seconds * 1000
        self._observe(evidence or Tick())
        return self

    def goes_on(self) -> Self:
        assert self.decision is None, f"stopped at {self.decided_s} s: {self.decision}"
        return self

    def stopped(self, reason: StopReason, *, at_s: int) -> Self:
        assert self.decision is not None, "it goes on"
        assert (self.decision.reason, self.decided_s) == (reason, at_s), self.decision
        return self

    def _observe(self, evidence: Evidence) -> None:
        decision = self.dog.observe(evidence, self.now_ms)
        if self.decision is None and decision is not None:
            self.decision, self.decided_s = decision, self.now_ms // 1000
