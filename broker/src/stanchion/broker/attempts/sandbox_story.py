"""Folds the supervisor's events into what the broker acts on. Pure; all of it is only claimed."""

from dataclasses import dataclass, field

from stanchion.protocol.events import (
    Claimed,
    ConfigWritten,
    Event,
    HarnessEnded,
    HarnessStarted,
    IsolationChecked,
    Stage,
    StageChanged,
    StageState,
    TranscriptChanged,
    Unknown,
    VerifierEnded,
    VitalsSampled,
)
from stanchion.protocol.evidence import Claim, VerifierRun
from stanchion.protocol.transcript import TranscriptItem
from stanchion.protocol.vitals import Vitals

MOST_CALLS = 50_000
"""Tool calls of one conversation that are remembered."""


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
    stage: Stage | None = None
    """The last one told of; those of the host are told here too."""
    stage_state: StageState | None = None
    vitals: Vitals | None = None
    vitals_at_ms: int | None = None
    _verifier: VerifierRun | None = None
    _calls: dict[str, str | None] = field(default_factory=dict)
    """The id of each tool call of the conversation, by item."""
    _more_calls: bool = False
    said_anything: bool = False
    """Whether any item of a conversation was saved; some harnesses save none."""

    def tell(self, event: Event | Unknown, *, at_ms: int | None = None) -> None:
        """Take one event, in order; `at_ms` is the broker's clock when it came."""
        match event:
            case StageChanged():
                self.stage, self.stage_state = event.stage, event.state
            case VitalsSampled():
                self.vitals, self.vitals_at_ms = event.vitals, at_ms
            case TranscriptChanged():
                self._said(event.item)
            case IsolationChecked():
                self.isolation, self.checks = event.mode, event.checks
            case ConfigWritten():
                self.written = event
            case _:
                self._harness(event)

    def _harness(self, event: Event | Unknown) -> None:
        match event:
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

    def _said(self, item: TranscriptItem) -> None:
        self.said_anything = True
        if item.tool is None:
            return
        if item.id in self._calls or len(self._calls) < MOST_CALLS:
            self._calls[item.id] = item.tool.call_id
        else:
            self._more_calls = True

    @property
    def saved_calls(self) -> tuple[str | None, ...] | None:
        """The id of each tool call of the conversation; None = there were too many to remember."""
        return None if self._more_calls else tuple(self._calls.values())

    @property
    def verifier(self) -> VerifierRun | None:
        """What the task's tests did: the claim's word, else the event's."""
        claimed = None if self.claim is None else self.claim.verifier
        return claimed or self._verifier
