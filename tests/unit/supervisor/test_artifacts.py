import os
import socket
from pathlib import Path

import pytest

from stanchion.protocol.events import Event, FileSent, Warned
from stanchion.protocol.launch import Artifact
from stanchion.supervisor import artifacts
from stanchion.supervisor.artifacts import Collection


class Sent:
    def __init__(self) -> None:
        self.events: list[Event] = []

    async def take(self, event: Event) -> None:
        self.events.append(event)

    @property
    def files(self) -> dict[str, bytes]:
        found: dict[str, bytes] = {}
        for event in self.events:
            if isinstance(event, FileSent):
                assert event.offset == len(found.get(event.path, b""))
                assert event.last is (event.sha256 is not None)
                found[event.path] = found.get(event.path, b"") + event.data
        return found

    @property
    def warnings(self) -> list[str]:
        return [event.detail for event in self.events if isinstance(event, Warned)]


async def collected(*wanted: Artifact, answers: tuple[str, ...] = ()) -> Sent:
    sent = Sent()
    collection = Collection(sent.take, answers=answers)
    for artifact in wanted:
        await collection.collect(artifact)
    return sent


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    (tmp_path / "out/deep").mkdir(parents=True)
    (tmp_path / "out/a.txt").write_text("a")
    (tmp_path / "out/deep/b.log").write_text("b")
    (tmp_path / "out/empty").touch()
    return tmp_path / "out"


async def test_a_folder_is_kept_under_its_own_path_or_the_named_one(tree: Path) -> None:
    own = str(tree).lstrip("/")
    sent = await collected(Artifact(source=str(tree)))
    assert sent.files == {f"{own}/a.txt": b"a", f"{own}/deep/b.log": b"b", f"{own}/empty": b""}
    assert sent.warnings == []
    sent = await collected(Artifact(source=f"{tree}/a.txt", destination="kept/as.txt"))
    assert sent.files == {"kept/as.txt": b"a"}


@pytest.mark.parametrize(
    ("pattern", "left"),
    [("*.log", {"a.txt", "empty"}), ("deep", {"a.txt", "empty"}), ("deep/*", {"a.txt", "empty"}),
     ("a.*", {"deep/b.log", "empty"}), ("*", set())],
)  # fmt: skip
async def test_excluded_patterns_are_left_out(tree: Path, pattern: str, left: set[str]) -> None:
    sent = await collected(Artifact(source=str(tree), destination="o", exclude=(pattern,)))
    assert {path.removeprefix("o/") for path in sent.files} == left


async def test_no_link_pipe_or_socket_is_followed_opened_or_waited_for(
    tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tree / "l-file").symlink_to("/etc/passwd")
    (tree / "l-folder").symlink_to("/etc")
    os.mkfifo(tree / "pipe")
    monkeypatch.chdir(tree)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("sock")
        sent = await collected(Artifact(source=str(tree), destination="o"))
    assert set(sent.files) == {"o/a.txt", "o/deep/b.log", "o/empty"}
    assert len(sent.warnings) == 1
    assert "3 more" in sent.warnings[0]


async def test_a_source_behind_a_link_is_not_reached(tree: Path) -> None:
    (tree.parent / "link").symlink_to(tree)
    for source in ("link", "link/a.txt"):
        sent = await collected(Artifact(source=f"{tree.parent}/{source}"))
        assert (sent.files, len(sent.warnings)) == ({}, 1)


async def test_what_is_not_there_is_said_only_where_it_was_asked_for(tmp_path: Path) -> None:
    missing = Artifact(source=f"{tmp_path}/none/x")
    assert len((await collected(missing)).warnings) == 1
    sent = Sent()
    await Collection(sent.take).collect(missing, wanted=False)
    assert sent.events == []


async def test_a_frozen_answer_is_not_sent_again(tree: Path) -> None:
    sent = await collected(Artifact(source=str(tree)), answers=(f"{tree}/a.txt",))
    assert not any(path.endswith("a.txt") for path in sent.files)


async def test_a_large_file_travels_in_pieces(tmp_path: Path) -> None:
    content = os.urandom(artifacts.PIECE_BYTES * 2 + 5)
    (tmp_path / "big").write_bytes(content)
    sent = await collected(Artifact(source=f"{tmp_path}/big", destination="big"))
    assert sent.files == {"big": content}
    assert len(sent.events) == 3


async def test_what_is_beyond_the_bounds_is_said_once(tmp_path: Path) -> None:
    for name in "ab":
        with (tmp_path / name).open("wb") as file:
            file.truncate(artifacts.MOST_FILE_BYTES + 1)
    (tmp_path / "c").write_text("small")
    sent = await collected(Artifact(source=str(tmp_path), destination="o"))
    assert sent.files == {"o/c": b"small"}
    assert len(sent.warnings) == 1


async def test_more_files_than_are_kept_are_counted(tmp_path: Path) -> None:
    for number in range(artifacts.MOST_FILES + 3):
        (tmp_path / f"{number:05}").touch()
    sent = await collected(Artifact(source=str(tmp_path), destination="o"))
    assert len(sent.files) == artifacts.MOST_FILES
    assert len(sent.warnings) == 1
