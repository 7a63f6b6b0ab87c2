"""Every command of the guide exists; those that need no provider's answer are run as they stand."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from fakes.command_words import resolves
from stanchion.broker.config import read_config

GUIDE = Path(__file__).parents[4] / "docs" / "how-to" / "use-your-own-key.md"
BLOCKS = re.findall(r"```(\w*)\n(.*?)```", GUIDE.read_text(), re.DOTALL)
COMMANDS = [
    line
    for kind, block in BLOCKS
    if not kind
    for line in block.splitlines()
    if line.startswith(("stanchion ", "pass show"))
]
RUN_HERE = ("stanchion init", "stanchion limits")


def test_the_guide_has_its_commands() -> None:
    assert len(COMMANDS) == 9


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_of_the_guide_exists(command: str) -> None:
    assert resolves(command.rpartition("| ")[2])


def stanchion(folder: Path, command: str, text: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "stanchion.runner", *shlex.split(command)[1:]],
        cwd=folder, input=text, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip


def test_the_guide_leads_to_an_account_that_is_fine(tmp_path: Path) -> None:
    for command in COMMANDS:
        if command.startswith(RUN_HERE):
            done = stanchion(tmp_path, command)
            assert done.returncode == 0, done.stderr
    stored = stanchion(tmp_path, "stanchion key set evals/anthropic", "sk-x-0123456789\n")
    assert stored.returncode == 0, stored.stderr
    checked = stanchion(tmp_path, "stanchion broker check")
    assert checked.returncode == 0, checked.stdout
    assert "file:keys/evals-anthropic, mode 0600" in checked.stdout


def test_the_settings_of_the_guide_are_valid() -> None:
    for kind, block in BLOCKS:
        if kind == "toml":
            read_config(f"version = 1\n{block}".encode())
