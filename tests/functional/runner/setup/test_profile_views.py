"""The broker's own reading of a file, asked for in a short process."""

from pathlib import Path

import pytest

from stanchion.protocol.refusal import RefusedError
from stanchion.runner.setup.profile_views import profile_views


def test_profiles_of_a_file_without_its_keys(tmp_path: Path) -> None:
    file = tmp_path / "stanchion.toml"
    file.write_text(
        'version = 1\n[profiles.evals.accounts.a]\napi = "openai_chat"\n'
        'base_url = "https://h/v1"\ncredential = "file:absent"\n'
    )
    assert {view.name for view in profile_views(file)} == {"evals", "rehearsal"}
    assert [view.name for view in profile_views(None)] == ["rehearsal"]


def test_a_broken_file_is_refused_with_its_place(tmp_path: Path) -> None:
    file = tmp_path / "stanchion.toml"
    file.write_text("version = 1\nx = \n")
    with pytest.raises(RefusedError, match="line 2"):
        profile_views(file)
