"""In a real sandbox the kernel tells of saved rows, so that nobody has to look for them."""

import json
import subprocess
from pathlib import Path

import pytest

from fakes.runsc_box import lay_out_box
from stanchion.images.bundle import Bundle
from stanchion.images.rootfs import BaseImage
from stanchion.images.runsc import RunscInfo

pytestmark = [pytest.mark.sandbox, pytest.mark.timeout(200)]

PROGRAM = Path(__file__).parents[2] / "fakes" / "watching_pid1.py"
HOUR_S = 3600
ROWS = 8
ONLY_TOLD = {"idle_s": HOUR_S, "told_s": HOUR_S, "backstop_s": HOUR_S}
"""Whoever is not told waits for an hour."""
PLACES = ("/var/lib/harness", "/tmp/harness", "/dev/shm/harness")


@pytest.fixture(scope="module")
def said(
    runsc: RunscInfo,
    bundle: Bundle,
    base_image: BaseImage,
    tmp_path_factory: pytest.TempPathFactory,
) -> list[dict[str, object]]:
    rounds = [
        {
            "way": "told",
            "folder": place,
            "idle_s": 0.5,
            "slow_rows": ROWS,
            "fast_rows": ROWS,
            "rhythm": ONLY_TOLD,
        }
        for place in PLACES
    ]
    command = lay_out_box(
        PROGRAM,
        {"rounds.json": json.dumps(rounds).encode()},
        runsc=runsc.path,
        bundle=bundle.path,
        rootfs=base_image.path,
        folder=tmp_path_factory.mktemp("box"),
    )
    done = subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=150,
        check=False,
        start_new_session=True,
    )
    assert done.returncode == 0, done.stderr + done.stdout[-2000:]
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.mark.parametrize("phase", ["slow", "fast"])
def test_rows_are_told_on_the_overlay_and_on_both_memory_file_systems(
    said: list[dict[str, object]], phase: str
) -> None:
    assert [line["rows"] for line in said if line.get("ends") == phase] == [ROWS] * len(PLACES)
    assert [line["errors"] for line in said if "round" in line] == [[]] * len(PLACES)


def test_looking_brings_no_further_look(said: list[dict[str, object]]) -> None:
    """For a row: one at once, one more where its commit shows late, and one a moment later."""
    looks = {(line["ends"], int(str(line["looks"]))) for line in said if "ends" in line}
    assert max(count for phase, count in looks if phase == "idle") <= 3
    assert max(count for phase, count in looks if phase == "slow") <= 3 * (ROWS + 1)
