"""Whole attempts without gVisor: real broker, keeper, supervisor and namespaces; no model."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from fakes.other_user import end_broker, hello_task, other_user
from stanchion.images.bundle import Bundle
from stanchion.protocol.codec import decode
from stanchion.protocol.result import AttemptResult
from stanchion.runner.sandbox.process_powers import find_powers

pytestmark = pytest.mark.timeout(180)

GRADES = "test -s /work/hello.txt && echo 1 > /logs/verifier/reward.txt"
PROCESS = ("--model", "rehearsal/scripted-1", "--sandbox", "process", "--json")


@pytest.fixture(autouse=True)
def _namespaces(bundle: Bundle) -> None:
    powers = find_powers()
    if powers.why_not is not None:
        pytest.skip(f"no attempt can run as a process here: {powers.why_not}")


@pytest.fixture
def state(tmp_path: Path, cache_dir: Path) -> Iterator[Path]:
    found = tmp_path / "state"
    found.mkdir()
    (found / "cache").symlink_to(cache_dir)
    yield found
    end_broker(found)


def run(task: Path, harness: str, state: Path, folder: Path) -> tuple[int, AttemptResult]:
    done = subprocess.run(
        [sys.executable, "-m", "stanchion.runner", "run", task, "--harness", harness, *PROCESS],
        cwd=folder,
        env={**os.environ, "STANCHION_STATE": str(state)},
        capture_output=True,
        timeout=120,
        check=False,
    )
    assert done.stdout, done.stderr.decode()
    return done.returncode, decode(done.stdout, AttemptResult)


def test_a_solution_is_graded_and_the_result_says_what_it_ran_in(
    state: Path, tmp_path: Path
) -> None:
    task = hello_task(tmp_path / "task", GRADES)
    code, result = run(task, "oracle", state, tmp_path)

    assert (code, result.outcome.reason, result.grade, result.score) == (
        *(0, "completed", "graded", 1.0),
    )
    assert (result.sandbox.kind, result.sandbox.isolation) == ("process", "none")
    assert result.sandbox.network == ("none" if find_powers().own_network else "host")
    assert result.image.verified is None
    assert result.why["image.verified"]
    assert list((state / "sandboxes").iterdir()) == []


def test_tests_that_cannot_run_here_withhold_the_score_and_are_no_zero(
    state: Path, tmp_path: Path
) -> None:
    task = hello_task(tmp_path / "task", "exit 3")
    code, result = run(task, "oracle", state, tmp_path)

    assert code == 1
    assert result.score is None
    assert result.grade != "graded"


def test_an_unprivileged_user_needs_no_root_and_is_told_what_is_not_enforced(
    cache_dir: Path,
) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can become another user; the test above ran as one")
    with tempfile.TemporaryDirectory(prefix="st") as folder, other_user(cache_dir) as user:
        if user is None:
            pytest.skip("no Python of this version can be run by another user here")
        task = hello_task(Path(folder), GRADES)
        done = user.stanchion("run", task, "--harness", "oracle", *PROCESS)
        assert done.returncode == 0, done.stderr.decode()
        result = decode(done.stdout, AttemptResult)
        assert user.stanchion("audit", user.home / "stanchion-runs").returncode == 0
        owner = Path(result.receipts.bundle or "").stat().st_uid

    assert (result.outcome.reason, result.score) == ("completed", 1.0)
    assert (result.sandbox.limits_enforced, result.sandbox.oom_kills) == (False, None)
    assert "root and a writable cgroup" in result.why["sandbox.limits_enforced"]
    assert owner == user.uid
