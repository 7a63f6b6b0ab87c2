"""Folds the supervisor's events into what the broker acts on. Pure; all of it is only claimed."""

from dataclasses import dataclass, field

from stanchion.protocol.events import (
    Claimed,
    ConfigWritten,
    Event,
    HarnessEnded,
    HarnessStarted,
    IsolationChecked,
    Unknown,
    VerifierEnded,
)
from stanchion.protocol.evidence import Claim, VerifierRun


@dataclass(slots=True)
class SandboxStory:
    """What the sandbox has said so far."""

    last_seq: int = 0
    isolation: str | None = None
    checks: dict[str, bool] = field(default_factory=dict)
    written: ConfigWritten | None = None
    harness_started: bool = False
    harness_ended: bool = False
    claim: Claim | None = None
    _verifier: VerifierRun | None = None

    def tell(self, event: Event | Unknown) -> None:
        """Take one event, in order."""
        match event:
            case IsolationChecked():
                self.isolation, self.checks = event.mode, event.checks
            case ConfigWritten():
                self.written = event
            case HarnessStarted():
                self.harness_started = True
            case HarnessEnded():
                self.harness_ended = True
            case VerifierEnded():
                self._verifier = event.run
            case Claimed():
                self.claim = event.claim
                self.isolation = event.claim.isolation or self.isolation
            case _:
                pass

    @property
    def verifier(self) -> VerifierRun | None:
        """What the task's tests did: the claim's word, else the event's."""
        claimed = None if self.claim is None else self.claim.verifier
        return claimed or self._verifier
