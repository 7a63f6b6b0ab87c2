"""From evidence to the one reason an attempt ended: a literal table, first match wins.

Pure. An exit code alone never decides; the sandbox's word is checked against wire and host.
"""

from collections.abc import Callable

import msgspec

from stanchion.protocol.evidence import (
    AnswerState,
    Claim,
    Evidence,
    SessionState,
    StopReason,
    WireFacts,
)
from stanchion.protocol.exchange import Finish
from stanchion.protocol.outcome.words import MEANING, Blame, EndReason, Flag, Retry

PROGRESS_WINDOW_MS = 15 * 60 * 1000
"""A deadline counts as reached while progressing if progress is at most this old."""

RUNTIME_FAILURES = frozenset({2, 128, 137})
"""Exit codes of runsc that speak of the sandbox: sentry crash (google/gvisor pids cgroup), its own
start failure, killed from outside. Others without a last record are the supervisor's death."""


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """How an attempt ended."""

    reason: EndReason
    detail: str
    """One sentence from the evidence."""
    blame: Blame | None
    retry: Retry
    flags: tuple[Flag, ...] = ()


def _stopped(evidence: Evidence) -> StopReason | None:
    claim = evidence.claim
    return claim.stop.reason if claim and claim.stop else None


def _cancelled(evidence: Evidence) -> str | None:
    if evidence.cancelled or _stopped(evidence) is StopReason.CANCELLED:
        return "the orchestrator cancelled the attempt"
    return None


def _refused(evidence: Evidence) -> str | None:
    claim = evidence.claim
    return claim.refusal.sentence() if claim and claim.refusal else None


def _mismatch(evidence: Evidence) -> str | None:
    found = evidence.wire.mismatch
    if found is None or not evidence.wire.enforced:
        return None
    return (
        f"request {found.exchange}: {found.field} declared {found.declared}, "
        f"on the wire {found.observed}"
    )


def _sandbox_lost(evidence: Evidence) -> str | None:
    host = evidence.host
    if evidence.claim is not None or evidence.broker_lost:
        return None
    if host.lost_why is not None:
        return host.lost_why
    if not host.sandbox_started:
        return f"the sandbox did not start: {host.start_error or 'no reason given'}"
    if host.killed_at_deadline:
        return None
    if host.sandbox_exit is None or host.sandbox_exit in RUNTIME_FAILURES:
        oom = f", {host.oom_kills} kills by the memory limit" if host.oom_kills else ""
        return f"no last record; the sandbox ended with {host.sandbox_exit}{oom}"
    return None


def _supervisor_lost(evidence: Evidence) -> str | None:
    if evidence.claim is not None or evidence.broker_lost:
        return None
    host = evidence.host
    how = (
        "had to be killed at the host's deadline"
        if host.killed_at_deadline
        else (f"ended with {host.sandbox_exit}")
    )
    return f"no last record from the supervisor; the sandbox {how}"


def _broker_lost(evidence: Evidence) -> str | None:
    if evidence.broker_lost:
        return "the broker was away for too long"
    return _stopped_for(StopReason.BROKER_LOST)(evidence)


def _inconsistent(evidence: Evidence) -> str | None:
    claim, wire = evidence.claim, evidence.wire
    steps = claim.session.steps if claim and claim.session else None
    # A harness saves a step for a response without content too.
    whole = wire.completed if wire.whole is None else wire.whole
    if steps and whole == 0:
        return f"the sandbox claims {steps} steps, the wire carried no completed response"
    return None


def _stopped_for(reason: StopReason) -> Callable[[Evidence], str | None]:
    def check(evidence: Evidence) -> str | None:
        claim = evidence.claim
        matches = claim and claim.stop and claim.stop.reason is reason
        return claim.stop.detail if matches and claim and claim.stop else None

    return check


def _rate_limited(evidence: Evidence) -> str | None:
    said = _stopped_for(StopReason.RATE_LIMITED)(evidence)
    if said is None and evidence.wire.gave_up:
        return "the broker gave up pacing: the provider kept refusing for its rate limit"
    return said


def _progressing(claim: Claim) -> bool:
    age = claim.progress_age_ms
    return age is not None and age <= PROGRESS_WINDOW_MS


def _budget(evidence: Evidence) -> str | None:
    if _stopped(evidence) is StopReason.BUDGET:
        return evidence.wire.budget_spent or "the attempt's budget is spent"
    return None


