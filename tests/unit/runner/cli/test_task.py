from pathlib import Path

import pytest
from click.testing import CliRunner

from stanchion.runner.cli.task import task
from stanchion.runner.tasks.task import read_task


def test_a_new_task_is_written_and_named(tmp_path: Path) -> None:
    result = CliRunner().invoke(task, ["new", "mine", "--dir", str(tmp_path)])
    assert result.exit_code == 0, result.output
    assert f"stanchion task check {tmp_path}/mine" in result.output
    assert read_task(tmp_path / "mine").name == "mine"
    assert (tmp_path / "mine/tests/test.sh").stat().st_mode & 0o111


@pytest.mark.parametrize("name", ["../out", "", "-a", "a b"])
def test_a_name_that_is_no_folders_is_refused(tmp_path: Path, name: str) -> None:
    result = CliRunner().invoke(task, ["new", "--dir", str(tmp_path), "--", name])
    assert result.exit_code == 2
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_written_over(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    result = CliRunner().invoke(task, ["new", "mine", "--dir", str(tmp_path)])
    assert result.exit_code == 2
    assert "already" in result.output
    assert list((tmp_path / "mine").iterdir()) == []


def test_a_folder_that_is_none_is_a_usage_error(tmp_path: Path) -> None:
    result = CliRunner().invoke(task, ["check", str(tmp_path / "nothing")])
    assert result.exit_code == 2
