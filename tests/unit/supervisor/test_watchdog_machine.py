"""Any mix of evidence and time: the watchdog stops when it must, never before, and by its table.

The oracle judges the whole history anew each time, from rule 4 as sentences; the machine below only
makes histories.
"""

import copy

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from fakes.watchdog_oracle import Oracle
from stanchion.protocol.evidence import StopReason
from stanchion.protocol.exchange import Answered, ErrorClass, ExchangeResult, Finish
from stanchion.protocol.launch import WatchdogLimits
from stanchion.supervisor.evidence import (
    Evidence,
    HarnessActive,
    RequestEnded,
    RequestHeld,
    RequestStarted,
    Step,
    StreamAlive,
    Tick,
    ToolFailed,
    ToolsActive,
)
from stanchion.supervisor.watchdog import RULES, Watchdog
from stanchion.supervisor.watchdog_states import TRANSITIONS, WAITS, State

TICK_MS = 5_000
NEVER = 10**6
CLOCKS = {"failing_s": 20, "silent_s": 30, "stream_live_s": 10}
NO_CLOCKS = {"failing_s": NEVER, "silent_s": NEVER, "stream_live_s": 10}
STORMS = {
    "max_failing_steps": 4, "max_context_overflows": 3, "max_identical_invalid_calls": 3,
    "max_cut_responses": 2,
}  # fmt: skip
NO_STORMS = dict.fromkeys(STORMS, NEVER)
LAUNCHES = (
    (WatchdogLimits(**CLOCKS, **NO_STORMS), NEVER),
    (WatchdogLimits(**NO_CLOCKS, **STORMS), NEVER),
    (WatchdogLimits(**NO_CLOCKS, **NO_STORMS), 60),
    (WatchdogLimits(**CLOCKS, **STORMS), 60),
)
"""Limits and deadline; apart too, so that one does not hide what another does."""
COMPLETED = ExchangeResult.COMPLETED
ANSWERS = {
    "text": Answered(result=COMPLETED, text_present=True, tool_calls=0, cut_tool_calls=0),
    "call": Answered(result=COMPLETED, text_present=False, tool_calls=1, cut_tool_calls=0),
    "nothing": Answered(result=COMPLETED, text_present=False, tool_calls=0, cut_tool_calls=0),
    "unread": Answered(result=COMPLETED),
    "cut": Answered(
        result=COMPLETED, finish=Finish.LENGTH, text_present=False, tool_calls=0, cut_tool_calls=1
    ),
    "refused": Answered(result=ExchangeResult.PROVIDER_ERROR, error_class=ErrorClass.OVERLOADED),
    "overflow": Answered(
        result=ExchangeResult.PROVIDER_ERROR, error_class=ErrorClass.CONTEXT_OVERFLOW
    ),
    "truncated": Answered(result=ExchangeResult.TRUNCATED, text_present=True),
}
STEPS = {"stop": True, "tool-calls": True, "unknown": False, "compaction": False}
SESSIONS = ("root", "sub-agent")


