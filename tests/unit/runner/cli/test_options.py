"""Options that several commands share."""

from pathlib import Path

from stanchion.runner.cli.options import state_paths


def test_the_named_state_folder_is_meant(tmp_path: Path) -> None:
    assert state_paths(str(tmp_path)).root == tmp_path
