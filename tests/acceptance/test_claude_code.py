"""The real Claude Code in a real sandbox: what was asked for is on the wire, and it is graded."""

import pytest

from fakes.small_tasks import Stanchion
from fakes.whole_trajectory import assert_whole_trajectory
from stanchion.protocol.outcome import EndReason
from stanchion.runner.tasks.examples import example_task

pytestmark = [
    pytest.mark.usefixtures("claude_code"),
    *(pytest.mark.acceptance, pytest.mark.sandbox, pytest.mark.harness),
    pytest.mark.timeout(300),
]


def test_hello_is_solved_and_the_receipts_audit(stanchion: Stanchion) -> None:
    result = stanchion.run(
        example_task("hello"),
        *("--harness", "claude_code", "--model", "rehearsal/x"),
        *("--dialect", "anthropic_messages", "--effort", "max", "--output-limit", "128000"),
    )

    assert result.outcome.reason is EndReason.COMPLETED, result.outcome.detail
    assert result.score == 1.0
    limit = result.limits.output_tokens
    assert (limit.declared, limit.written, limit.observed) == (128_000, 128_000, (128_000,))
    effort = result.effort
    assert (effort.requested, effort.written, effort.observed) == ("max", "max", ("max",))
    assert result.reasoning_present is True
    bundle = result.receipts.bundle
    assert bundle is not None
    demands = ("--require", "effort=max", "--require", "output_limit=128000")
    code, output, errors = stanchion("audit", bundle, *demands)
    assert code == 0, output.decode() + errors
    document = assert_whole_trajectory(result)
    joined = {step["extra"]["stanchion"]["joined_by"] for step in document["steps"]
              if step["source"] == "agent"}  # fmt: skip
    assert joined == {"response_id"}
