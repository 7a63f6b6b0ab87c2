from pathlib import Path

import pytest

from stanchion.broker.upkeep.configured import find
from stanchion.protocol.refusal import RefusedError


def test_a_named_file_is_read(tmp_path: Path) -> None:
    (tmp_path / "x.toml").write_text("version = 1\n[profiles.evals]\n")
    found = find(str(tmp_path / "x.toml"))
    assert found.path == tmp_path / "x.toml"
    assert "evals" in found.config.profiles


def test_one_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RefusedError, match=r"x\.toml"):
        find(str(tmp_path / "x.toml"))
