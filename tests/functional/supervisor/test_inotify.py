import os
import struct
from collections.abc import Iterator
from pathlib import Path

import pytest

from stanchion.supervisor.regular_files import open_folder
from stanchion.supervisor.sensors import inotify
from stanchion.supervisor.sensors.inotify import Change, Inotify


@pytest.fixture
def queue() -> Iterator[Inotify]:
    made = Inotify()
    yield made
    made.close()


def watch(queue: Inotify, folder: Path) -> int:
    descriptor = open_folder(folder)
    try:
        return queue.watch(descriptor)
    finally:
        os.close(descriptor)


def kinds(changes: list[Change], name: str) -> int:
    """Everything that was told about one name."""
    found = 0
    for change in changes:
        if change.name == name:
            found |= change.kind
    return found


def test_what_is_written_is_told_and_what_is_read_is_not(queue: Inotify, tmp_path: Path) -> None:
    number = watch(queue, tmp_path)
    assert queue.read() == []
    (tmp_path / "log").write_text("a")
    told = queue.read()
    assert {change.watch for change in told} == {number}
    assert kinds(told, "log") & (inotify.CREATE | inotify.MODIFY)
    assert (tmp_path / "log").read_text() == "a"
    assert list(tmp_path.iterdir())
    assert queue.read() == []


def test_moving_and_removing_are_told(queue: Inotify, tmp_path: Path) -> None:
    watch(queue, tmp_path)
    (tmp_path / "a").write_text("")
    (tmp_path / "a").rename(tmp_path / "b")
    (tmp_path / "b").unlink()
    told = queue.read()
    assert kinds(told, "a") & inotify.MOVED_FROM
    assert kinds(told, "b") & (inotify.MOVED_TO | inotify.DELETE)


def test_the_end_of_a_watch_is_told(queue: Inotify, tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    number = watch(queue, folder)
    folder.rmdir()
    assert Change(number, inotify.IGNORED, "") in queue.read()
    queue.forget(number)  # is gone already


def test_a_forgotten_folder_is_quiet(queue: Inotify, tmp_path: Path) -> None:
    queue.forget(watch(queue, tmp_path))
    (tmp_path / "x").write_text("")
    assert [change.kind for change in queue.read()] == [inotify.IGNORED]


def test_only_folders_can_be_watched(queue: Inotify, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    descriptor = os.open(tmp_path / "file", os.O_PATH)
    with pytest.raises(OSError, match="inotify_add_watch: Not a directory"):
        queue.watch(descriptor)
    os.close(descriptor)


def test_records_are_parsed_with_and_without_names() -> None:
    named = struct.pack("iIII", 7, inotify.MODIFY, 0, 16) + b"opencode.db-wal\0"
    bare = struct.pack("iIII", -1, inotify.OVERFLOW, 0, 0)
    odd = struct.pack("iIII", 7, inotify.CREATE, 0, 8) + b"\xff\0\0\0\0\0\0\0"
    assert inotify.parse(named + bare + odd + b"torn") == [
        Change(7, inotify.MODIFY, "opencode.db-wal"),
        Change(-1, inotify.OVERFLOW, ""),
        Change(7, inotify.CREATE, os.fsdecode(b"\xff")),
    ]
