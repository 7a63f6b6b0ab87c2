"""One row a case: what was seen, and the one reason that it supports."""

from dataclasses import dataclass

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stanchion.protocol.call_match import SentCalls, match_calls, not_compared
from stanchion.protocol.evidence import (
    Answer,
    AnswerState,
    Claim,
    Evidence,
    HostFacts,
    SessionEnd,
    SessionState,
    Stop,
    StopReason,
    WaitStatus,
    WireFacts,
)
from stanchion.protocol.exchange import ErrorClass, Finish, Mismatch
from stanchion.protocol.outcome import MEANING, TABLE, EndReason, Flag, classify
from stanchion.protocol.refusal import Refusal

GOOD = SessionEnd(state=SessionState.GOOD, steps=3)
EXIT_0 = WaitStatus(exit_code=0)
WIRE = WireFacts(exchanges=3, completed=3, last_finish=Finish.STOP, last_result_ok=True)
CLEAN = Evidence(claim=Claim(wait=EXIT_0, session=GOOD, progress_age_ms=10), wire=WIRE)
REFUSAL = Refusal(id="limit_missing", field="limits", value=None, rule="r", remedy="m")


def claim(**changes: object) -> Evidence:
    assert CLEAN.claim is not None
    return msgspec.structs.replace(CLEAN, claim=msgspec.structs.replace(CLEAN.claim, **changes))


def wire(**changes: object) -> Evidence:
    return msgspec.structs.replace(CLEAN, wire=msgspec.structs.replace(WIRE, **changes))


def lost(**host: object) -> Evidence:
    return Evidence(claim=None, host=HostFacts(**host), wire=WIRE)  # type: ignore[arg-type]


def stopped(reason: StopReason, **changes: object) -> Evidence:
    mid = SessionEnd(state=SessionState.MID_TURN, steps=2)
    changes = {"session": mid, "wait": WaitStatus(signal=15), **changes}
    return claim(stop=Stop(reason=reason, detail=f"why {reason}"), **changes)


@dataclass(frozen=True, slots=True)
class Row:
    name: str
    seen: Evidence
    reason: EndReason
    flags: tuple[Flag, ...] = ()


DIED = SessionEnd(state=SessionState.MID_TURN, steps=1)
LOST = Answer(path="/work/a", state=AnswerState.LOST)
ABSENT = Answer(path="/work/a", state=AnswerState.ABSENT)
SENT = SentCalls(exchange=1, calls=1, ids=("call_1",))
LIMIT = Mismatch(exchange=1, field="output_limit", declared="128000", observed="32000")

