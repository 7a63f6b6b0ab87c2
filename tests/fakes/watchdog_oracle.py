"""What the watchdog ought to decide, judged anew over the whole history after each observation.

Slow and plain on purpose: rule 4 as sentences about a list, with no state carried from one
observation to the next but the list itself and the two clocks.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

from stanchion.protocol.evidence import StopReason
from stanchion.protocol.exchange import ErrorClass, ExchangeResult, Finish
from stanchion.protocol.launch import WatchdogLimits
from stanchion.supervisor.evidence import (
    Evidence,
    HarnessActive,
    RequestEnded,
    RequestHeld,
    RequestStarted,
    Step,
    StreamAlive,
    ToolFailed,
    ToolsActive,
)
from stanchion.supervisor.watchdog_states import Observed

BUSY_MS = 10_000
UNMATCHED = 16


@dataclass(frozen=True)
class Entry:
    evidence: Evidence
    active_ms: int
    passed_ms: int


@dataclass
class Oracle:
    limits: WatchdogLimits
    agent_s: int
    last_ms: int = 0
    active_ms: int = 0
    passed_ms: int = 0
    history: list[Entry] = field(default_factory=list)

    def observe(self, evidence: Evidence, at_ms: int) -> list[Observed]:
        """What this evidence amounts to, in order."""
        waited = self.waiting()
        credit = min(max(at_ms - self.last_ms, 0), 5_000)
        self.last_ms = at_ms
        self.passed_ms += credit
        self.active_ms += 0 if waited else credit
        self.history.append(Entry(evidence, self.active_ms, self.passed_ms))
        observed = []
        if self.progress_at() == len(self.history) - 1:
            observed.append(Observed.PROGRESS)
        elif self.is_failure(self.history[-1]):
            observed.append(Observed.FAILURE)
        if self.waiting() != waited:
            observed.append(Observed.LET_GO if waited else Observed.HELD)
        if self.reasons():
            observed.append(Observed.LIMIT)
        return observed

    def reasons(self) -> set[StopReason]:
        """Every reason to stop now, if it were not waiting."""
        limits, since = self.limits, self.since_progress()
        reasons = set()
        if self.cut_in_a_row() >= limits.max_cut_responses:
            reasons.add(StopReason.LENGTH_STOP)
        if (
            self.failing_long(since)
            or sum(isinstance(e.evidence, Step) and self.is_failure(e) for e in since)
            >= limits.max_failing_steps
            or sum(isinstance(e.evidence, RequestEnded) and self.is_failure(e) for e in since)
            >= limits.max_failing_steps
            or sum(map(_overflow, since)) >= limits.max_context_overflows
            or _identical(since) >= limits.max_identical_invalid_calls
        ):
            reasons.add(StopReason.STALLED_FAILING)
        if self.quiet_ms() >= limits.silent_s * 1000:
            reasons.add(StopReason.STALLED_SILENT)
        if self.active_ms >= self.agent_s * 1000:
            reasons.add(StopReason.DEADLINE)
        return reasons

    def progress_at(self) -> int | None:
        """Index of the last progress: where a response with content and a saved step met."""
        found = None
        responses = steps = 0
        saved = False
        for index, entry in enumerate(self.history):
            evidence = entry.evidence
            if _content(entry):
                responses = min(responses + 1, UNMATCHED)
                found = found if saved else index
            elif isinstance(evidence, Step):
                saved = True
                steps = min(steps + evidence.counts, UNMATCHED)
            if responses and steps:
                responses, steps, found = responses - 1, steps - 1, index
        return found

    def since_progress(self) -> list[Entry]:
        last = self.progress_at()
        return self.history if last is None else self.history[last + 1 :]

    def progress_age_ms(self) -> int:
        last = self.progress_at()
        return self.active_ms - (0 if last is None else self.history[last].active_ms)

    def quiet_ms(self) -> int:
        """Since the last moment with progress or a sign of life."""
        return min(self.progress_age_ms(), self.active_ms - max(self._signs_ms(), default=0))

    def _signs_ms(self) -> Iterator[int]:
        for index, entry in enumerate(self.history):
            if isinstance(entry.evidence, ToolsActive | HarnessActive):
                yield entry.active_ms
            if isinstance(entry.evidence, StreamAlive):
                yield min(
                    self._end_of(entry.evidence.exchange, index),
                    entry.active_ms + self.limits.stream_live_s * 1000,
                )

    def _end_of(self, exchange: int, after: int) -> int:
        ends = (
            entry.active_ms
            for entry in self.history[after:]
            if isinstance(entry.evidence, RequestEnded) and entry.evidence.exchange == exchange
        )
        return next(ends, self.active_ms)

    def waiting(self) -> bool:
        """Something is held, nothing else is open, and no tool moved a moment ago."""
        held: set[int] = set()
        running: set[int] = set()
        busy_ms = -BUSY_MS - 1
        for entry in self.history:
            match entry.evidence:
                case RequestStarted(exchange=exchange) | StreamAlive(exchange=exchange):
                    if exchange not in held:
                        running.add(exchange)
                case RequestHeld(exchange=exchange, holding=holding):
                    (held.add if holding else held.discard)(exchange)
                    (running.discard if holding else running.add)(exchange)
                case RequestEnded(exchange=exchange):
                    held.discard(exchange)
                    running.discard(exchange)
                case ToolsActive():
                    busy_ms = entry.passed_ms
        return bool(held) and not running and self.passed_ms - busy_ms > BUSY_MS

    def is_failure(self, entry: Entry) -> bool:
        match entry.evidence:
            case Step(counts=counts, reason=reason):
                return not counts and reason in {"unknown", "error"}
            case RequestEnded(side=False, answered=answered):
                nothing = (answered.text_present, answered.tool_calls, answered.cut_tool_calls)
                return answered.result is not ExchangeResult.COMPLETED or nothing == (False, 0, 0)
        return False

    def failing_long(self, since: list[Entry]) -> bool:
        failures = [index for index, entry in enumerate(since) if self.is_failure(entry)]
        if not failures:
            return False
        if self.active_ms - since[failures[0]].active_ms < self.limits.failing_s * 1000:
            return False
        last_ms = since[failures[-1]].active_ms
        later = [entry for entry in self.history if entry.active_ms > last_ms]
        if any(_content(entry) for entry in later):
            return False
        live_ms = self.limits.stream_live_s * 1000
        open_streams = (
            entry
            for index, entry in enumerate(self.history)
            if isinstance(entry.evidence, StreamAlive)
            and not self._ended(entry.evidence.exchange, index)
        )
        if any(
            e.active_ms > last_ms and self.active_ms - e.active_ms < live_ms for e in open_streams
        ):
            return False
        return not (self._unsaved() and self._tools_busy())

    def _ended(self, exchange: int, after: int) -> bool:
        return any(
            isinstance(entry.evidence, RequestEnded) and entry.evidence.exchange == exchange
            for entry in self.history[after:]
        )

    def _unsaved(self) -> bool:
        """Whether a response with content is still without its step."""
        responses = steps = 0
        for entry in self.history:
            responses = min(responses + _content(entry), UNMATCHED)
            if isinstance(entry.evidence, Step):
                steps = min(steps + entry.evidence.counts, UNMATCHED)
            met = min(responses, steps)
            responses, steps = responses - met, steps - met
        return responses > 0

    def _tools_busy(self) -> bool:
        return any(
            isinstance(entry.evidence, ToolsActive) and self.passed_ms - entry.passed_ms <= BUSY_MS
            for entry in self.history
        )

    def cut_in_a_row(self) -> int:
        count = 0
        for entry in self.history:
            match entry.evidence:
                case RequestEnded(side=False, answered=answered):
                    cut = answered.finish is Finish.LENGTH and (answered.cut_tool_calls or 0) > 0
                    count = count + 1 if cut else 0
        return count


def _content(entry: Entry) -> bool:
    evidence = entry.evidence
    return (
        isinstance(evidence, RequestEnded)
        and not evidence.side
        and evidence.answered.result is ExchangeResult.COMPLETED
        and (evidence.answered.text_present is True or (evidence.answered.tool_calls or 0) > 0)
    )


def _overflow(entry: Entry) -> bool:
    evidence = entry.evidence
    return (
        isinstance(evidence, RequestEnded)
        and not evidence.side
        and evidence.answered.error_class is ErrorClass.CONTEXT_OVERFLOW
    )


def _identical(since: list[Entry]) -> int:
    """Failed tool calls at the end that say the same, each item once."""
    calls: list[tuple[str, str]] = []
    for entry in since:
        if isinstance(entry.evidence, ToolFailed):
            call = (entry.evidence.call, entry.evidence.item)
            if not calls or calls[-1][1] != call[1]:
                calls.append(call)
    same = 0
    for call in reversed(calls):
        if call[0] != calls[-1][0]:
            break
        same += 1
    return same