def _deadline(*, progressing: bool) -> Callable[[Evidence], str | None]:
    def check(evidence: Evidence) -> str | None:
        claim = evidence.claim
        if not claim or _stopped(evidence) is not StopReason.DEADLINE:
            return None
        if _progressing(claim) is not progressing or claim.stop is None:
            return None
        return claim.stop.detail

    return check


def _ended_well(claim: Claim) -> bool:
    """Whether it had answered before it exited, died or had to be stopped."""
    return claim.session is not None and claim.session.state is SessionState.GOOD


def _oom(evidence: Evidence) -> str | None:
    claim, host = evidence.claim, evidence.host
    if claim is None or _ended_well(claim) or not host.oom_kills:
        return None
    if host.oom_rose_before_end is False:
        return None
    return f"the memory limit killed {host.oom_kills} processes; the harness left no end of its own"


def _provider_refused(evidence: Evidence) -> str | None:
    refused, ordered = evidence.wire.provider_refused, evidence.ordered
    said = _stopped_for(StopReason.PROVIDER_REFUSED)(evidence)
    if refused is None:
        return said
    if ordered is not None and ordered.reason is StopReason.PROVIDER_REFUSED:
        return ordered.detail  # it names the mending, whether or not the harness was faster
    return said or f"the provider refused the last request: {refused}"


def _length_stop(evidence: Evidence) -> str | None:
    claim = evidence.claim
    stopped = _stopped_for(StopReason.LENGTH_STOP)(evidence)
    if stopped is not None:
        return stopped
    if evidence.wire.last_finish is Finish.LENGTH:
        return "the last response was cut at its output limit and nothing followed"
    if claim and claim.session and claim.session.state is SessionState.LENGTH:
        return claim.session.detail or "the last saved step was cut at its output limit"
    return None


def _harness_signal(evidence: Evidence) -> str | None:
    claim = evidence.claim
    if claim is None or _ended_well(claim):
        return None
    if claim.killed_from_inside:
        return "the agent's namespace was killed from inside"
    if claim.wait and claim.wait.signal is not None:
        return f"the harness was ended by signal {claim.wait.signal}"
    return None


def _harness_exit(evidence: Evidence) -> str | None:
    claim = evidence.claim
    if claim is None or _ended_well(claim):
        return None
    if claim.wait is None:
        return f"how the harness ended is not known: {claim.wait_why or 'no wait status'}"
    return f"the harness exited with {claim.wait.exit_code}" if claim.wait.exit_code else None


def _session_error(evidence: Evidence) -> str | None:
    session = evidence.claim.session if evidence.claim else None
    if session is None:
        return None
    if evidence.wire.last_finish is Finish.CONTENT_FILTER:
        return "the provider withheld the last answer (a content filter) and nothing followed"
    if session.state is SessionState.GOOD:
        believed = _believed_what_was_cut(evidence.wire, session.steps)
        return believed or _left_unanswered(evidence.wire)
    if session.state is SessionState.UNKNOWN:
        return _last_unanswered(evidence)
    if evidence.wire.completed == 0 and session.state is SessionState.EMPTY:
        return None
    return f"exit 0, but the session ended {session.state}: {session.detail or 'no detail'}"


def _left_unanswered(wire: WireFacts) -> str | None:
    """A good end stands on a whole last answer, whatever the harness made of what it got instead.

    One that it hung up on itself was none of its end.
    """
    if wire.completed == 0 or wire.last_result_ok is not False or wire.last_left is not False:
        return None
    return "exit 0 and a session that ended well, but the last request got no whole answer"


def _believed_what_was_cut(wire: WireFacts, steps: int | None) -> str | None:
    """Where the last answer broke off, a harness may have saved it as if it were whole.

    It shows by one step more than there were whole answers. A request that the harness hung up on,
    and saved as no step, says nothing.
    """
    if wire.last_result_ok is not False or wire.whole is None or steps is None:
        return None
    if steps <= wire.whole:
        return None
    return f"exit 0, but of {steps} saved steps {wire.whole} had whole answers: the last broke off"


def _last_unanswered(evidence: Evidence) -> str | None:
    """Where the harness keeps no session, the wire alone says whether it ended mid-turn."""
    wire = evidence.wire
    if wire.completed == 0:
        return None
    if wire.last_result_ok is False:
        return "exit 0, but the last request got no whole answer"
    if wire.last_has_content is False:
        return "exit 0, but the last answer had nothing in it"
    return None


def _no_response(evidence: Evidence) -> str | None:
    if evidence.model_expected and evidence.wire.completed == 0:
        return f"exit 0 without one completed response in {evidence.wire.exchanges} requests"
    return None


