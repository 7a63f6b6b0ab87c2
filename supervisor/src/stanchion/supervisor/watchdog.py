"""Decides whether the agent goes on or is stopped, from evidence and the time between it.

Pure. One step of its clock credits at most five seconds, so a pause or a jump of the machine never
fires; while waiting (requests held by the broker, nothing else running) it stands still. Liveness
keeps an agent running, only progress clears its failures.
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from stanchion.protocol.evidence import Stop, StopReason
from stanchion.protocol.exchange import Answered, ErrorClass, ExchangeResult, Finish
from stanchion.protocol.launch import WatchdogLimits
from stanchion.supervisor.evidence import Evidence, RequestEnded, Step, ToolFailed
from stanchion.supervisor.liveness import Liveness
from stanchion.supervisor.progress import Progress

MOST_CREDIT_MS = 5_000

FAILING_WORDS = frozenset({"unknown", "error"})
"""Words of harnesses for a step that came to nothing."""


class State(StrEnum):
    """What the agent is doing."""

    RUNNING = "running"
    FAILING = "failing"
    """Something failed since the last progress."""
    WAITING = "waiting"
    STOPPED = "stopped"


@dataclass(slots=True)
class Failures:
    """What failed since the last progress."""

    first_ms: int | None = None
    last_ms: int | None = None
    requests: int = 0
    steps: int = 0
    overflows: int = 0
    invalid_call: str | None = None
    invalid_item: str | None = None
    invalid_calls: int = 0

    def observe(self, evidence: Evidence, at_ms: int) -> None:
        match evidence:
            case RequestEnded(side=False, answered=answered) if (
                answered.result is not ExchangeResult.COMPLETED
            ):
                self.requests += 1
                self.overflows += answered.error_class is ErrorClass.CONTEXT_OVERFLOW
                self._failed(at_ms)
            case Step(counts=False, reason=reason) if reason in FAILING_WORDS:
                self.steps += 1
                self._failed(at_ms)
            case ToolFailed(item=item, call=call) if item != self.invalid_item:
                self.invalid_calls = self.invalid_calls + 1 if call == self.invalid_call else 1
                self.invalid_call, self.invalid_item = call, item
            case _:
                pass

    def _failed(self, at_ms: int) -> None:
        self.first_ms = at_ms if self.first_ms is None else self.first_ms
        self.last_ms = at_ms


class Watchdog:
    """One agent's."""

    def __init__(self, limits: WatchdogLimits, *, agent_s: int, started_ms: int) -> None:
        self.limits = limits
        self.agent_ms = agent_s * 1000
        self.progress = Progress()
        self.liveness = Liveness(stream_live_ms=limits.stream_live_s * 1000)
        self.failures = Failures()
        self.cut_responses = 0
        """In a row, by the output limit, inside a tool call. Progress does not clear it: a harness
        saves such a step as it saves any other."""
        self.active_ms = 0
        """Credited time of the agent, without held time."""
        self.held_ms = 0
        self.progress_ms: int | None = None
        self.content_ms: int | None = None
        self.stop: Stop | None = None
        self._last_ms = started_ms

    @property
    def passed_ms(self) -> int:
        """Credited time, held time included."""
        return self.active_ms + self.held_ms

    @property
    def state(self) -> State:
        if self.stop is not None:
            return State.STOPPED
        if self.liveness.waiting(self.passed_ms):
            return State.WAITING
        return State.RUNNING if self.failures.first_ms is None else State.FAILING

    @property
    def progress_age_ms(self) -> int | None:
        """Since the last progress; None = there was none."""
        return None if self.progress_ms is None else self.active_ms - self.progress_ms

    @property
    def liveness_age_ms(self) -> int | None:
        """Since something was alive; None = nothing ever was."""
        last = self.liveness.last_sign_ms
        return None if last is None else self.active_ms - last

    @property
    def quiet_ms(self) -> int:
        """Since there was progress or liveness, or since the start."""
        return self.active_ms - max(self.progress_ms or 0, self.liveness.last_sign_ms or 0)

    def observe(self, evidence: Evidence, at_ms: int) -> Stop | None:
        """The decision after this evidence: None = go on. Once stopped it stays stopped."""
        self._credit(at_ms)
        if self.stop is not None:
            return self.stop
        if self.progress.observe(evidence):
            self.progress_ms = self.active_ms
            self.failures = Failures()
        else:
            self.failures.observe(evidence, self.active_ms)
        if isinstance(evidence, RequestEnded) and not evidence.side:
            self._answered(evidence.answered)
        self.liveness.observe(evidence, active_ms=self.active_ms, passed_ms=self.passed_ms)
        if not self.liveness.waiting(self.passed_ms):
            self.stop = next(
                (
                    Stop(reason=reason, detail=detail)
                    for reason, rule in RULES
                    if (detail := rule(self)) is not None
                ),
                None,
            )
        return self.stop

    def _answered(self, answered: Answered) -> None:
        if answered.has_content:
            self.content_ms = self.active_ms
        cut = answered.finish is Finish.LENGTH and bool(answered.cut_tool_calls)
        self.cut_responses = self.cut_responses + 1 if cut else 0

    def _credit(self, at_ms: int) -> None:
        credit = min(max(at_ms - self._last_ms, 0), MOST_CREDIT_MS)
        self._last_ms = at_ms
        if self.liveness.waiting(self.passed_ms):
            self.held_ms += credit
        else:
            self.active_ms += credit


