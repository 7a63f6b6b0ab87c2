import os
import shutil
from pathlib import Path

import pytest

from stanchion.images import entry
from stanchion.images.errors import IntegrityError


def build(root: Path) -> entry.Built:
    (root / "file").write_text("content")
    return entry.Built(notes={"from": "test"})


def never(_root: Path) -> entry.Built:
    raise AssertionError("built again")


def test_a_piece_is_built_once_and_then_found(tmp_path: Path) -> None:
    first = entry.ensure(tmp_path / "shelf/piece", build)
    second = entry.ensure(tmp_path / "shelf/piece", never)

    assert not first.cached
    assert second.cached
    assert (second.path, second.digest, second.size_bytes) == (first.path, first.digest, 7)
    assert second.notes == {"from": "test"}


def test_a_builder_may_name_the_public_digest(tmp_path: Path) -> None:
    made = entry.ensure(tmp_path / "piece", lambda _root: entry.Built(digest="named"))

    assert made.digest == "named"


def test_a_failed_build_leaves_nothing_and_can_be_repeated(tmp_path: Path) -> None:
    def fail(root: Path) -> entry.Built:
        (root / "half").touch()
        raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        entry.ensure(tmp_path / "piece", fail)

    assert [path.name for path in tmp_path.iterdir()] == [".piece.lock"]
    assert not entry.ensure(tmp_path / "piece", build).cached


def test_what_a_dead_process_left_is_cleared_away(tmp_path: Path) -> None:
    leftover = tmp_path / ".piece.building/tree"
    leftover.mkdir(parents=True)
    (leftover / "half").touch()

    made = entry.ensure(tmp_path / "piece", build)

    assert [path.name for path in made.path.iterdir()] == ["file"]
    assert not leftover.exists()


def test_a_changed_file_is_refused_with_the_command_that_removes_it(tmp_path: Path) -> None:
    made = entry.ensure(tmp_path / "piece", build)
    (made.path / "file").write_text("CONTENT")

    with pytest.raises(IntegrityError, match="was changed after it was stored") as refused:
        entry.ensure(tmp_path / "piece", never)

    assert refused.value.fix == f"rm -r {tmp_path / 'piece'}"


def test_a_removed_or_added_file_is_refused(tmp_path: Path) -> None:
    made = entry.ensure(tmp_path / "piece", build)
    (made.path / "more").touch()
    with pytest.raises(IntegrityError):
        entry.load(tmp_path / "piece")

    shutil.rmtree(made.path)
    with pytest.raises(IntegrityError):
        entry.load(tmp_path / "piece")


def test_a_copied_cache_is_read_once_and_then_trusted_by_its_stamp(tmp_path: Path) -> None:
    made = entry.ensure(tmp_path / "piece", build)
    shutil.copytree(tmp_path / "piece", tmp_path / "copy")
    before = (tmp_path / "copy/record.json").read_bytes()

    copied = entry.load(tmp_path / "copy")

    assert copied is not None
    assert copied.digest == made.digest
    assert (tmp_path / "copy/record.json").read_bytes() != before


def test_an_unreadable_record_is_refused(tmp_path: Path) -> None:
    entry.ensure(tmp_path / "piece", build)
    (tmp_path / "piece/record.json").write_text("{")

    with pytest.raises(IntegrityError, match="its record cannot be read"):
        entry.load(tmp_path / "piece")


def test_a_missing_piece_is_none(tmp_path: Path) -> None:
    assert entry.load(tmp_path / "piece") is None


def test_write_atomically_replaces_and_leaves_no_temporary_file(tmp_path: Path) -> None:
    entry.write_atomically(tmp_path / "file", b"one")
    entry.write_atomically(tmp_path / "file", b"two")

    assert (tmp_path / "file").read_bytes() == b"two"
    assert len(list(tmp_path.iterdir())) == 1


def test_only_pieces_that_nobody_asked_for_in_a_long_time_are_forgotten(tmp_path: Path) -> None:
    for name in ("bundle-old", "bundle-used", "runtime-old"):
        entry.ensure(tmp_path / name, build)
        entry.mark_used(tmp_path / name, now_s=1000)
    entry.mark_used(tmp_path / "bundle-used", now_s=1500)

    forgotten = entry.forget_unused(tmp_path, "bundle-*", unused_for_s=600, now_s=2000)

    assert forgotten == [tmp_path / "bundle-old"]
    assert entry.load(tmp_path / "bundle-old") is None
    assert entry.load(tmp_path / "bundle-used") is not None
    assert entry.load(tmp_path / "runtime-old") is not None


def test_a_cache_that_cannot_be_written_is_still_usable(tmp_path: Path) -> None:
    entry.mark_used(tmp_path / "absent", now_s=1000)

    assert not (tmp_path / "absent").exists()


def test_a_piece_can_be_read_by_others_whoever_makes_it(tmp_path: Path) -> None:
    def build(root: Path) -> entry.Built:
        (root / "folder").mkdir()
        (root / "folder" / "file").write_text("content")
        return entry.Built()

    before = os.umask(0o077)
    try:
        made = entry.ensure(tmp_path / "shelf" / "piece", build)
        assert os.umask(0o077) == 0o077
    finally:
        os.umask(before)

    assert (made.path / "folder").stat().st_mode & 0o777 == 0o755
    assert (made.path / "folder" / "file").stat().st_mode & 0o777 == 0o644
    assert (made.path.parent / "record.json").stat().st_mode & 0o777 == 0o644
    assert made.path.parent.stat().st_mode & 0o777 == 0o755
