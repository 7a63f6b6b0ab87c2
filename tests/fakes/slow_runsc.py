"""A program in the place of runsc whose sandbox does nothing until it is told to end."""

import os
from dataclasses import dataclass
from pathlib import Path

SCRIPT = """#!/bin/sh
for word in "$@"; do
    case "$word" in
        run) echo $$ > {folder}/pid; exec timeout 120 cat {folder}/door ;;
        kill) kill -TERM "$(cat {folder}/pid)"; exit ;;
        delete) rm -f {folder}/*.state; exit ;;
    esac
done
exit 1
"""


@dataclass
class SlowRunsc:
    """It runs from the moment in which somebody stands at its door."""

    folder: Path

    @classmethod
    def make(cls, folder: Path) -> "SlowRunsc":
        folder.mkdir()
        os.mkfifo(folder / "door")
        made = cls(folder)
        made.path.write_text(SCRIPT.format(folder=folder))
        made.path.chmod(0o755)
        return made

    @property
    def path(self) -> Path:
        return self.folder / "runsc"

    def wait_until_it_runs(self) -> int:
        """Blocks; the descriptor, once closed, ends it with exit code 0."""
        return os.open(self.folder / "door", os.O_WRONLY)

    def pid(self) -> int:
        return int((self.folder / "pid").read_text())
