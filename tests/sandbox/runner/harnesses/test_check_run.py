"""The real OpenCode in the real sandbox: what a check shows."""

import pytest

from stanchion.broker.client import StatePaths
from stanchion.protocol.dialects import Dialect
from stanchion.runner.harnesses.cells import Cell, Scenario
from stanchion.runner.harnesses.check_run import check, is_good
from stanchion.runner.harnesses.judging import Verdict

pytestmark = [pytest.mark.sandbox, pytest.mark.harness, pytest.mark.timeout(300)]

AGAIN = Cell("opencode", "1.18.33", Dialect.ANTHROPIC_MESSAGES, 200_000, "max", Scenario.AGAIN)
WRITTEN = Cell("opencode", "1.18.33", Dialect.GEMINI, 8_000, "xhigh", Scenario.AGAIN)
"""A word that the harness cannot say, so that the broker writes it."""


async def test_a_check_plays_judges_and_counts(state: StatePaths) -> None:
    said: list[str] = []
    report, judged = await check([AGAIN, WRITTEN], state, said.append, whole=False)

    assert (report.cells, report.right, report.refused) == (2, 2, 0)
    (_, again), (_, written) = judged
    assert (again.written, again.why) == ((200_000, "max"), None)
    assert again.first is not None
    assert (again.first.limit, again.first.effort) == (200_000, "max")
    assert [(request.limit, request.effort) for request in again.again] == [(200_000, "max")]
    assert (written.verdict, written.written) == (Verdict.RIGHT, (8_000, None))
    assert written.first is not None
    level = "generationConfig.thinkingConfig.thinkingLevel"
    assert (written.first.corrected, written.first.effort) == ((level,), "xhigh")
    assert len(written.again) == 1
    assert is_good(report) == (not report.shortcomings and not report.releases[0].drift)
    assert report.releases[0].head.version == "1.18.33"
    assert any("2/2" in line for line in said)
