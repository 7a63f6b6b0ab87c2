"""The budgets of an attempt that this machine can check; figures go to results/*.json."""

import asyncio
import io
import json
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from bench import demo_ratio
from bench.budgets import ROUNDS, Budget, disturbed, quiet
from stanchion.images.bundle import Bundle

ROOT = Path(__file__).parents[2]
LAYER = Budget(
    "supervisor_layer", "the supervisor's layer, gzip", "MB (1,000,000 bytes)", 20.0, 14.0
)
START = Budget(
    "supervisor_start",
    "from the first line of the supervisor to the start of the harness, in gVisor",
    *("s", 0.5, 0.25),
)

pytestmark = [pytest.mark.bench, pytest.mark.timeout(900)]


def test_the_supervisor_layer_is_small(bundle: Bundle) -> None:
    """As it is appended to an image."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as layer:
        layer.add(bundle.path, arcname="opt/stanchion")
    LAYER.settle([packed.tell() / 1e6], load=None)


def test_the_supervisor_starts_the_harness_at_once(tmp_path: Path) -> None:
    load = disturbed()
    starts_s = [] if load else [one_start_s(tmp_path / str(number)) for number in range(ROUNDS)]
    START.settle(starts_s, load=load)
    quiet()


def one_start_s(out: Path) -> float:
    """Of a real run with the real OpenCode."""
    done = subprocess.run(
        [
            *(sys.executable, "-m", "stanchion.runner", "run"),
            *(str(ROOT / "examples" / "tasks" / "hello"), "--harness", "opencode"),
            *("--model", "rehearsal/bench", "--json", "-o", str(out)),
        ],
        capture_output=True,
        timeout=200,
        check=True,
    )
    return float(json.loads(done.stdout)["stages"]["supervisor_start_s"])


def test_custody_costs_little(capsys: pytest.CaptureFixture[str]) -> None:
    quiet()
    with capsys.disabled():
        assert asyncio.run(demo_ratio.main()) == 0