class Attempt(RuleBasedStateMachine):
    """One agent's life, as the sensors tell it."""

    def __init__(self) -> None:
        super().__init__()
        self.now_ms = 0
        self.exchange = 0
        self.item = 0
        self.open: list[int] = []
        self.held: list[int] = []

    @initialize(launch=st.sampled_from(LAUNCHES))
    def launch(self, launch: tuple[WatchdogLimits, int]) -> None:
        self.limits, agent_s = launch
        self.dog = Watchdog(self.limits, agent_s=agent_s, started_ms=0)
        self.oracle = Oracle(self.limits, agent_s)

    def observe(self, evidence: Evidence, *, after_ms: int = 0) -> None:
        """Both are told; they must agree at every single observation."""
        self.now_ms += after_ms
        before, waited_ms = self.dog.state, self.dog.held_ms
        decision = self.dog.observe(evidence, self.now_ms)
        if before is State.STOPPED:
            assert self.dog.state is State.STOPPED
            return
        observed = self.oracle.observe(evidence, self.now_ms)
        expected = before
        for step in observed:
            expected = TRANSITIONS[expected][step]
        assert self.dog.state is expected, f"{before} with {observed} is not {self.dog.state}"
        assert (decision is None) is (self.dog.state is not State.STOPPED)
        assert decision is None or decision.reason in self.oracle.reasons()
        assert (self.dog.held_ms > waited_ms) <= (before in WAITS)

    @rule(ms=st.integers(0, TICK_MS))
    def a_moment_passes(self, ms: int) -> None:
        self.observe(Tick(), after_ms=ms)

    @rule(ticks=st.integers(1, 8), sign=st.sampled_from(("none", "none", "stream", "tools")))
    def time_passes(self, ticks: int, sign: str) -> None:
        if sign == "stream":
            self.a_request_starts()
        for _ in range(ticks):
            self.observe(Tick(), after_ms=TICK_MS)
            if sign == "tools":
                self.observe(ToolsActive())
            elif sign == "stream":
                self.observe(StreamAlive(self.exchange))

    @rule(seconds=st.integers(-(10**6), 10**6))
    def the_clock_jumps(self, seconds: int) -> None:
        """It does no more than the shortest of ticks that brings its full credit."""
        beside = copy.deepcopy(self.dog)
        beside.observe(Tick(), self.now_ms + min(max(seconds * 1000, 0), TICK_MS))
        self.observe(Tick(), after_ms=seconds * 1000)
        assert (self.dog.state, self.dog.active_ms) == (beside.state, beside.active_ms)

    @rule()
    def a_request_starts(self) -> None:
        self.exchange += 1
        self.open.append(self.exchange)
        self.observe(RequestStarted(self.exchange))

    @precondition(lambda self: self.open)
    @rule(data=st.data())
    def a_stream_says_something(self, data: st.DataObject) -> None:
        self.observe(StreamAlive(data.draw(st.sampled_from(self.open))))

    @rule(every=st.booleans())
    def requests_are_held(self, every: bool) -> None:
        self.a_request_starts()
        for exchange in sorted(set(self.open) - set(self.held))[None if every else -1 :]:
            self.held.append(exchange)
            self.observe(RequestHeld(exchange, holding=True))

    @precondition(lambda self: self.held)
    @rule(data=st.data())
    def a_request_is_let_go(self, data: st.DataObject) -> None:
        exchange = data.draw(st.sampled_from(self.held))
        self.held.remove(exchange)
        self.observe(RequestHeld(exchange, holding=False))

    @precondition(lambda self: self.open)
    @rule(data=st.data(), answer=st.sampled_from(sorted(ANSWERS)), side=st.integers(0, 4))
    def a_request_ends(self, data: st.DataObject, answer: str, side: int) -> None:
        exchange = data.draw(st.sampled_from(self.open))
        self.open.remove(exchange)
        if exchange in self.held:
            self.held.remove(exchange)
        self.observe(RequestEnded(exchange, ANSWERS[answer], side=side == 1))

    @rule(answer=st.sampled_from(sorted(ANSWERS)), times=st.integers(1, 4))
    def requests_are_answered_at_once(self, answer: str, times: int) -> None:
        for _ in range(times):
            self.exchange += 1
            self.observe(RequestEnded(self.exchange, ANSWERS[answer]))

    @rule(
        failure=st.sampled_from(("refused", "truncated", "nothing")),
        answer=st.sampled_from((None, "text", "unread")),
        ticks=st.integers(4, 12),
        sign=st.sampled_from(("none", "stream", "tools")),
    )
    def a_failure_is_followed_by_life(
        self, failure: str, answer: str | None, ticks: int, sign: str
    ) -> None:
        self.requests_are_answered_at_once(failure, 1)
        self.observe(Tick(), after_ms=1)
        if answer is not None:
            self.requests_are_answered_at_once(answer, 1)
        self.time_passes(ticks, sign)

    @rule(reason=st.sampled_from(sorted(STEPS)), session=st.sampled_from(SESSIONS))
    def a_step_is_saved(self, reason: str, session: str) -> None:
        self.observe(Step(session=session, reason=reason, counts=STEPS[reason]))

    @rule(session=st.sampled_from(SESSIONS), answer=st.sampled_from(("text", "call")))
    def a_step_completes(self, session: str, answer: str) -> None:
        """Progress, whoever made it."""
        self.exchange += 1
        self.observe(RequestStarted(self.exchange))
        self.observe(RequestEnded(self.exchange, ANSWERS[answer]))
        self.observe(Step(session=session, reason="stop", counts=True))
        if self.dog.stop is None:
            assert self.dog.progress_age_ms == 0

    @rule(call=st.sampled_from("ab"), again=st.booleans())
    def a_tool_call_fails(self, call: str, again: bool) -> None:
        self.item += not again
        self.observe(ToolFailed(item=f"item {self.item}", call=call))

    @rule(sign=st.sampled_from((ToolsActive(), HarnessActive())))
    def something_runs(self, sign: Evidence) -> None:
        self.observe(sign)

    @invariant()
    def progress_inside_the_thresholds_never_stops(self) -> None:
        """Said once more, without the oracle's cases."""
        stop, age_s = self.dog.stop, self.oracle.progress_age_ms() / 1000
        if stop is not None and stop.reason is StopReason.STALLED_SILENT:
            assert age_s >= self.limits.silent_s
        if stop is not None and stop.reason is StopReason.STALLED_FAILING:
            storm = sum(
                self.oracle.is_failure(entry) or isinstance(entry.evidence, ToolFailed)
                for entry in self.oracle.since_progress()
            )
            assert (
                age_s >= self.limits.failing_s or storm >= self.limits.max_identical_invalid_calls
            )

    @invariant()
    def neither_progress_nor_life_stops_within_one_tick(self) -> None:
        if self.oracle.quiet_ms() >= self.limits.silent_s * 1000:
            assert self.dog.stop is not None or self.dog.waiting

    @invariant()
    def a_wait_stops_nothing(self) -> None:
        assert not (self.dog.waiting and self.dog.stop is not None)
        if self.dog.stop is None:
            assert self.dog.waiting is self.oracle.waiting()


Attempt.TestCase.settings = settings(max_examples=300, stateful_step_count=30, deadline=None)
TestAttempt = Attempt.TestCase


def test_the_limits_are_those_of_the_launch() -> None:
    limits, agent_s = LAUNCHES[-1]
    dog = Watchdog(limits, agent_s=agent_s, started_ms=0)
    mosts = {rule.limit: rule.most(dog) for rule in RULES}
    assert mosts.pop("agent_s") == agent_s
    assert mosts == {name: getattr(limits, name) for name in mosts}
    assert set(mosts) | {"stream_live_s"} == set(WatchdogLimits.__struct_fields__)


def test_a_hold_may_last_for_ever() -> None:
    limits, agent_s = LAUNCHES[-1]
    dog = Watchdog(limits, agent_s=agent_s, started_ms=0)
    dog.observe(RequestHeld(1, holding=True), 0)
    for tick in range(1, 2000):
        assert dog.observe(Tick(), tick * TICK_MS) is None
    assert (dog.active_ms, dog.state) == (0, State.WAITING)
