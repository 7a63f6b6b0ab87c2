"""The how-to's configuration template is what the runner itself would write."""

import json
from pathlib import Path

from stanchion.images.bundle import COMMAND
from stanchion.runner.sandbox.oci import (
    ATTEMPT_DIR,
    BUNDLE_DIR,
    HARNESS_DIR,
    Bind,
    Box,
    config_json,
)

HOW_TO = Path(__file__).parents[4] / "docs" / "how-to"
MOST_LINES = 40


def test_the_template_filled_in_is_the_runners_own_configuration() -> None:
    box = Box(
        rootfs="@ROOTFS@",
        binds=(
            Bind("@BUNDLE@", BUNDLE_DIR),
            Bind("@PACKAGE@", f"{HARNESS_DIR}/@HARNESS@"),
            Bind("@ATTEMPT@", ATTEMPT_DIR),
        ),
        arguments=COMMAND,
        memory_mb=2048,
        cgroups_path=None,
    )
    template = json.loads((HOW_TO / "config.json.template").read_text())

    assert template == json.loads(config_json(box))


def test_the_script_stays_short_enough_to_read() -> None:
    assert len((HOW_TO / "launch.sh").read_text().splitlines()) <= MOST_LINES
