"""The real mini-swe-agent in a real sandbox: solved and graded, and no failure of it is clean."""

from pathlib import Path

import pytest

from fakes.small_tasks import GIVES_ONE, Stanchion, small_task
from stanchion.protocol.outcome import EndReason
from stanchion.runner.tasks.examples import example_task

WORK = '[[turn]]\n[[turn.tool]]\nname = "bash"\narguments.command = "echo one"\n'
KILLS = WORK.replace("echo one", "kill -TERM $PPID; sleep 60")
TALK = '[[turn]]\ntext = "I would rather talk."\n'
CUT = '[[turn]]\ntext = "I think and"\nfinish = "length"\n'
EMPTY = '[[turn]]\nreasoning = "hm"\nfinish = "stop"\n'
REFUSED = '[[turn]]\nfault = {kind = "status", status = 401}\n'

pytestmark = [
    pytest.mark.usefixtures("mini_swe_agent"),
    *(pytest.mark.acceptance, pytest.mark.sandbox, pytest.mark.harness),
    pytest.mark.timeout(400),
]


@pytest.mark.parametrize("dialect", ["openai_chat", "anthropic_messages"])
def test_hello_is_solved_and_the_receipts_audit(stanchion: Stanchion, dialect: str) -> None:
    result = stanchion.run(
        example_task("hello"),
        *("--harness", "mini_swe_agent", "--model", "rehearsal/claude-opus-4-1"),
        *("--dialect", dialect, "--effort", "max", "--output-limit", "128000"),
    )

    assert result.outcome.reason is EndReason.COMPLETED, result.outcome.detail
    assert result.score == 1.0
    limit, effort = result.limits.output_tokens, result.effort
    assert (limit.declared, limit.written, limit.observed) == (128_000, 128_000, (128_000,))
    assert (effort.requested, effort.written, effort.observed) == ("max", "max", ("max",))
    assert result.receipts.bundle is not None
    demands = ("--require", "effort=max", "--require", "output_limit=128000")
    code, output, errors = stanchion("audit", result.receipts.bundle, *demands)
    assert code == 0, output.decode() + errors


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        (WORK + CUT, EndReason.LENGTH_STOP),
        (WORK + EMPTY, EndReason.SESSION_ERROR),
        (EMPTY, EndReason.NO_RESPONSE),
        (WORK + TALK, EndReason.SESSION_ERROR),
        (WORK + REFUSED, EndReason.PROVIDER_REFUSED),
        (WORK + KILLS, EndReason.HARNESS_SIGNAL),
    ],
    ids=["cut", "empty", "only empty", "no command", "key refused", "terminated"],
)
def test_what_it_fails_by_is_told_and_never_clean_though_it_may_exit_0(
    stanchion: Stanchion, tmp_path: Path, script: str, reason: EndReason
) -> None:
    task = small_task(tmp_path / "task", tests=GIVES_ONE, rehearsal="version = 1\n" + script)
    result = stanchion.run(
        task, "--harness", "mini_swe_agent", "--model", "rehearsal/x", "--output-limit", "64000"
    )

    assert result.outcome.reason is reason, result.outcome.detail
