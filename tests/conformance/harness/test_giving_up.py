"""How the real harnesses give up, or do not: replayed, with what the broker saw beside it.

Recorded by record_giving_up.py. A harness that keeps trying, or waits, beyond its window was
stopped; so is an attempt, by the watchdog or because the broker gave up.
"""

from typing import Any

import msgspec
import pytest

from conformance.harness.record_giving_up import CASES
from conformance.harness.recordings import HERE, Recorded, Recordings
from stanchion.harness_adapters import registry
from stanchion.protocol.evidence import (
    Claim,
    Evidence,
    SessionEnd,
    SessionState,
    Stop,
    StopReason,
    WaitStatus,
    WireFacts,
)
from stanchion.protocol.exchange import ErrorClass, Finish
from stanchion.protocol.launch import WatchdogLimits
from stanchion.protocol.outcome import EndReason, classify

HARNESSES = ("claude_code", "codex", "gemini_cli", "mini_swe_agent", "pi", "qwen_code")
LIMIT = 128_000


class Recording(Recorded):
    """One run; `rows` as its store was read, `stdout` as it printed."""

    took_s: int
    stopped: bool
    """Its window was over."""
    requests: list[tuple[int, int | None, str, bool, int | None]]
    """Seconds since the first one, limit, effort, stream, status of the answer."""
    rows: list[list[str]]
    stdout: list[str]


RECORDED = {
    harness: Recordings(harness, registry.adapter(harness).versions[-1], Recording, "giving_up")
    for harness in HARNESSES
}
ALL = [(harness, name) for harness in HARNESSES for name in RECORDED[harness].names]
WITH_THE_OTHERS = {
    ("codex", "cut"): "codex-0.171.0/gave-up.json",
    ("codex", "no-finish"): "codex-0.171.0/no-finish.json",
}
"""Recorded once already, beside the ways in which it ends else."""
TOLD_BY_THE_WIRE_ALONE = {
    ("gemini_cli", "error-event"), ("gemini_cli", "filtered"), ("gemini_cli", "no-finish"),
    ("qwen_code", "filtered"),
}  # fmt: skip
"""Exit 0 and no trace of the failure in what they print or save."""
BEGUN = WireFacts(completed=1, whole=1, last_result_ok=False, last_left=False)
"""One whole step, and a last request without a whole answer."""
WIRE: dict[str, dict[str, Any]] = {
    "error-401": {"provider_refused": ErrorClass.AUTH},
    "error-429": {"gave_up": True},
    "error-500": {"gave_up": True},
    "unreachable": {"completed": 0, "whole": 0, "last_result_ok": None, "last_left": None},
    "killed": {"last_result_ok": True, "last_finish": Finish.TOOL_USE},
    "interrupted": {"last_result_ok": True, "last_finish": Finish.TOOL_USE},
    "filtered": {
        "completed": 2, "whole": 2, "last_result_ok": True, "last_finish": Finish.CONTENT_FILTER,
    },
    "stall": {"last_left": True},
    "no-headers": {"last_left": True},
}  # fmt: skip
"""What else the broker saw of each case; 429 and 5xx it holds, and gives up on, itself."""
SILENT = Stop(reason=StopReason.STALLED_SILENT, detail="neither progress nor a sign of life")
WATCHED = ("stall", "no-headers")
"""Where nobody but the watchdog ends it."""