ROWS = [
    Row("clean", CLEAN, EndReason.COMPLETED),
    Row("cancelled", msgspec.structs.replace(CLEAN, cancelled=True), EndReason.CANCELLED),
    Row("cancel order", stopped(StopReason.CANCELLED), EndReason.CANCELLED),
    Row("gate", claim(refusal=REFUSAL, wait=None, session=None), EndReason.REFUSED),
    Row("limit differs", wire(mismatch=LIMIT), EndReason.MISMATCH),
    Row("observed only", wire(mismatch=LIMIT, enforced=False), EndReason.COMPLETED),
    Row(
        "sentry oom", lost(sandbox_exit=137, oom_kills=1), EndReason.SANDBOX_LOST, (Flag.CHILD_OOM,)
    ),
    Row("sentry crash", lost(sandbox_exit=2), EndReason.SANDBOX_LOST),
    Row("no exit code", lost(), EndReason.SANDBOX_LOST),
    Row("nobody reported", lost(lost_why="the host was restarted"), EndReason.SANDBOX_LOST),
    Row("never started", lost(sandbox_started=False, start_error="no"), EndReason.SANDBOX_LOST),
    Row("supervisor abort", lost(sandbox_exit=134), EndReason.SUPERVISOR_LOST),
    Row(
        "hung supervisor",
        lost(sandbox_exit=137, killed_at_deadline=True),
        EndReason.SUPERVISOR_LOST,
    ),
    Row("broker away", stopped(StopReason.BROKER_LOST), EndReason.BROKER_LOST),
    Row("broker lost", Evidence(broker_lost=True), EndReason.BROKER_LOST),
    Row("steps without a wire", wire(completed=0), EndReason.INCONSISTENT),
    Row("steps without a whole response", wire(completed=0, whole=0), EndReason.INCONSISTENT),
    Row(
        "a step of a response without content",
        wire(completed=0, whole=1, last_finish=Finish.LENGTH, length_stops=1),
        EndReason.LENGTH_STOP,
    ),
    Row("pacer gave up", wire(gave_up=True), EndReason.RATE_LIMITED),
    Row("failing", stopped(StopReason.STALLED_FAILING), EndReason.STALLED_FAILING),
    Row("silent", stopped(StopReason.STALLED_SILENT), EndReason.STALLED_SILENT),
    Row("budget", stopped(StopReason.BUDGET), EndReason.BUDGET),
    Row("deadline, busy", stopped(StopReason.DEADLINE), EndReason.DEADLINE_PROGRESS),
    Row(
        "deadline, long idle",
        stopped(StopReason.DEADLINE, progress_age_ms=15 * 60_000 + 1),
        EndReason.DEADLINE_IDLE,
    ),
    Row(
        "deadline, no step",
        stopped(StopReason.DEADLINE, progress_age_ms=None),
        EndReason.DEADLINE_IDLE,
    ),
    Row(
        "oom shows as exit 1 in gVisor",
        msgspec.structs.replace(
            claim(wait=WaitStatus(exit_code=1), session=DIED),
            host=HostFacts(oom_kills=1, oom_rose_before_end=True),
        ),
        EndReason.OOM,
    ),
    Row(
        "an old oom of a child",
        msgspec.structs.replace(
            claim(wait=WaitStatus(exit_code=1), session=DIED),
            host=HostFacts(oom_kills=1, oom_rose_before_end=False),
        ),
        EndReason.HARNESS_EXIT,
        (Flag.CHILD_OOM,),
    ),
    Row(
        "a child's oom on a clean end",
        msgspec.structs.replace(CLEAN, host=HostFacts(oom_kills=2)),
        EndReason.COMPLETED,
        (Flag.CHILD_OOM,),
    ),
    Row(
        "a call that nobody sent",
        msgspec.structs.replace(CLEAN, calls=match_calls([], ["made-up"])),
        EndReason.COMPLETED,
        (Flag.UNMATCHED_CALLS,),
    ),
    Row(
        "a call that nobody saved",
        msgspec.structs.replace(CLEAN, calls=match_calls([SENT], [])),
        EndReason.COMPLETED,
        (Flag.UNMATCHED_CALLS,),
    ),
    Row(
        "a call that nobody saved before a kill",
        msgspec.structs.replace(
            claim(wait=WaitStatus(signal=9), session=DIED), calls=match_calls([SENT], [])
        ),
        EndReason.HARNESS_SIGNAL,
    ),
    Row(
        "calls that match",
        msgspec.structs.replace(CLEAN, calls=match_calls([SENT], ["call_1"])),
        EndReason.COMPLETED,
    ),
    Row(
        "calls that nobody could compare",
        msgspec.structs.replace(CLEAN, calls=not_compared("too many")),
        EndReason.COMPLETED,
    ),
    Row("bad key", wire(provider_refused=ErrorClass.AUTH), EndReason.PROVIDER_REFUSED),
    Row("cut at the limit", wire(last_finish=Finish.LENGTH, length_stops=1), EndReason.LENGTH_STOP),
    Row(
        "cut, saved only",
        claim(session=SessionEnd(state=SessionState.LENGTH, steps=1)),
        EndReason.LENGTH_STOP,
    ),
    Row("cut calls", stopped(StopReason.LENGTH_STOP), EndReason.LENGTH_STOP),
    Row("recovered", wire(length_stops=1), EndReason.COMPLETED, (Flag.LENGTH_RECOVERED,)),
    Row(
        "killed half-way", claim(wait=WaitStatus(signal=9), session=DIED), EndReason.HARNESS_SIGNAL
    ),
    Row(
        "kill -9 1",
        claim(wait=None, killed_from_inside=True, session=DIED),
        EndReason.HARNESS_SIGNAL,
    ),
    Row(
        "killed after a good end",
        claim(wait=WaitStatus(signal=9)),
        EndReason.COMPLETED,
        (Flag.KILLED_AFTER_END,),
    ),
    Row(
        "lingered, was stopped",
        claim(wait=WaitStatus(signal=15), hung_after_end=True),
        EndReason.COMPLETED,
        (Flag.HUNG_AFTER_END,),
    ),
    Row("exit 1", claim(wait=WaitStatus(exit_code=1), session=DIED), EndReason.HARNESS_EXIT),
    Row("exit 1 after a good end", claim(wait=WaitStatus(exit_code=1)), EndReason.COMPLETED),
    Row("nobody knows", claim(wait=None, session=DIED), EndReason.HARNESS_EXIT),
    Row(
        "error, exit 0",
        claim(session=SessionEnd(state=SessionState.ERROR)),
        EndReason.SESSION_ERROR,
    ),
    Row("mid-turn, exit 0", claim(session=DIED), EndReason.SESSION_ERROR),
    Row(
        "rejected", claim(session=SessionEnd(state=SessionState.REJECTED)), EndReason.SESSION_ERROR
    ),
    Row("empty", claim(session=SessionEnd(state=SessionState.EMPTY)), EndReason.SESSION_ERROR),
    Row("withheld and believed", wire(last_finish=Finish.CONTENT_FILTER), EndReason.SESSION_ERROR),
    Row(
        "withheld, and a crash behind the believed end",
        msgspec.structs.replace(
            wire(last_finish=Finish.CONTENT_FILTER),
            claim=claim(wait=WaitStatus(exit_code=1)).claim,
        ),
        EndReason.SESSION_ERROR,
    ),
    Row("cut and believed", wire(whole=2, last_result_ok=False), EndReason.SESSION_ERROR),
    Row("cut beside the last word", wire(whole=3, last_result_ok=False), EndReason.COMPLETED),
    Row(
        "cut after the last step",
        wire(whole=9, last_result_ok=False, last_left=False),
        EndReason.SESSION_ERROR,
    ),
    Row(
        "hung up on after the last word",
        wire(whole=3, last_result_ok=False, last_left=True),
        EndReason.COMPLETED,
    ),
    Row(
        "hung up on and believed",
        wire(whole=2, last_result_ok=False, last_left=True),
        EndReason.SESSION_ERROR,
    ),
    Row("steps more than answers", wire(whole=2), EndReason.COMPLETED),
    Row("whole answers not counted", wire(last_result_ok=False), EndReason.COMPLETED),
    Row(
        "no answer at all",
        msgspec.structs.replace(claim(session=None), wire=WireFacts(exchanges=2)),
        EndReason.NO_RESPONSE,
    ),
    Row("answer gone", claim(answers=(LOST,)), EndReason.ANSWER_LOST),
    Row("answer absent", claim(answers=(ABSENT,)), EndReason.COMPLETED, (Flag.ANSWER_ABSENT,)),
    Row(
        "another model",
        msgspec.structs.replace(wire(models_served=("other",)), model_asked="asked"),
        EndReason.COMPLETED,
        (Flag.MODEL_DIFFERS,),
    ),
    Row("echoed key", wire(secret_scrubbed=True), EndReason.COMPLETED, (Flag.SECRET_SCRUBBED,)),
    Row("weak box", claim(isolation="none"), EndReason.COMPLETED, (Flag.ISOLATION_WEAK,)),
    Row(
        "no effort declared",
        msgspec.structs.replace(CLEAN, effort_declared=False),
        EndReason.COMPLETED,
        (Flag.EFFORT_UNDECLARED,),
    ),
]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_evidence_decides_the_reason(row: Row) -> None:
    outcome = classify(row.seen)
    assert outcome.reason is row.reason, outcome
    assert outcome.flags == row.flags
    assert outcome.detail
    meaning = MEANING[row.reason]
    assert (outcome.blame, outcome.retry) == (meaning.blame, meaning.retry)


