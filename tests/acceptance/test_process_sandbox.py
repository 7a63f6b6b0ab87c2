"""The real OpenCode without gVisor, as root and as an unprivileged user."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from fakes.other_user import end_broker, hello_task, other_user
from stanchion.images.bundle import Bundle
from stanchion.images.harness_store import HarnessPackage
from stanchion.protocol.codec import decode
from stanchion.protocol.result import AttemptResult
from stanchion.runner.sandbox.process_powers import find_powers

pytestmark = [pytest.mark.acceptance, pytest.mark.harness, pytest.mark.timeout(300)]

GRADES = (
    "grep -qx 'Hello from inside the sandbox.' /work/hello.txt && "
    "echo 1 > /logs/verifier/reward.txt"
)
OPTIONS = (
    *("--harness", "opencode", "--model", "rehearsal/scripted-1"),
    *("--effort", "max", "--sandbox", "process", "--json"),
)


def check(result: AttemptResult) -> None:
    """What both must have."""
    assert (result.outcome.reason, result.grade, result.score) == ("completed", "graded", 1.0)
    assert (result.sandbox.kind, result.sandbox.isolation) == ("process", "none")
    assert result.limits.output_tokens.observed == (128_000,)
    assert result.effort.observed == ("max",)
    assert result.reasoning_present
    assert result.receipts.exchanges == 2


@pytest.fixture(autouse=True)
def _pieces(bundle: Bundle, opencode: HarnessPackage) -> None:
    powers = find_powers()
    if powers.why_not is not None:
        pytest.skip(f"no attempt can run as a process here: {powers.why_not}")


def test_it_runs_for_this_user(cache_dir: Path, tmp_path: Path) -> None:
    state = tmp_path / "state"
    state.mkdir()
    (state / "cache").symlink_to(cache_dir)
    task = hello_task(tmp_path / "task", GRADES)
    try:
        done = subprocess.run(
            [sys.executable, "-m", "stanchion.runner", "run", task, *OPTIONS],
            cwd=tmp_path,
            env={**os.environ, "STANCHION_STATE": str(state)},
            capture_output=True,
            timeout=150,
            check=False,
        )
    finally:
        end_broker(state)
    assert done.returncode == 0, done.stderr.decode()
    check(decode(done.stdout, AttemptResult))


def test_it_runs_without_root(cache_dir: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can become another user; the test above ran as one")
    with tempfile.TemporaryDirectory(prefix="st") as folder, other_user(cache_dir) as user:
        if user is None:
            pytest.skip("no Python of this version can be run by another user here")
        task = hello_task(Path(folder), GRADES)
        done = user.stanchion("run", task, *OPTIONS)
        assert done.returncode == 0, done.stderr.decode()
        result = decode(done.stdout, AttemptResult)
        demanded = ("--require", "isolation=none", "--require", "effort=max")
        audit = user.stanchion("audit", user.home / "stanchion-runs", *demanded)
        assert audit.returncode == 0, audit.stdout.decode()
        refused = user.stanchion("run", task, *OPTIONS[:-3], "--json")
    check(result)
    assert result.sandbox.limits_enforced is False
    assert b"--sandbox process" in refused.stderr
