"""Each command of the tutorial parses, as the reader types it."""

import os
import re
import shlex
import shutil
from pathlib import Path

import click
import pytest

from stanchion.runner.cli.root import root

DOCS = Path(__file__).parents[3] / "docs"
PAGES = [
    DOCS / "tutorial" / "first-hour.md",
    DOCS / "how-to" / "poll-vitals.md",
    DOCS / "how-to" / "run-a-program-of-your-own.md",
]
_BLOCK = re.compile(r"^```\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_CONTINUED = re.compile(r"\\\n\s*")


def commands(page: Path) -> list[str]:
    """What follows a `$` in the page's plain blocks."""
    text = "\n".join(_BLOCK.findall(page.read_text()))
    lines = _CONTINUED.sub("", text).splitlines()
    return [line.removeprefix("$ ") for line in lines if line.startswith("$ ")]


STANCHION = [
    command for page in PAGES for command in commands(page) if command.startswith("stanchion ")
]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in which the paths that the tutorial names exist."""
    monkeypatch.chdir(tmp_path)
    shutil.copytree(DOCS.parent / "examples" / "tasks" / "hello", tmp_path / "sum-numbers")
    (tmp_path / "examples").symlink_to(DOCS.parent / "examples")
    (tmp_path / "out").mkdir()
    return tmp_path


@pytest.mark.parametrize("line", STANCHION)
def test_the_command_parses(line: str, here: Path) -> None:
    command: click.Command = root
    context = click.Context(root, info_name="stanchion")
    words = shlex.split(line, comments=True)[1:]
    while isinstance(command, click.Group):
        name, words = words[0], words[1:]
        found = command.get_command(context, name)
        assert found is not None, name
        command = found
    command.make_context(command.name, words, parent=context)


def test_there_is_something_to_check() -> None:
    assert len(STANCHION) >= 12
    assert os.access(DOCS / "how-to" / "poll_vitals.py", os.R_OK)
    assert len((DOCS / "how-to" / "poll_vitals.py").read_text().splitlines()) <= 40