def _answer_lost(evidence: Evidence) -> str | None:
    answers = (evidence.claim.answers if evidence.claim else None) or ()
    lost = [answer.path for answer in answers if answer.state is AnswerState.LOST]
    return f"seen before and gone at the end: {', '.join(lost)}" if lost else None


def _completed(evidence: Evidence) -> str:
    if not evidence.model_expected:
        return "exit 0; the launch has no model to answer"
    claim = evidence.claim
    if claim is None or not _ended_well(claim):
        return f"exit 0 after {evidence.wire.completed} completed responses, the last one whole"
    return f"{evidence.wire.completed} completed responses, the session ended well"


TABLE: tuple[tuple[EndReason, Callable[[Evidence], str | None]], ...] = (
    (EndReason.CANCELLED, _cancelled),
    (EndReason.REFUSED, _refused),
    (EndReason.MISMATCH, _mismatch),
    (EndReason.SANDBOX_LOST, _sandbox_lost),
    (EndReason.SUPERVISOR_LOST, _supervisor_lost),
    (EndReason.BROKER_LOST, _broker_lost),
    (EndReason.INCONSISTENT, _inconsistent),
    (EndReason.RATE_LIMITED, _rate_limited),
    (EndReason.STALLED_FAILING, _stopped_for(StopReason.STALLED_FAILING)),
    (EndReason.STALLED_SILENT, _stopped_for(StopReason.STALLED_SILENT)),
    (EndReason.BUDGET, _budget),
    (EndReason.DEADLINE_IDLE, _deadline(progressing=False)),
    (EndReason.DEADLINE_PROGRESS, _deadline(progressing=True)),
    (EndReason.OOM, _oom),
    (EndReason.PROVIDER_REFUSED, _provider_refused),
    (EndReason.LENGTH_STOP, _length_stop),
    (EndReason.HARNESS_SIGNAL, _harness_signal),
    (EndReason.HARNESS_EXIT, _harness_exit),
    (EndReason.SESSION_ERROR, _session_error),
    (EndReason.NO_RESPONSE, _no_response),
    (EndReason.ANSWER_LOST, _answer_lost),
    (EndReason.COMPLETED, _completed),
)


def classify(evidence: Evidence) -> Outcome:
    """The one outcome that the evidence supports."""
    reason, detail = next(
        (reason, detail) for reason, check in TABLE if (detail := check(evidence)) is not None
    )
    meaning = MEANING[reason]
    return Outcome(
        reason=reason,
        detail=detail,
        blame=meaning.blame,
        retry=meaning.retry,
        flags=_flags(evidence, reason),
    )


def _unmatched(evidence: Evidence, reason: EndReason) -> bool:
    """A call that nobody sent always counts; one that nobody saved only where the agent came to its
    own end, for what kills a harness may well come between a response and its saving.
    """
    calls = evidence.calls
    if calls is None:
        return False
    return bool(calls.nobody_sent or (calls.nobody_saved and reason is EndReason.COMPLETED))


def _flags(evidence: Evidence, reason: EndReason) -> tuple[Flag, ...]:
    claim, wire, host = evidence.claim, evidence.wire, evidence.host
    answers = (claim.answers if claim else None) or ()
    ended_well = claim is not None and _ended_well(claim)
    killed = bool(claim and claim.wait and claim.wait.signal is not None)
    holds = {
        Flag.ANSWER_ABSENT: any(a.state is AnswerState.ABSENT for a in answers),
        Flag.HUNG_AFTER_END: bool(claim and claim.hung_after_end),
        Flag.KILLED_AFTER_END: ended_well and killed and not (claim and claim.hung_after_end),
        Flag.CHILD_OOM: bool(host.oom_kills) and reason is not EndReason.OOM,
        Flag.LENGTH_RECOVERED: wire.length_stops > 0 and reason is EndReason.COMPLETED,
        Flag.SECRET_SCRUBBED: wire.secret_scrubbed,
        Flag.UNMATCHED_CALLS: _unmatched(evidence, reason),
        Flag.EFFORT_UNDECLARED: not evidence.effort_declared,
        Flag.MODEL_DIFFERS: any(m != evidence.model_asked for m in wire.models_served),
        Flag.ISOLATION_WEAK: bool(
            claim and claim.isolation and claim.isolation != evidence.isolation_asked
        ),
    }
    return tuple(flag for flag, held in holds.items() if held)
