"""One attempt as its events tell it, for whoever looks on. Pure.

Folds what came so far into what a person asks: where it is, when it last moved on, what it uses,
what it says. Decides nothing about the attempt; time is passed in.
"""

from collections import deque
from dataclasses import dataclass, field

from stanchion.protocol.events import (
    Event,
    ExchangeEnded,
    ExchangeHeld,
    ExchangeStarted,
    MismatchFound,
    RunClosed,
    SecurityNoted,
    Stage,
    StageChanged,
    StageState,
    StepSaved,
    Stopping,
    TaskListChanged,
    TranscriptChanged,
    Unknown,
    VitalsSampled,
    Warned,
)
from stanchion.protocol.transcript import TaskListItem
from stanchion.protocol.vitals import Vitals
from stanchion.runner.live.transcript_lines import Entry, TranscriptReader

TAIL = 12
NOTES = 6


@dataclass(frozen=True, slots=True)
class StageSeen:
    """One stage: where it is and since when."""

    state: StageState
    since_ms: int
    duration_ms: int | None = None


@dataclass(slots=True)
class Board:
    """Everything on show. None = not told."""

    stages: dict[Stage, StageSeen] = field(default_factory=dict)
    vitals: Vitals | None = None
    vitals_at_ms: int | None = None
    progress_at_ms: int | None = None
    """When the harness last saved a step that counts."""
    steps: int = 0
    """Saved, and counting as progress."""
    requests: int = 0
    responses: int = 0
    """Completed, with content; those of side requests are left out."""
    in_flight: set[int] = field(default_factory=set)
    held: set[int] = field(default_factory=set)
    """Requests that the broker's pacer holds now."""
    tasks: tuple[TaskListItem, ...] = ()
    tail: deque[Entry] = field(default_factory=lambda: deque(maxlen=TAIL))
    notes: deque[str] = field(default_factory=lambda: deque(maxlen=NOTES))
    """What went wrong or is worth a warning."""
    first_at_ms: int | None = None
    closed: RunClosed | None = None
    _reader: TranscriptReader = field(default_factory=TranscriptReader)

    @property
    def stage(self) -> Stage | None:
        """The one that runs, else the last that ended."""
        running = [name for name, seen in self.stages.items() if seen.state is StageState.STARTED]
        return running[-1] if running else next(reversed(self.stages), None)

    def take(self, event: Event | Unknown, at_ms: int) -> None:
        """One event, with the broker's clock."""
        if self.first_at_ms is None:
            self.first_at_ms = at_ms
        match event:
            case StageChanged():
                self._stage(event, at_ms)
            case VitalsSampled(vitals=vitals):
                self.vitals, self.vitals_at_ms = vitals, at_ms
            case StepSaved(counts=True):
                self.steps += 1
                self.progress_at_ms = at_ms
            case TranscriptChanged(item=item):
                self.tail.extend(self._reader.read(item))
            case TaskListChanged(items=items):
                self.tasks = items
            case RunClosed():
                self.closed = event
            case _:
                self._wire(event)

    def _stage(self, event: StageChanged, at_ms: int) -> None:
        known = self.stages.pop(event.stage, None)  # the newest comes last
        starting = self.stages.get(Stage.SANDBOX)
        if event.stage is Stage.LOAD and starting and starting.state is StageState.STARTED:
            # Its own end is not told of: what runs inside is up.
            took = max(0, at_ms - starting.since_ms)
            self.stages[Stage.SANDBOX] = StageSeen(StageState.COMPLETE, starting.since_ms, took)
        since_ms = at_ms if known is None else known.since_ms
        self.stages[event.stage] = StageSeen(event.state, since_ms, event.duration_ms)
        if event.state is StageState.FAILED:
            self.notes.append(f"stage {event.stage} failed: {event.detail or 'no reason given'}")

    def _wire(self, event: Event | Unknown) -> None:
        match event:
            case ExchangeStarted(exchange=exchange):
                self.requests += 1
                self.in_flight.add(exchange)
            case ExchangeHeld(exchange=exchange, holding=holding):
                (self.held.add if holding else self.held.discard)(exchange)
            case ExchangeEnded(exchange=exchange, answered=answered, side=side):
                self.in_flight.discard(exchange)
                self.held.discard(exchange)
                self.responses += side is None and answered.has_content
                if not answered.has_content:
                    why = answered.error_words or answered.result
                    self.notes.append(f"request {exchange}: {why}")
            case MismatchFound(mismatch=found):
                self.notes.append(
                    f"MISMATCH in request {found.exchange}: {found.field} declared "
                    f"{found.declared}, on the wire {found.observed}"
                )
            case Stopping(stop=stop):
                self.notes.append(f"stopping: {stop.detail}")
            case Warned(what=what, detail=detail) | SecurityNoted(what=what, detail=detail):
                self.notes.append(f"{what}: {detail}")
            case _:
                pass

    def progress_age_ms(self, now_ms: int) -> int | None:
        """Since the last saved step that counts; before one, since the sandbox's own reckoning."""
        if self.progress_at_ms is not None:
            return max(0, now_ms - self.progress_at_ms)
        return self._aged(self.vitals.progress_age_ms if self.vitals else None, now_ms)

    def liveness_age_ms(self, now_ms: int) -> int | None:
        """Since the last sign of life that the supervisor saw."""
        return self._aged(self.vitals.liveness_age_ms if self.vitals else None, now_ms)

    def _aged(self, age_ms: int | None, now_ms: int) -> int | None:
        if age_ms is None or self.vitals_at_ms is None:
            return None
        return age_ms + max(0, now_ms - self.vitals_at_ms)
