"""The budgets that this machine can check, each with its bar; figures go to results/*.json.

Times are judged only where the load allows it (below 2 on this kind of machine); otherwise the test
says `not measured: load` and skips.
"""

import asyncio
import io
import json
import os
import statistics
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from bench import demo_ratio
from stanchion.images.bundle import Bundle

ROOT = Path(__file__).parents[2]
MAX_LOAD = 2.0
LAYER_BAR_BYTES = 20_000_000
SUPERVISOR_START_BAR_S = 0.5
ROUNDS = 3

pytestmark = [pytest.mark.bench, pytest.mark.timeout(900)]


def keep(name: str, figures: dict[str, object]) -> None:
    """Beside the load of the moment."""
    figures = {**figures, "load": round(os.getloadavg()[0], 2), "cores": os.cpu_count()}
    demo_ratio.RESULTS.mkdir(exist_ok=True)
    (demo_ratio.RESULTS / f"{name}.json").write_text(json.dumps(figures, indent=1) + "\n")
    sys.stdout.write(f"{name}: {json.dumps(figures)}\n")


def quiet() -> None:
    load = os.getloadavg()[0]
    if load >= MAX_LOAD:
        pytest.skip(f"not measured: load {load:.1f}")


def test_the_supervisor_layer_is_small(bundle: Bundle) -> None:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as layer:
        layer.add(bundle.path, arcname="opt/stanchion")
    size_bytes = packed.tell()
    keep("supervisor_layer", {"gzip_bytes": size_bytes, "bar_bytes": LAYER_BAR_BYTES})
    assert size_bytes <= LAYER_BAR_BYTES


def test_the_supervisor_starts_the_harness_at_once(tmp_path: Path) -> None:
    quiet()
    starts_s = []
    for number in range(ROUNDS):
        done = subprocess.run(
            [
                *(sys.executable, "-m", "stanchion.runner", "run"),
                *(str(ROOT / "examples" / "tasks" / "hello"), "--harness", "opencode"),
                *("--model", "rehearsal/bench", "--json", "-o", str(tmp_path / str(number))),
            ],
            capture_output=True,
            timeout=200,
            check=True,
        )
        starts_s.append(json.loads(done.stdout)["stages"]["supervisor_start_s"])
    figures: dict[str, object] = {"starts_s": starts_s, "bar_s": SUPERVISOR_START_BAR_S}
    keep("supervisor_start", figures)
    assert statistics.median(starts_s) <= SUPERVISOR_START_BAR_S


def test_custody_costs_little(capsys: pytest.CaptureFixture[str]) -> None:
    quiet()
    with capsys.disabled():
        assert asyncio.run(demo_ratio.main()) == 0
