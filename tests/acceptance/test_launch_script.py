"""The how-to's shell script: the whole chain without `stanchion run`, on the real harness."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from fakes.rehearsal_process import rehearsing
from stanchion.images.bundle import Bundle
from stanchion.images.harness_store import HarnessPackage
from stanchion.images.rootfs import BaseImage
from stanchion.images.runsc import RunscInfo
from stanchion.runner.tasks.examples import example_task

pytestmark = [pytest.mark.acceptance, pytest.mark.sandbox, pytest.mark.timeout(300)]

SCRIPT = Path(__file__).parents[2] / "docs" / "how-to" / "launch.sh"
KEY = "sk-rehearsal-of-the-how-to"
OPTIONS = ("--harness", "opencode", "--model", "rehearsal/scripted-1", "--effort", "max")


@pytest.fixture
def environment(
    cache_dir: Path, bundle: Bundle, base_image: BaseImage, opencode: HarnessPackage,
    runsc: RunscInfo, tmp_path: Path,
) -> Iterator[dict[str, str]]:  # fmt: skip
    """A state folder of its own; its broker ends with the test."""
    for tool in ("bash", "curl", "jq"):
        if shutil.which(tool) is None:
            pytest.skip(f"the how-to's script needs {tool}")
    state = tmp_path / "state"
    state.mkdir()
    (state / "cache").symlink_to(cache_dir)
    folder = Path(sys.executable).parent
    yield {**os.environ, "STANCHION_STATE": str(state), "PATH": f"{folder}:{os.environ['PATH']}"}
    process = psutil.Process(int((state / "broker" / "broker.pid").read_text()))
    process.terminate()
    process.wait(30)


def stanchion(environment: dict[str, str], *words: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "stanchion.runner", *words],
        env=environment,
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )


def test_a_script_gets_the_same_as_the_command(environment: dict[str, str], tmp_path: Path) -> None:
    task, out = example_task("hello"), tmp_path / "scripted"
    with rehearsing(task / "rehearsal.toml", key=KEY) as port:
        told = {"REHEARSAL": json.dumps({"port": port, "key": KEY})}
        done = subprocess.run(
            [SCRIPT, task, out, *OPTIONS],
            env=environment | told,
            capture_output=True,
            text=True,
            timeout=200,
            check=False,
        )
    assert done.returncode == 0, done.stderr
    view: dict[str, Any] = json.loads((out / "view.json").read_text())
    command = stanchion(environment, "run", task, *OPTIONS, "--json", "-o", tmp_path / "own")
    assert command.returncode == 0, command.stderr
    own: dict[str, Any] = json.loads(command.stdout)

    assert view["outcome"]["reason"] == own["outcome"]["reason"] == "completed"
    assert view["graded"]["grade"] == own["grade"] == "graded"
    assert view["score"]["value"] == own["score"] == 1.0
    assert view["limits"] == own["limits"]["output_tokens"]
    assert view["effort"] == own["effort"]
    assert view["isolation"] == own["sandbox"]["isolation"] == "M2"
    assert not Path(view["directory"]).exists()

    audit = stanchion(
        environment, "audit", out / "receipts.bundle",
        *("--require", "effort=max", "--require", "output_limit=128000"),
        *("--require", "reasoning=present", "--require", "length_stops=0"),
    )  # fmt: skip
    assert audit.returncode == 0, audit.stdout
