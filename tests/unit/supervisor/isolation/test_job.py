"""What may be said about an end."""

import signal

import pytest

from stanchion.protocol.evidence import WaitStatus
from stanchion.supervisor.isolation.job import Intent, IsolationError, Verdict, judge
from stanchion.supervisor.isolation.reports import Ended, ExecFailed

EXITED_0 = 0
EXITED_1 = 1 << 8
KILLED = int(signal.SIGKILL)


@pytest.mark.parametrize("intent", Intent)
@pytest.mark.parametrize("status", [EXITED_0, KILLED, None])
def test_a_reported_status_stands_whatever_became_of_the_shim(
    intent: Intent, status: int | None
) -> None:
    told = judge(Ended(exit_code=3), status, intent)
    assert told == Verdict(WaitStatus(exit_code=3), None, False)
    assert judge(Ended(signal=9), status, intent).wait == WaitStatus(signal=9)


def test_a_program_that_could_not_be_executed_has_no_status() -> None:
    told = judge(ExecFailed(step="executing /x", errno=2), EXITED_0, Intent.NONE)
    assert told == Verdict(None, "executing /x failed: No such file or directory", False)


@pytest.mark.parametrize(
    ("intent", "why", "from_inside"),
    [
        (Intent.NONE, "the shim was ended by SIGKILL without a report", True),
        (Intent.KILLED, "killed by the supervisor", False),
        (Intent.ABANDONED, "never started: the supervisor gave it up", False),
        (
            Intent.KILLED_AS_STOPPED,
            "the agent's leftovers kept stopping the shim, so it could not report",
            True,
        ),
    ],
)
def test_without_a_report_it_matters_who_ended_the_shim(
    intent: Intent, why: str, from_inside: bool
) -> None:
    assert judge(None, KILLED, intent) == Verdict(None, why, from_inside)


@pytest.mark.parametrize(
    ("status", "why"),
    [
        (EXITED_1, "the shim exited with 1 without a report"),
        (int(signal.SIGTERM), "the shim was ended by SIGTERM without a report"),
        (None, "the shim went, nobody saw how, without a report"),
    ],
)
def test_how_the_shim_went_is_never_taken_for_the_agents_end(status: int | None, why: str) -> None:
    assert judge(None, status, Intent.NONE) == Verdict(None, why, True)


def test_a_failed_isolation_is_an_error_of_the_system_with_its_own_sentence() -> None:
    assert str(IsolationError("one sentence")) == "one sentence"
    assert issubclass(IsolationError, OSError)
