import stat
import tempfile
from pathlib import Path

import pytest

from stanchion.broker.attempts.listeners import Listeners, bind_private, make_directory
from stanchion.protocol.refusal import RefusedError


def test_a_directory_is_fresh_and_private(tmp_path: Path) -> None:
    first, second = make_directory(tmp_path / "run"), make_directory(tmp_path / "run")
    assert first != second
    assert len(first.name) == 8
    assert stat.S_IMODE(first.stat().st_mode) == 0o700


def test_a_runtime_folder_that_others_can_write_to_is_refused(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run").chmod(0o777)
    with pytest.raises(RefusedError, match="nobody else"):
        make_directory(tmp_path / "run")
    (tmp_path / "link").symlink_to(tmp_path)
    with pytest.raises(RefusedError):
        make_directory(tmp_path / "link")


def test_a_socket_is_the_owners_alone_and_never_reused() -> None:
    with tempfile.TemporaryDirectory(prefix="st") as folder:
        path = Path(folder) / "a.sock"
        with bind_private(path):
            assert stat.S_IMODE(path.stat().st_mode) == 0o600
            with pytest.raises(OSError, match="in use"):
                bind_private(path)


def test_a_path_beyond_the_kernels_limit_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RefusedError, match="107"):
        bind_private(tmp_path / ("x" * 107))


def test_an_attempt_that_never_came_to_be_leaves_nothing(tmp_path: Path) -> None:
    directory = make_directory(tmp_path)
    (directory / "model.sock").touch()
    (directory / "launch.json").touch()
    Listeners(directory).remove_directory()
    assert not directory.exists()
