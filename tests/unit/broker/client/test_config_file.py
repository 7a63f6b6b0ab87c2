"""Which stanchion.toml is meant."""

import hashlib
from pathlib import Path

import pytest

from stanchion.broker.client.config_file import find_config
from stanchion.protocol.refusal import RefusedError


@pytest.fixture
def places(tmp_path: Path) -> dict[str, Path]:
    """Every place where one may lie, nearest first."""
    found = {
        "option": tmp_path / "named.toml",
        "variable": tmp_path / "variable.toml",
        "here": tmp_path / "project" / "deep" / "stanchion.toml",
        "above": tmp_path / "project" / "stanchion.toml",
        "user": tmp_path / "home" / ".config" / "stanchion" / "stanchion.toml",
    }
    for name, path in found.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"# {name}\n")
    return found


def test_the_nearest_place_wins(places: dict[str, Path], tmp_path: Path) -> None:
    option: str | None = str(places["option"])
    environment = {"STANCHION_CONFIG": str(places["variable"])}
    for name, path in places.items():
        found = find_config(
            option, environment, folder=tmp_path / "project" / "deep", home=tmp_path / "home"
        )
        assert found is not None
        assert found.path == path
        assert found.sha256 == hashlib.sha256(f"# {name}\n".encode()).hexdigest()
        path.unlink()
        if name == "option":
            option = None
        elif name == "variable":
            environment = {}
    assert find_config(None, {}, folder=tmp_path / "project", home=tmp_path / "home") is None


@pytest.mark.parametrize("option", ["missing.toml", None])
def test_a_named_file_that_cannot_be_read_is_an_error(option: str | None, tmp_path: Path) -> None:
    environment = {} if option else {"STANCHION_CONFIG": "missing.toml"}
    with pytest.raises(RefusedError, match=r"missing\.toml"):
        find_config(option, environment, folder=tmp_path, home=tmp_path)
