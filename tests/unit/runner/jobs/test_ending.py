"""What a job exits with."""

import pytest
from tests.fakes.results import a_result

from stanchion.protocol.exit_codes import ExitCode
from stanchion.protocol.outcome import EndReason
from stanchion.protocol.result import AttemptResult
from stanchion.runner.jobs.ending import exit_code

DEAD = a_result(EndReason.HARNESS_EXIT, score=None)
CANCELLED = a_result(EndReason.CANCELLED, score=None)
BUDGET = a_result(EndReason.BUDGET, score=None)
REFUSED = a_result(EndReason.REFUSED, score=None)


@pytest.mark.parametrize(
    ("results", "not_started", "stopped", "code"),
    [
        ([a_result(), a_result(score=0.0)], 0, None, ExitCode.OK),
        ([a_result(), DEAD], 0, None, ExitCode.FAILED),
        ([a_result()], 1, None, ExitCode.FAILED),
        ([a_result(), BUDGET, BUDGET], 0, None, ExitCode.BUDGET),
        ([BUDGET, DEAD], 0, None, ExitCode.FAILED),
        ([BUDGET], 1, None, ExitCode.FAILED),
        ([REFUSED], 0, None, ExitCode.REFUSED),
        ([a_result(), CANCELLED], 3, ExitCode.TIMEOUT, ExitCode.TIMEOUT),
        ([CANCELLED, DEAD], 3, ExitCode.TIMEOUT, ExitCode.FAILED),
        ([a_result()], 2, ExitCode.INTERRUPTED, ExitCode.INTERRUPTED),
        ([a_result()], 0, ExitCode.TIMEOUT, ExitCode.OK),
        ([CANCELLED], 0, None, ExitCode.FAILED),
    ],
)
def test_a_code_of_its_own_only_where_all_failed_for_one_reason(
    results: list[AttemptResult], not_started: int, stopped: ExitCode | None, code: ExitCode
) -> None:
    assert exit_code(results, not_started=not_started, stopped=stopped) is code
