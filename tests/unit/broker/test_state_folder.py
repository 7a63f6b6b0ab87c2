import os
import socket
from pathlib import Path

import pytest

from stanchion.broker.client.paths import StatePaths
from stanchion.broker.state_folder import bind_admin, prepare
from stanchion.protocol.refusal import RefusedError


def refused(root: Path) -> RefusedError:
    with pytest.raises(RefusedError) as error:
        prepare(StatePaths(root))
    assert "\n" not in str(error.value)
    return error.value


def test_the_folder_is_made_for_its_owner_alone(tmp_path: Path) -> None:
    paths = StatePaths(tmp_path / "a" / "b")
    prepare(paths)
    prepare(paths)
    assert paths.broker_dir.stat().st_mode & 0o777 == 0o700
    assert list(paths.broker_dir.iterdir()) == []


def test_a_path_that_no_socket_can_have_is_refused_before_anything_is_made(tmp_path: Path) -> None:
    root = tmp_path / ("x" * 120)
    error = refused(root)
    assert error.refusal.id == "socket_path_long"
    assert "107 bytes" in str(error)
    assert not root.exists()


def test_a_folder_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    error = refused(tmp_path / "file" / "state")
    assert error.refusal.id == "state_unwritable"
    assert "Not a directory" in str(error)
    assert "--state-dir" in error.refusal.remedy


@pytest.mark.skipif(not Path("/sys/kernel").is_dir(), reason="needs a sysfs")
def test_a_file_system_that_takes_no_files_is_refused() -> None:
    assert refused(Path("/sys/kernel/stanchion")).refusal.id == "state_unwritable"


def test_the_socket_of_a_broker_that_is_gone_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "s"
    gone = socket.socket(socket.AF_UNIX)
    gone.bind(os.fspath(path))
    gone.close()
    with bind_admin(path) as server:
        assert server.getsockname() == os.fspath(path)
        assert path.stat().st_mode & 0o777 == 0o600


def test_what_is_no_socket_and_cannot_be_removed_is_named(tmp_path: Path) -> None:
    (tmp_path / "s").mkdir()
    with pytest.raises(RefusedError) as error:
        bind_admin(tmp_path / "s")
    assert error.value.refusal.id == "admin_socket_taken"
    assert str(tmp_path / "s") in str(error.value)
