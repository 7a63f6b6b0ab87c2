"""The root command loads only what is called."""

import subprocess
import sys

import pytest
from click.testing import CliRunner

from stanchion.runner.cli.root import OWN, SHORT_HELP, root

HEAVY = ("aiohttp", "psutil", "rich", "cryptography", "stanchion.broker", "stanchion.images")


def test_every_command_is_listed_with_a_line_of_help() -> None:
    listed = CliRunner().invoke(root, ["--help"])

    assert listed.exit_code == 0
    for name in ("audit", "broker", "demo", "doctor", "images", "rehearse", "run", "show"):
        assert SHORT_HELP[name] in " ".join(listed.output.split())


@pytest.mark.parametrize("name", sorted(OWN))
def test_every_own_command_has_help(name: str) -> None:
    assert CliRunner().invoke(root, [name, "--help"]).exit_code == 0


def test_an_unknown_command_is_a_usage_error() -> None:
    assert CliRunner().invoke(root, ["nonsense"]).exit_code == 2


def test_help_imports_nothing_heavy() -> None:
    program = (
        "import sys\n"
        "from stanchion.runner.cli.root import root\n"
        "root(['--help'], standalone_mode=False)\n"
        f"print([name for name in {HEAVY!r} if name in sys.modules], file=sys.stderr)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=30, check=True
    )

    assert done.stderr == "[]\n"
