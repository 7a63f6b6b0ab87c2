import asyncio
import errno
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from stanchion.supervisor.sensors import inotify
from stanchion.supervisor.sensors.file_changes import FileChanges


class Calls:
    """Counts, and can be waited for."""

    def __init__(self) -> None:
        self.count = 0
        self._moved = asyncio.Event()

    def __call__(self) -> None:
        self.count += 1
        self._moved.set()

    async def until(self, count: int) -> None:
        async with asyncio.timeout(20):
            while self.count < count:
                self._moved.clear()
                await self._moved.wait()


@pytest.fixture
async def changes() -> AsyncIterator[FileChanges]:
    made = FileChanges(gap_s=0.001)
    yield made
    made.close()


async def test_a_followed_file_calls_back_and_another_does_not(
    changes: FileChanges, tmp_path: Path
) -> None:
    log, other = Calls(), Calls()
    assert changes.follow(tmp_path / "log", log)
    assert changes.follow(tmp_path / "other", other)
    (tmp_path / "neither").write_text("x")
    (tmp_path / "log").write_text("x")
    await log.until(1)
    (tmp_path / "other").write_text("x")
    await other.until(1)
    seen = log.count
    (tmp_path / "log").read_text()
    (tmp_path / "other").write_text("y")
    await other.until(other.count + 1)
    assert log.count == seen


async def test_much_writing_is_few_calls(tmp_path: Path) -> None:
    changes = FileChanges(gap_s=60)
    log = Calls()
    changes.follow(tmp_path / "log", log)
    (tmp_path / "log").write_text("x")
    await log.until(1)
    for number in range(200):
        (tmp_path / "log").write_text(str(number))
        await asyncio.sleep(0)
    assert log.count == 1
    changes.close()


async def test_a_folder_that_is_not_there_yet_is_asked_for_again(
    changes: FileChanges, tmp_path: Path
) -> None:
    path = tmp_path / "later" / "log"
    log = Calls()
    assert not changes.follow(path, log)
    path.parent.mkdir()
    assert changes.follow(path, log)
    path.write_text("x")
    await log.until(1)


@pytest.mark.parametrize("how", ["removed", "moved"])
async def test_a_folder_that_went_away_is_told_and_can_be_followed_again(
    changes: FileChanges, tmp_path: Path, how: str
) -> None:
    path = tmp_path / "folder" / "log"
    path.parent.mkdir()
    log = Calls()
    changes.follow(path, log)
    if how == "removed":
        path.parent.rmdir()
    else:
        path.parent.rename(tmp_path / "elsewhere")
    await log.until(1)
    assert not changes.follow(path, log)
    path.parent.mkdir()
    assert changes.follow(path, log)
    path.write_text("x")
    await log.until(2)


async def test_a_renewed_watch_is_of_the_folder_that_is_there_now(
    changes: FileChanges, tmp_path: Path
) -> None:
    log = Calls()
    changes.follow(tmp_path / "log", log)
    changes.renew(tmp_path / "log")
    changes.renew(tmp_path / "unknown" / "log")
    assert changes.follow(tmp_path / "log", log)
    (tmp_path / "log").write_text("x")
    await log.until(1)


async def test_a_link_is_never_followed_to_a_folder(changes: FileChanges, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path)
    assert not changes.follow(tmp_path / "link" / "log", Calls())


async def test_without_a_queue_nothing_can_be_followed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """As on a host whose users have used up their instances (inotify(7))."""

    def none_left() -> None:
        raise OSError(errno.EMFILE, "no")

    monkeypatch.setattr(inotify, "Inotify", none_left)
    changes = FileChanges()
    assert not changes.follow(tmp_path / "log", Calls())
    assert not changes.follow(tmp_path / "log", Calls())
    changes.renew(tmp_path / "log")
    changes.close()


async def test_too_much_at_once_calls_everybody(
    changes: FileChanges, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    overflow = inotify.Change(-1, inotify.OVERFLOW, "")
    monkeypatch.setattr(inotify.Inotify, "read", lambda _: [overflow])
    one, two = Calls(), Calls()
    changes.follow(tmp_path / "one", one)
    changes.follow(tmp_path / "two", two)
    (tmp_path / "three").write_text("x")
    await one.until(1)
    await two.until(1)


async def test_nobody_is_called_after_the_close(tmp_path: Path) -> None:
    changes = FileChanges(gap_s=0)
    log = Calls()
    changes.follow(tmp_path / "log", log)
    (tmp_path / "log").write_text("x")
    changes.close()
    changes.close()
    await asyncio.sleep(0)
    assert log.count == 0
