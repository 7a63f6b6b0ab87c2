"""Decides whether the agent goes on or is stopped, from evidence and the time between it.

Pure. One step of its clock credits at most five seconds, so a pause or a jump of the machine never
fires; while waiting (requests held by the broker, nothing else running) it stands still. Liveness
keeps an agent running, only progress clears its failures. Where states lead is in
`watchdog_states`, what stops the agent is in RULES.
"""

from collections.abc import Callable
from dataclasses import dataclass

from stanchion.protocol.evidence import Stop, StopReason
from stanchion.protocol.exchange import Finish
from stanchion.protocol.launch import WatchdogLimits
from stanchion.supervisor.evidence import Evidence, RequestEnded
from stanchion.supervisor.failures import Failures
from stanchion.supervisor.liveness import Liveness
from stanchion.supervisor.progress import Progress
from stanchion.supervisor.watchdog_states import TRANSITIONS, WAITS, Observed, State

MOST_CREDIT_MS = 5_000


class Watchdog:
    """One agent's."""

    def __init__(self, limits: WatchdogLimits, *, agent_s: int, started_ms: int) -> None:
        self.limits = limits
        self.agent_s = agent_s
        self.state = State.RUNNING
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
    def waiting(self) -> bool:
        """Whether every clock stands still."""
        return self.state in WAITS

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

    @property
    def failing_ms(self) -> int | None:
        """Since the first failure after the last progress; None = nothing failed."""
        first = self.failures.first_ms
        return None if first is None else self.active_ms - first

    @property
    def recovering(self) -> bool:
        """Whether what came after the last failure may yet become a completed step."""
        last = self.failures.last_ms
        return last is not None and (
            self.liveness.stream_alive(self.active_ms, since_ms=last)
            or (self.content_ms is not None and self.content_ms > last)
            or (self.progress.responses > 0 and self.liveness.tools_busy(self.passed_ms))
        )

    def observe(self, evidence: Evidence, at_ms: int) -> Stop | None:
        """The decision after this evidence: None = go on. Once stopped it stays stopped."""
        self._credit(at_ms)
        if self.stop is not None:
            return self.stop
        if self.progress.observe(evidence):
            self.progress_ms = self.active_ms
            self.failures = Failures()
            self._move(Observed.PROGRESS)
        elif self.failures.observe(evidence, self.active_ms):
            self._move(Observed.FAILURE)
        self._count_answer(evidence)
        self.liveness.observe(evidence, active_ms=self.active_ms, passed_ms=self.passed_ms)
        if self.liveness.waiting(self.passed_ms) is not self.waiting:
            self._move(Observed.LET_GO if self.waiting else Observed.HELD)
        stop = next((stop for rule in RULES if (stop := rule.check(self)) is not None), None)
        if stop is not None and self._move(Observed.LIMIT) is State.STOPPED:
            self.stop = stop
        return self.stop

    def _move(self, observed: Observed) -> State:
        self.state = TRANSITIONS[self.state][observed]
        return self.state

    def _count_answer(self, evidence: Evidence) -> None:
        if not isinstance(evidence, RequestEnded) or evidence.side:
            return
        answered = evidence.answered
        if answered.has_content:
            self.content_ms = self.active_ms
        cut = answered.finish is Finish.LENGTH and bool(answered.cut_tool_calls)
        self.cut_responses = self.cut_responses + 1 if cut else 0

    def _credit(self, at_ms: int) -> None:
        credit = min(max(at_ms - self._last_ms, 0), MOST_CREDIT_MS)
        self._last_ms = at_ms
        if self.waiting:
            self.held_ms += credit
        else:
            self.active_ms += credit


@dataclass(frozen=True, slots=True)
class Rule:
    """One limit: what is measured, and against what."""

    reason: StopReason
    says: str
    """With `{n}`, what was measured, and `{most}`, the limit."""
    limit: str
    """Field of the launch's watchdog limits, in seconds or times; `agent_s` is the deadline."""
    measure: Callable[[Watchdog], int | None]
    """In milliseconds where the limit is in seconds; None = there is nothing to measure."""
    unless: Callable[[Watchdog], bool] = lambda _: False
    unless_says: str = ""

    def most(self, dog: Watchdog) -> int:
        """The limit of this launch."""
        return dog.agent_s if self.limit == "agent_s" else int(getattr(dog.limits, self.limit))

    def check(self, dog: Watchdog) -> Stop | None:
        """The stop that this rule asks for; None = none."""
        measured, most = self.measure(dog), self.most(dog)
        if measured is None:
            return None
        if self.limit.endswith("_s"):
            measured //= 1000
        if measured < most or self.unless(dog):
            return None
        return Stop(reason=self.reason, detail=self.says.format(n=measured, most=most))


RULES = (
    Rule(
        StopReason.LENGTH_STOP,
        "{n} responses in a row were cut inside a tool call at their output limit",
        "max_cut_responses",
        lambda dog: dog.cut_responses,
    ),
    Rule(
        StopReason.STALLED_FAILING,
        "{n} failing steps with no progress between",
        "max_failing_steps",
        lambda dog: dog.failures.in_a_row,
    ),
    Rule(
        StopReason.STALLED_FAILING,
        "{n} context overflows with no progress between",
        "max_context_overflows",
        lambda dog: dog.failures.overflows,
    ),
    Rule(
        StopReason.STALLED_FAILING,
        "{n} identical invalid tool calls with no progress between",
        "max_identical_invalid_calls",
        lambda dog: dog.failures.invalid_calls,
    ),
    Rule(
        StopReason.STALLED_FAILING,
        "failing for {n} s without a completed step",
        "failing_s",
        lambda dog: dog.failing_ms,
        unless=lambda dog: dog.recovering,
        unless_says="what came after the last failure may yet become a completed step: a response"
        " with content, a stream that lives, tools at work on a response",
    ),
    Rule(
        StopReason.STALLED_SILENT,
        "neither progress nor a sign of life for {n} s",
        "silent_s",
        lambda dog: dog.quiet_ms,
    ),
    Rule(
        StopReason.DEADLINE,
        "the agent's {most} s are over",
        "agent_s",
        lambda dog: dog.active_ms,
    ),
)
"""In this order; the first that holds stops the agent."""
