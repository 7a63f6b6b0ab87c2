"""The real OpenCode over each dialect but chat: what was asked for is on the wire, and a key that
the provider echoes is nowhere in the sandbox.
"""

import json
from pathlib import Path

import pytest

from fakes.small_tasks import GIVES_ONE, OPENCODE, Stanchion, small_task
from stanchion.protocol.outcome import EndReason, Flag
from stanchion.protocol.result import AttemptResult
from stanchion.runner.tasks.examples import example_task

pytestmark = [
    pytest.mark.usefixtures("opencode"),
    *(pytest.mark.acceptance, pytest.mark.sandbox, pytest.mark.harness),
    pytest.mark.timeout(300),
]

ROUTES = {
    "openai_responses": "openai_responses.create",
    "anthropic_messages": "anthropic_messages.create",
    "gemini": "gemini.stream_generate_content",
}
EFFORTS = {"gemini": "high"}
"""The highest word where it is not max."""
ECHOES = """\
version = 1
[[turn]]
reasoning = "The file first."
text = "Your key is "
fault = { kind = "key_echo", where = "text", form = "split", times = 1 }
[[turn.tool]]
name = "bash"
arguments = { command = "echo one > one.txt", description = "do it" }
[[turn]]
text = "All is done."
"""


def receipts(result: AttemptResult) -> list[dict[str, object]]:
    bundle = result.receipts.bundle
    assert bundle is not None
    return [json.loads(line) for line in Path(bundle).read_text().splitlines()]


def over(dialect: str) -> tuple[str, ...]:
    return (*OPENCODE, "--dialect", dialect, "--effort", EFFORTS.get(dialect, "max"))


@pytest.mark.parametrize("dialect", ROUTES)
def test_limit_and_effort_are_on_the_wire_and_the_receipts_audit(
    stanchion: Stanchion, dialect: str
) -> None:
    result = stanchion.run(example_task("hello"), *over(dialect), "--output-limit", "64000")

    assert result.outcome.reason is EndReason.COMPLETED, result.outcome.detail
    assert result.score == 1.0
    limit = result.limits.output_tokens
    assert (limit.declared, limit.written, limit.observed) == (64_000, 64_000, (64_000,))
    effort, word = result.effort, EFFORTS.get(dialect, "max")
    assert (effort.requested, effort.written, effort.observed) == (word, word, (word,))
    assert result.reasoning_present is True
    starts = [line for line in receipts(result) if line["type"] == "exchange.start"]
    assert [start["route"] for start in starts] == [ROUTES[dialect]] * 2
    bundle = result.receipts.bundle
    assert bundle is not None
    demands = ("--require", f"effort={word}", "--require", "output_limit=64000")
    code, output, errors = stanchion("audit", bundle, *demands)
    assert code == 0, output.decode() + errors


@pytest.mark.parametrize("dialect", ROUTES)
def test_an_echoed_key_stays_outside(stanchion: Stanchion, tmp_path: Path, dialect: str) -> None:
    task = small_task(tmp_path / "echo", tests=GIVES_ONE, rehearsal=ECHOES)
    result = stanchion.run(task, *over(dialect))

    assert result.outcome.reason is EndReason.COMPLETED, result.outcome.detail
    assert Flag.SECRET_SCRUBBED in result.outcome.flags
    ends = [line for line in receipts(result) if line["type"] == "exchange.end"]
    assert [end["secret_scrubbed"] for end in ends] == [True, False]
    first = ends[0]["answered"]
    assert isinstance(first, dict)
    assert first["sent_sha256"] not in {None, first["body_sha256"]}
    bundle = result.receipts.bundle
    assert bundle is not None
    transcript = (Path(bundle).parent / "transcript.jsonl").read_text()
    assert "Your key is " in transcript
    assert "*" * 16 in transcript
