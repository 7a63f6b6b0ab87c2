"""The real Codex in a real sandbox: what was asked for is on the wire, and it is graded."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from fakes.small_tasks import Stanchion
from stanchion.images.bundle import Bundle
from stanchion.images.harness_store import HarnessPackage
from stanchion.images.rootfs import BaseImage
from stanchion.images.runsc import RunscInfo
from stanchion.protocol.outcome import EndReason
from stanchion.runner.tasks.examples import example_task

pytestmark = [
    *(pytest.mark.acceptance, pytest.mark.sandbox, pytest.mark.harness),
    pytest.mark.timeout(300),
]


@pytest.fixture
def stanchion(
    cache_dir: Path, bundle: Bundle, base_image: BaseImage, codex: HarnessPackage,
    runsc: RunscInfo, tmp_path: Path,
) -> Iterator[Stanchion]:  # fmt: skip
    state = tmp_path / "state"
    state.mkdir()
    (state / "cache").symlink_to(cache_dir)
    command = Stanchion(tmp_path, state)
    yield command
    command("broker", "stop", "--state-dir", str(state))


SCRIPT = """
version = 1
[[turn]]
reasoning = "One file with one sentence is wanted."
[[turn.tool]]
name = "exec_command"
arguments = {cmd = "printf 'Hello from inside the sandbox.\\\\n' > /work/hello.txt"}
[[turn]]
reasoning = "It is there."
text = "The file is written."
"""


def test_hello_is_solved_and_the_receipts_audit(stanchion: Stanchion, tmp_path: Path) -> None:
    task = tmp_path / "hello"
    shutil.copytree(example_task("hello"), task)
    (task / "rehearsal.toml").write_text(SCRIPT)
    result = stanchion.run(
        task,
        *("--harness", "codex", "--model", "rehearsal/x"),
        *("--effort", "max", "--output-limit", "128000"),
    )

    assert result.outcome.reason is EndReason.COMPLETED, result.outcome.detail
    assert result.score == 1.0
    limit = result.limits.output_tokens
    assert (limit.declared, limit.written, limit.observed) == (128_000, None, (128_000,))
    assert limit.corrected is True
    effort = result.effort
    assert (effort.requested, effort.written, effort.observed) == ("max", "max", ("max",))
    assert result.reasoning_present is True
    (transcript,) = tmp_path.glob("stanchion-runs/*/attempts/*/transcript.jsonl")
    said = transcript.read_text()
    assert '"exec_command"' in said
    assert "The file is written." in said
    bundle = result.receipts.bundle
    assert bundle is not None
    demands = ("--require", "effort=max", "--require", "output_limit=128000")
    code, output, errors = stanchion("audit", bundle, *demands)
    assert code == 0, output.decode() + errors
