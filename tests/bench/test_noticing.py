"""How soon a saved step is noticed in a real sandbox, and what noticing costs: told against polled.

Figures go to results/noticing.json; the decision that rests on them is docs/decisions/0003.
"""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from bench.budgets import keep
from fakes.runsc_box import lay_out_box
from stanchion.images.bundle import Bundle
from stanchion.images.rootfs import BaseImage
from stanchion.images.runsc import RunscInfo

PROGRAM = Path(__file__).parents[1] / "fakes" / "watching_pid1.py"
WAYS = ("nothing", "told", "polled")
IDLE_S, SLOW_ROWS, FAST_ROWS = 60, 40, 1500
LAG_BAR_MS = 100.0

pytestmark = [pytest.mark.bench, pytest.mark.timeout(600)]


def test_a_saved_step_is_noticed_at_once(
    runsc: RunscInfo, bundle: Bundle, base_image: BaseImage, tmp_path: Path
) -> None:
    figures: dict[str, Any] = {}
    for way in WAYS:
        one = {"way": way, "folder": "/root/log", "idle_s": IDLE_S}
        amounts = {"slow_rows": SLOW_ROWS, "fast_rows": FAST_ROWS}
        (tmp_path / way).mkdir()
        command = lay_out_box(
            PROGRAM,
            {"rounds.json": json.dumps([one | amounts]).encode()},
            runsc=runsc.path,
            bundle=bundle.path,
            rootfs=base_image.path,
            folder=tmp_path / way,
        )
        figures[way] = {line.pop("ends", "process"): line for line in _ended(command)}
    keep("noticing", figures)
    assert figures["told"]["slow"]["lags_ms"]["median"] <= LAG_BAR_MS
    assert (
        figures["told"]["slow"]["lags_ms"]["median"]
        < figures["polled"]["slow"]["lags_ms"]["median"]
    )


def _ended(command: list[str | Path]) -> Iterator[dict[str, Any]]:
    """What each phase said at its end, with the processor time of the whole sandbox."""
    with subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as runsc:
        assert runsc.stdout is not None
        began_ms = 0
        for text in runsc.stdout:
            line = json.loads(text)
            if "begins" in line:
                began_ms = _cpu_ms(runsc.pid)
            elif "ends" in line:
                yield line | {"sandbox_cpu_ms": _cpu_ms(runsc.pid) - began_ms}
            else:
                yield line
    assert runsc.returncode == 0


def _cpu_ms(pid: int) -> int:
    """Of the runtime's processes, the sandbox's kernel among them."""
    root = psutil.Process(pid)
    used = [process.cpu_times() for process in (root, *root.children(recursive=True))]
    return round(sum(times.user + times.system for times in used) * 1000)
