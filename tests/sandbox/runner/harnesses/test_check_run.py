"""The real OpenCode in the real sandbox: what a check shows."""

import pytest

from stanchion.broker.client import StatePaths
from stanchion.protocol.dialects import Dialect
from stanchion.runner.harnesses.cells import Cell, Scenario
from stanchion.runner.harnesses.check_run import check, is_good
from stanchion.runner.harnesses.judging import Verdict

pytestmark = [pytest.mark.sandbox, pytest.mark.harness, pytest.mark.timeout(300)]

AGAIN = Cell("opencode", "1.18.33", Dialect.ANTHROPIC_MESSAGES, 200_000, "max", Scenario.AGAIN)
REFUSED = Cell("opencode", "1.18.33", Dialect.GEMINI, 200_000, "xhigh", Scenario.PLAIN)


async def test_a_check_plays_judges_and_counts(state: StatePaths) -> None:
    said: list[str] = []
    report, judged = await check([AGAIN, REFUSED], state, said.append, whole=False)

    assert (report.cells, report.right, report.refused) == (2, 2, 1)
    (_, again), (_, refused) = judged
    assert (again.written, again.why) == ((200_000, "max"), None)
    assert again.first is not None
    assert (again.first.limit, again.first.effort) == (200_000, "max")
    assert [(request.limit, request.effort) for request in again.again] == [(200_000, "max")]
    assert refused.verdict is Verdict.REFUSED
    assert is_good(report) == (not report.shortcomings and not report.releases[0].drift)
    assert report.releases[0].head.version == "1.18.33"
    assert any("2/2" in line for line in said)