def test_every_reason_has_a_row_a_rule_and_a_meaning() -> None:
    reasons = list(EndReason)
    assert [reason for reason, _ in TABLE] == reasons, "the table's order is the decision's order"
    assert set(MEANING) == set(reasons)
    assert {row.reason for row in ROWS} == set(reasons)


def _naive_exit_codes(seen: Evidence) -> EndReason:
    """What a runner does that trusts exit codes."""
    wait = seen.claim.wait if seen.claim else None
    clean = wait is not None and wait.exit_code == 0
    return EndReason.COMPLETED if clean else EndReason.HARNESS_EXIT


def test_trusting_exit_codes_would_be_wrong_in_many_rows() -> None:
    wrong = [row.name for row in ROWS if _naive_exit_codes(row.seen) is not row.reason]
    assert len(wrong) >= 10


def _counted(wire: WireFacts) -> WireFacts:
    """As a broker counts: never below zero."""
    return msgspec.structs.replace(wire, completed=abs(wire.completed))


@given(
    st.builds(
        Evidence,
        cancelled=st.booleans(),
        claim=st.none() | st.from_type(Claim),
        host=st.from_type(HostFacts),
        wire=st.from_type(WireFacts).map(_counted),
        broker_lost=st.booleans(),
    )
)
def test_any_evidence_has_exactly_one_outcome(seen: Evidence) -> None:
    outcome = classify(seen)
    assert outcome == classify(seen)
    if outcome.reason is EndReason.COMPLETED:
        assert seen.claim is not None
        assert seen.wire.completed > 0
        assert seen.wire.last_result_ok is not False or seen.wire.last_left is not False


