import os
from pathlib import Path

import pytest

from stanchion.harness_adapters.base import LinesStore
from stanchion.supervisor.sensors import lines_tail
from stanchion.supervisor.sensors.lines_tail import LinesTail
from stanchion.supervisor.sensors.store import ROWS_A_LOOK


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path.resolve() / "sessions"


@pytest.fixture
def tail(folder: Path) -> LinesTail:
    return LinesTail(LinesStore(folder=str(folder), depth=3))


def write(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as file:
        file.write(text)
    return path


def test_before_the_harness_there_is_nothing_to_read_or_to_watch(
    folder: Path, tail: LinesTail
) -> None:
    assert (tail.stamp(), tail.look()) == (None, [])
    assert not any(path.parent.exists() for path in tail.files)
    path = write(folder, "2026/12/01/a.jsonl", "one\n")
    assert tail.look() == [("2026/12/01/a.jsonl", "one")]
    assert tail.files == (path,)
    tail.close()


def test_a_line_is_a_row_once_it_is_whole_and_once_only(folder: Path, tail: LinesTail) -> None:
    write(folder, "a.jsonl", "one\ntw")
    assert tail.look() == [("a.jsonl", "one")]
    before = tail.stamp()
    write(folder, "a.jsonl", "o\nthree")
    assert tail.stamp() != before
    assert tail.look() == [("a.jsonl", "two")]
    assert tail.look() == []
    assert tail.look(writer_gone=True) == [("a.jsonl", "three")]
    assert tail.look(writer_gone=True) == []


def test_a_look_is_bounded_and_loses_nothing(
    folder: Path, tail: LinesTail, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lines_tail, "READ_BYTES", 1_000)
    expected = [("a.jsonl", f"a{n}") for n in range(ROWS_A_LOOK + 50)]
    expected += [("b.jsonl", f"b{n}") for n in range(ROWS_A_LOOK)]
    for name, line in expected:
        write(folder, name, f"{line}\n")
    found: list[object] = []
    while rows := tail.look():
        assert len(rows) <= ROWS_A_LOOK
        found += rows
    assert sorted(map(str, found)) == sorted(map(str, expected))


def test_only_plain_files_of_the_suffix_and_not_too_deep_are_read(
    folder: Path, tail: LinesTail, tmp_path: Path
) -> None:
    secret = write(tmp_path, "secret.jsonl", "secret\n")
    for name in ("x.txt", "1/2/3/4/deep.jsonl"):
        write(folder, name, "no\n")
    (folder / "link.jsonl").symlink_to(secret)
    (folder / "folder").symlink_to(tmp_path)
    (folder / "folder.jsonl").mkdir()
    os.mkfifo(folder / "pipe.jsonl")
    write(folder, "1/2/3/a.jsonl", "yes\n")
    assert tail.look(writer_gone=True) == [("1/2/3/a.jsonl", "yes")]


def test_a_folder_that_is_reached_through_a_link_is_not_read(tmp_path: Path) -> None:
    write(tmp_path, "real/a.jsonl", "secret\n")
    (tmp_path / "sessions").symlink_to(tmp_path / "real")
    tail = LinesTail(LinesStore(folder=str(tmp_path / "sessions")))
    assert (tail.stamp(), tail.look(writer_gone=True)) == (None, [])


def test_a_file_that_became_another_thing_or_shorter_is_left_alone(
    folder: Path, tail: LinesTail
) -> None:
    path = write(folder, "a.jsonl", "one\ntwo\n")
    assert len(tail.look()) == 2
    path.write_text("x\n")
    assert tail.look() == []
    path.unlink()
    assert (tail.look(), tail.stamp()) == ([], None)
    path.symlink_to("/etc/passwd")
    assert tail.look() == []


def test_only_so_many_files_are_followed_and_the_known_ones_stay(
    folder: Path, tail: LinesTail, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lines_tail, "MOST_FILES", 2)
    write(folder, "m.jsonl", "m\n")
    assert tail.look() == [("m.jsonl", "m")]
    for name in "abc":
        write(folder, f"{name}.jsonl", f"{name}\n")
    write(folder, "m.jsonl", "n\n")
    assert sorted(tail.look()) == [("a.jsonl", "a"), ("m.jsonl", "n")]


def test_a_flood_of_entries_ends_the_listing(
    folder: Path, tail: LinesTail, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lines_tail, "MOST_ENTRIES", 5)
    for number in range(20):
        write(folder, f"{number}.jsonl", "x\n")
    assert len(tail.look()) == 5


def test_bytes_that_are_no_text_are_a_row_all_the_same(folder: Path, tail: LinesTail) -> None:
    write(folder, "a.jsonl", "")
    (folder / "a.jsonl").write_bytes(b"\xff\n")
    assert tail.look() == [("a.jsonl", "\ufffd")]