S, R = SessionState, EndReason
ENDS = {
    "claude_code": {
        "cut": (S.ERROR, R.HARNESS_EXIT),
        "error-401": (S.ERROR, R.PROVIDER_REFUSED),
        "error-429": (S.ERROR, R.RATE_LIMITED),
        "error-500": (S.ERROR, R.RATE_LIMITED),
        "error-event": (S.ERROR, R.HARNESS_EXIT),
        "filtered": (S.ERROR, R.HARNESS_EXIT),
        "interrupted": (S.ERROR, R.SESSION_ERROR),
        "killed": (S.MID_TURN, R.HARNESS_EXIT),
        "no-finish": (S.ERROR, R.HARNESS_EXIT),
        "no-headers": (S.MID_TURN, R.STALLED_SILENT),
        "stall": (S.MID_TURN, R.STALLED_SILENT),
        "unreachable": (S.ERROR, R.HARNESS_EXIT),
    },
    "codex": {
        "error-401": (S.ERROR, R.PROVIDER_REFUSED),
        "error-429": (S.ERROR, R.RATE_LIMITED),
        "error-500": (S.ERROR, R.RATE_LIMITED),
        "error-event": (S.ERROR, R.HARNESS_EXIT),
        "filtered": (S.ERROR, R.HARNESS_EXIT),
        "interrupted": (S.MID_TURN, R.HARNESS_EXIT),
        "killed": (S.MID_TURN, R.HARNESS_SIGNAL),
        "no-headers": (S.MID_TURN, R.STALLED_SILENT),
        "stall": (S.MID_TURN, R.STALLED_SILENT),
        "unreachable": (S.ERROR, R.HARNESS_EXIT),
    },
    "gemini_cli": {
        "cut": (S.ERROR, R.HARNESS_EXIT),
        "error-401": (S.ERROR, R.PROVIDER_REFUSED),
        "error-429": (S.ERROR, R.RATE_LIMITED),
        "error-500": (S.ERROR, R.RATE_LIMITED),
        "error-event": (S.UNKNOWN, R.SESSION_ERROR),
        "filtered": (S.UNKNOWN, R.SESSION_ERROR),
        "interrupted": (S.MID_TURN, R.SESSION_ERROR),
        "killed": (S.MID_TURN, R.SESSION_ERROR),
        "no-finish": (S.UNKNOWN, R.SESSION_ERROR),
        "no-headers": (S.MID_TURN, R.STALLED_SILENT),
        "stall": (S.MID_TURN, R.STALLED_SILENT),
        "unreachable": (S.ERROR, R.HARNESS_EXIT),
    },
    "mini_swe_agent": {
        "cut": (S.ERROR, R.HARNESS_EXIT),
        "error-401": (S.ERROR, R.PROVIDER_REFUSED),
        "error-429": (S.ERROR, R.RATE_LIMITED),
        "error-500": (S.ERROR, R.RATE_LIMITED),
        "error-event": (S.ERROR, R.HARNESS_EXIT),
        "filtered": (S.ERROR, R.SESSION_ERROR),
        "interrupted": (S.MID_TURN, R.HARNESS_EXIT),
        "killed": (S.MID_TURN, R.HARNESS_SIGNAL),
        "no-finish": (S.ERROR, R.SESSION_ERROR),
        "no-headers": (S.MID_TURN, R.STALLED_SILENT),
        "stall": (S.MID_TURN, R.STALLED_SILENT),
        "unreachable": (S.ERROR, R.HARNESS_EXIT),
    },
    "pi": {
        "cut": (S.ERROR, R.SESSION_ERROR),
        "error-401": (S.ERROR, R.PROVIDER_REFUSED),
        "error-429": (S.ERROR, R.RATE_LIMITED),
        "error-500": (S.ERROR, R.RATE_LIMITED),
        "error-event": (S.ERROR, R.SESSION_ERROR),
        "filtered": (S.ERROR, R.SESSION_ERROR),
        "interrupted": (S.MID_TURN, R.HARNESS_SIGNAL),
        "killed": (S.MID_TURN, R.HARNESS_EXIT),
        "no-finish": (S.ERROR, R.SESSION_ERROR),
        "no-headers": (S.MID_TURN, R.STALLED_SILENT),
        "stall": (S.MID_TURN, R.STALLED_SILENT),
        "unreachable": (S.ERROR, R.SESSION_ERROR),
    },
    "qwen_code": {
        "cut": (S.ERROR, R.SESSION_ERROR),
        "error-401": (S.ERROR, R.PROVIDER_REFUSED),
        "error-429": (S.MID_TURN, R.RATE_LIMITED),
        "error-500": (S.ERROR, R.RATE_LIMITED),
        "error-event": (S.ERROR, R.SESSION_ERROR),
        "filtered": (S.GOOD, R.SESSION_ERROR),
        "interrupted": (S.MID_TURN, R.HARNESS_EXIT),
        "killed": (S.MID_TURN, R.HARNESS_EXIT),
        "no-finish": (S.ERROR, R.SESSION_ERROR),
        "no-headers": (S.MID_TURN, R.STALLED_SILENT),
        "stall": (S.MID_TURN, R.STALLED_SILENT),
        "unreachable": (S.ERROR, R.SESSION_ERROR),
    },
}
"""What the session says of each run, and what the attempt ended as."""


