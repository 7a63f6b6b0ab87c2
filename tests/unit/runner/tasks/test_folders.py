from pathlib import Path

import pytest

from stanchion.protocol.refusal import RefusedError
from stanchion.runner.tasks.folders import task_folders


def test_files_between_the_tasks_are_passed_over(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "README.md").touch()
    (tmp_path / "z").mkdir()
    folders, files = task_folders(sorted(tmp_path.iterdir()))
    assert [path.name for path in folders] == ["a", "z"]
    assert [path.name for path in files] == ["README.md"]


def test_a_file_alone_is_refused(tmp_path: Path) -> None:
    (tmp_path / "task.toml").touch()
    with pytest.raises(RefusedError, match="not a file"):
        task_folders([tmp_path / "task.toml"])