def test_the_detail_of_a_lost_sandbox_or_broker_is_the_witness_own() -> None:
    assert classify(lost(lost_why="the host was restarted")).detail == "the host was restarted"
    assert classify(stopped(StopReason.BROKER_LOST)).detail == "why broker_lost"


def test_a_launch_without_a_model_misses_no_response() -> None:
    ended = msgspec.structs.replace(
        CLEAN,
        claim=Claim(wait=EXIT_0, session=SessionEnd(state=SessionState.UNKNOWN)),
        wire=WireFacts(),
        model_expected=False,
    )
    assert classify(ended).reason is EndReason.COMPLETED
    assert "no model" in classify(ended).detail
    expected = msgspec.structs.replace(ended, model_expected=True)
    assert classify(expected).reason is EndReason.NO_RESPONSE


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({}, EndReason.COMPLETED),
        ({"last_has_content": True}, EndReason.COMPLETED),
        ({"last_result_ok": False, "last_has_content": False}, EndReason.SESSION_ERROR),
        ({"last_has_content": False}, EndReason.SESSION_ERROR),
        ({"last_finish": Finish.CONTENT_FILTER}, EndReason.SESSION_ERROR),
        ({"completed": 0, "last_has_content": False}, EndReason.NO_RESPONSE),
    ],
)
def test_without_a_session_the_last_answer_on_the_wire_says_whether_it_ended_well(
    change: dict[str, object], reason: EndReason
) -> None:
    unknown = SessionEnd(state=SessionState.UNKNOWN)
    seen = msgspec.structs.replace(wire(**change), claim=Claim(wait=EXIT_0, session=unknown))
    assert classify(seen).reason is reason
    assert "session ended well" not in classify(seen).detail


def test_what_the_broker_ordered_explains_a_refusal_though_the_harness_was_faster() -> None:
    ordered = Stop(reason=StopReason.PROVIDER_REFUSED, detail="limit_rejected: declare a lower one")
    faster = msgspec.structs.replace(
        wire(provider_refused=ErrorClass.LIMIT_REJECTED), ordered=ordered
    )
    assert classify(faster).detail == ordered.detail
    recovered = msgspec.structs.replace(CLEAN, ordered=ordered)
    assert classify(recovered).reason is EndReason.COMPLETED