def end_of(harness: str, case: str) -> SessionEnd:
    recording = RECORDED[harness].load(case)
    session = registry.adapter(harness).session()
    session.rows(recording.rows)
    for line in recording.stdout:
        session.output(line.encode())
    return session.end()


def evidence(harness: str, case: str) -> Evidence:
    recording = RECORDED[harness].load(case)
    code = recording.returncode
    wait = WaitStatus(exit_code=code) if code >= 0 else WaitStatus(signal=-code)
    stop = SILENT if case in WATCHED else None
    claim = Claim(wait=wait, session=end_of(harness, case), stop=stop)
    exchanges = {"exchanges": len(recording.requests)}
    wire = msgspec.structs.replace(BEGUN, **exchanges, **WIRE.get(case, {}))
    return Evidence(claim=claim, wire=wire)


def test_each_harness_was_seen_in_each_case() -> None:
    seen = {*ALL, *WITH_THE_OTHERS}
    assert seen == {(harness, case) for harness in HARNESSES for case in CASES}
    for path in WITH_THE_OTHERS.values():
        assert (HERE / path).is_file()


@pytest.mark.parametrize(("harness", "case"), ALL)
def test_each_end_has_its_reason_whatever_the_exit_code(harness: str, case: str) -> None:
    state, reason = ENDS[harness][case]
    assert end_of(harness, case).state is state
    outcome = classify(evidence(harness, case))
    assert outcome.reason is reason, outcome.detail


@pytest.mark.parametrize(("harness", "case"), ALL)
def test_what_failed_is_no_good_end_by_its_own_account_but_where_the_wire_alone_tells(
    harness: str, case: str
) -> None:
    believed = end_of(harness, case).state in {SessionState.GOOD, SessionState.UNKNOWN}
    assert believed is ((harness, case) in TOLD_BY_THE_WIRE_ALONE)
    assert classify(evidence(harness, case)).reason is not EndReason.COMPLETED


@pytest.mark.parametrize(("harness", "case"), ALL)
def test_each_request_is_as_declared_however_often_it_asks(harness: str, case: str) -> None:
    requests = RECORDED[harness].load(case).requests
    unsaid = harness == "codex"  # the limit is what the broker writes for it
    assert {limit for _, limit, _, stream, _ in requests if stream} <= {None if unsaid else LIMIT}
    assert len({effort for _, _, effort, _, _ in requests}) <= 1
    assert requests or case == "unreachable"


@pytest.mark.parametrize(("harness", "case"), ALL)
def test_one_that_had_to_be_stopped_is_ended_by_the_watchdog_or_the_broker(
    harness: str, case: str
) -> None:
    recording = RECORDED[harness].load(case)
    if not recording.stopped:
        assert recording.took_s < WatchdogLimits().failing_s, "its own end comes first"
        return
    assert recording.took_s >= CASES[case].window_s
    assert classify(evidence(harness, case)).reason in {
        EndReason.RATE_LIMITED, EndReason.STALLED_SILENT,
    }  # fmt: skip