def _deadline(dog: Watchdog) -> str | None:
    if dog.active_ms < dog.agent_ms:
        return None
    return f"the agent's {dog.agent_ms // 1000} s are over"


def _cut_storm(dog: Watchdog) -> str | None:
    count = dog.cut_responses
    if count < dog.limits.max_cut_responses:
        return None
    return f"{count} responses in a row were cut inside a tool call at their output limit"


def _failing_storm(dog: Watchdog) -> str | None:
    count = max(dog.failures.requests, dog.failures.steps)
    if count < dog.limits.max_failing_steps:
        return None
    return f"{count} failing steps with no progress between"


def _overflow_storm(dog: Watchdog) -> str | None:
    count = dog.failures.overflows
    if count < dog.limits.max_context_overflows:
        return None
    return f"{count} context overflows with no progress between"


def _invalid_storm(dog: Watchdog) -> str | None:
    count = dog.failures.invalid_calls
    if count < dog.limits.max_identical_invalid_calls:
        return None
    return f"{count} identical invalid tool calls with no progress between"


def _failing_long(dog: Watchdog) -> str | None:
    """Not while what came after the last failure may yet become a completed step."""
    first, last = dog.failures.first_ms, dog.failures.last_ms
    if first is None or last is None or dog.active_ms - first < dog.limits.failing_s * 1000:
        return None
    recovering = (
        dog.liveness.stream_alive(dog.active_ms, since_ms=last)
        or (dog.content_ms is not None and dog.content_ms > last)
        or (dog.progress.responses > 0 and dog.liveness.tools_busy(dog.passed_ms))
    )
    if recovering:
        return None
    return f"failing for {(dog.active_ms - first) // 1000} s without a completed step"


def _silent_long(dog: Watchdog) -> str | None:
    if dog.quiet_ms < dog.limits.silent_s * 1000:
        return None
    return f"neither progress nor a sign of life for {dog.quiet_ms // 1000} s"


RULES: tuple[tuple[StopReason, Callable[[Watchdog], str | None]], ...] = (
    (StopReason.LENGTH_STOP, _cut_storm),
    (StopReason.STALLED_FAILING, _failing_storm),
    (StopReason.STALLED_FAILING, _overflow_storm),
    (StopReason.STALLED_FAILING, _invalid_storm),
    (StopReason.STALLED_FAILING, _failing_long),
    (StopReason.STALLED_SILENT, _silent_long),
    (StopReason.DEADLINE, _deadline),
)
"""In this order; the first that holds stops the agent."""
