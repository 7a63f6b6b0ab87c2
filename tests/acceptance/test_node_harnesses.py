"""Real harnesses that are Node programs, in a real sandbox: what was asked for is on the wire, it
is graded, and each ending has its reason although they exit 0 on most of them.
"""

from pathlib import Path

import pytest

from conftest import required
from fakes.small_tasks import Stanchion, small_task
from stanchion.images.harness_store import ensure_harness
from stanchion.protocol.outcome import EndReason
from stanchion.runner.tasks.examples import example_task

pytestmark = [
    *(pytest.mark.acceptance, pytest.mark.sandbox, pytest.mark.harness),
    pytest.mark.timeout(300),
]

HARNESSES = {
    "gemini_cli": ("0.61.0", "high"), "pi": ("1.6.0", "max"), "qwen_code": ("0.15.10", "max"),
}  # fmt: skip
"""Of each its version and the effort to ask for."""
QUIET = '[environment]\nnetwork_mode = "no-network"\n[agent]\ntimeout_sec = 100\n'
AS_NOBODY = f'{QUIET}user = "nobody"\n'
WROTE_IT = """\
out=/logs/verifier/reward.txt
if test -f /work/one.txt; then echo 1 > $out; else echo 0 > $out; fi
"""
WRITES = """
[[turn]]
reasoning = "A file is wanted."
[[turn.tool]]
name = "bash"
arguments = { command = "id -u > /work/one.txt", description = "write it", is_background = false }
"""
DONE = '[[turn]]\ntext = "It is done."\n'
BREAKS_OFF = """
[[turn]]
text = "I am writing all of this down, word by word, for quite a while"
fault = {kind = "cut", after = 3}
"""
ENDINGS = {
    "cut at its limit": ('[[turn]]\ntext = "I think and"\nfinish = "length"\n' * 9, "length_stop"),
    "cut while thinking": (
        '[[turn]]\nreasoning = "I think and"\nfinish = "length"\n' * 9, "length_stop",
    ),
    "empty": ('[[turn]]\nreasoning = "hm"\nfinish = "stop"\n' * 9, None),
    "refused": ('[[turn]]\nfault = {kind = "status", status = 401}\n', "provider_refused"),
    "broken off": (BREAKS_OFF, None),
    "filtered": ('[[turn]]\ntext = "I will"\nfinish = "FILTERED"\n' * 9, None),
}  # fmt: skip
"""What the provider does after a first step, and the reason; None = it differs, see NOT_CLEAN."""
FILTERED = {"gemini_cli": "SAFETY"}
"""What its API says of an answer that it withholds, where that is not `content_filter`."""
NOT_CLEAN = {
    EndReason.SESSION_ERROR, EndReason.HARNESS_EXIT, EndReason.NO_RESPONSE,
    EndReason.STALLED_FAILING,
}  # fmt: skip


@pytest.fixture(autouse=True)
def harnesses(cache_dir: Path) -> None:
    """All of them are there."""
    for name, (version, _) in HARNESSES.items():
        required(name, lambda name=name, version=version: ensure_harness(cache_dir, name, version))


def told(harness: str) -> tuple[str, ...]:
    effort = HARNESSES[harness][1]
    model = ("--harness", harness, "--model", "rehearsal/future-9")
    return (*model, "--effort", effort, "--output-limit", "128000")


@pytest.mark.parametrize("harness", HARNESSES)
def test_hello_is_solved_and_the_receipts_audit(stanchion: Stanchion, harness: str) -> None:
    result = stanchion.run(example_task("hello"), *told(harness))

    assert result.outcome.reason is EndReason.COMPLETED, result.outcome.detail
    assert result.score == 1.0
    limit, effort, word = result.limits.output_tokens, result.effort, HARNESSES[harness][1]
    assert (limit.declared, limit.written, limit.observed) == (128_000, 128_000, (128_000,))
    assert (effort.requested, effort.written, effort.observed) == (word, word, (word,))
    assert result.reasoning_present is True
    bundle = result.receipts.bundle
    assert bundle is not None
    demands = ("--require", f"effort={word}", "--require", "output_limit=128000")
    code, output, errors = stanchion("audit", bundle, *demands)
    assert code == 0, output.decode() + errors


@pytest.mark.parametrize("harness", HARNESSES)
def test_a_user_who_is_not_root_may_run_it(
    stanchion: Stanchion, harness: str, tmp_path: Path
) -> None:
    task = small_task(
        tmp_path / "task", tests=WROTE_IT, toml=AS_NOBODY, rehearsal=f"version = 1\n{WRITES}{DONE}"
    )
    result = stanchion.run(task, *told(harness))
    assert result.outcome.reason is EndReason.COMPLETED, result.outcome.detail
    assert result.score == 1.0


@pytest.mark.parametrize("harness", HARNESSES)
@pytest.mark.parametrize("ending", ENDINGS)
def test_no_failure_is_taken_for_a_clean_end(
    stanchion: Stanchion, harness: str, ending: str, tmp_path: Path
) -> None:
    turns, reason = ENDINGS[ending]
    turns = turns.replace("FILTERED", FILTERED.get(harness, "content_filter"))
    task = small_task(
        tmp_path / "task", tests=WROTE_IT, rehearsal=f"version = 1\n{WRITES}{turns}",
        toml=QUIET,
    )  # fmt: skip
    result = stanchion.run(task, *told(harness))
    expected = NOT_CLEAN if reason is None else {EndReason(reason)}
    assert result.outcome.reason in expected, result.outcome.detail
    assert result.limits.output_tokens.observed == (128_000,)
