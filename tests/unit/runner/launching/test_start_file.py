"""Who answers for an attempt."""

import os
import subprocess
import sys
from pathlib import Path

from stanchion.runner.launching.start_file import StartFile, read_start, write_start


def start(folder: Path, pid: int) -> None:
    run = "7f3a90c41b22"
    write_start(
        folder,
        StartFile.of(pid, task="hello", run=run, attempt=4, retry_of=1, sandbox_id="ab"),
    )


def test_a_keeper_that_lives_answers_for_its_attempt(tmp_path: Path) -> None:
    start(tmp_path, os.getpid())
    found = read_start(tmp_path)

    assert found is not None
    assert (found.task, found.attempt, found.retry_of) == ("hello", 4, 1)
    assert found.keeper_lives


def test_one_that_is_gone_does_not_even_if_its_pid_is_used_again(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        start(tmp_path, process.pid)
    found = read_start(tmp_path)

    assert found is not None
    assert not found.keeper_lives
    start(tmp_path, process.pid)
    again = read_start(tmp_path)
    assert again is not None
    assert not again.keeper_lives


def test_a_folder_that_nobody_began_has_none(tmp_path: Path) -> None:
    assert read_start(tmp_path) is None
    (tmp_path / "start.json").write_text("{")
    assert read_start(tmp_path) is None
