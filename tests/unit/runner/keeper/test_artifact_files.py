"""Files that leave the sandbox stay where they belong."""

from pathlib import Path

import pytest

from stanchion.protocol.events import FileSent
from stanchion.runner.keeper import artifact_files
from stanchion.runner.keeper.artifact_files import ArtifactFiles, inside


def piece(path: str, data: bytes = b"x", offset: int = 0) -> FileSent:
    return FileSent(purpose="answer", path=path, offset=offset, data=data, last=True)


@pytest.mark.parametrize(
    ("path", "below"),
    [
        ("/work/a.txt", "work/a.txt"),
        ("work//./a", "work/a"),
        ("/../etc/passwd", None),
        ("/a/../../b", None),
        ("/", None),
        ("", None),
        ("/a\0b", None),
        ("/" + "n" * 256, None),
    ],
)
def test_no_name_leads_out(path: str, below: str | None) -> None:
    found = inside(path)

    assert (None if found is None else str(found)) == below


def test_pieces_become_the_file(tmp_path: Path) -> None:
    files = ArtifactFiles(tmp_path / "artifacts")
    files.take(piece("/work/a", b"one"))
    files.take(piece("/work/a", b"two", offset=3))
    files.take(piece("/../b"))
    files.take(piece("/work/c", offset=-1))

    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == ["a"]
    assert (tmp_path / "artifacts" / "work" / "a").read_bytes() == b"onetwo"


def test_offsets_and_sums_are_bounded(tmp_path: Path) -> None:
    files = ArtifactFiles(tmp_path)
    files.take(piece("/far", offset=artifact_files.MAX_BYTES))

    assert list(tmp_path.iterdir()) == []


def test_a_link_in_the_way_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept" / "a").symlink_to(tmp_path / "outside")
    with pytest.raises(OSError, match="symbolic links"):
        ArtifactFiles(tmp_path / "kept").take(piece("/a"))
    assert not (tmp_path / "outside").exists()


def test_a_file_that_is_sent_again_shorter_keeps_nothing_of_the_longer(tmp_path: Path) -> None:
    files = ArtifactFiles(tmp_path)
    files.take(piece("/work/a", b"longer"))
    files.take(piece("/work/a", b"ab"))
    assert (tmp_path / "work/a").read_bytes() == b"ab"
