import os
from pathlib import Path

import pytest

from stanchion.supervisor.regular_files import NotRegularError, open_regular, read_regular


def test_a_plain_file_is_read(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"content")
    assert read_regular(tmp_path / "a", 7) == b"content"


def test_a_file_over_the_bound_is_not(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"content")
    assert read_regular(tmp_path / "a", 6) is None


def test_nothing_there_is_told_from_something_else(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        open_regular(tmp_path / "a")
    with pytest.raises(FileNotFoundError):
        open_regular(tmp_path / "folder" / "a")


@pytest.mark.parametrize("kind", ["link", "dangling", "folder", "pipe", "behind a link", "socket"])
def test_whatever_else_an_agent_puts_there_is_refused_and_never_waited_for(
    tmp_path: Path, kind: str
) -> None:
    secret = tmp_path / "secret"
    secret.mkdir()
    (secret / "token").write_text("t")
    path = tmp_path / "a"
    match kind:
        case "link":
            path.symlink_to(secret / "token")
        case "dangling":
            path.symlink_to("/nowhere")
        case "folder":
            path.mkdir()
        case "pipe":
            os.mkfifo(path)
        case "behind a link":
            path.symlink_to(secret)
            path = path / "token"
        case "socket":
            os.mknod(path, 0o140600)
    with pytest.raises(NotRegularError):
        open_regular(path)


@pytest.mark.parametrize("path", ["relative", "/tmp/../etc/passwd", "/"])
def test_only_absolute_paths_without_steps_back(path: str) -> None:
    with pytest.raises(OSError, match="is not"):
        open_regular(Path(path))


def test_no_descriptor_is_left_open(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path)
    before = len(list(Path("/proc/self/fd").iterdir()))
    for path in (tmp_path / "none", tmp_path / "link" / "x", tmp_path):
        with pytest.raises(OSError, match=r"No such file|not"):
            open_regular(path)
    assert len(list(Path("/proc/self/fd").iterdir())) == before
