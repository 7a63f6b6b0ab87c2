"""One file that is written anew with every step: read whole, once, and never half."""

import os
from pathlib import Path

import pytest

from stanchion.harness_adapters.base import DocumentStore
from stanchion.supervisor.regular_files import NotRegularError
from stanchion.supervisor.sensors import document_tail
from stanchion.supervisor.sensors.document_tail import DocumentTail


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "own/trajectory.json"


def tail(file: Path) -> DocumentTail:
    return DocumentTail(DocumentStore(path=str(file)))


def write(file: Path, text: str) -> None:
    file.parent.mkdir(exist_ok=True)
    file.write_text(text)
    # A clock's tick may be longer than two writes are apart.
    status = file.stat()
    os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns + len(text)))


def test_each_state_of_the_file_is_read_once(file: Path) -> None:
    reader = tail(file)
    assert (reader.stamp(), reader.look()) == (None, ())
    write(file, '{"messages": [1]}\n')
    assert reader.look() == ((b'{"messages": [1]}\n',),)
    assert reader.look() == ()
    write(file, '{"messages": [1, 2]}')
    assert [text for (text,) in reader.look(writer_gone=True)] == [b'{"messages": [1, 2]}']
    assert reader.files == (file,)
    reader.close()


def test_a_file_that_is_just_being_written_is_looked_at_again(file: Path) -> None:
    reader = tail(file)
    for text in ("", '{"messages": [1, "a'):
        write(file, text)
        assert reader.look() == ()
    write(file, '{"messages": [1, "a"]}')
    assert len(reader.look()) == 1


def test_a_link_and_a_file_without_end_are_unknown(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(file, "{}")
    monkeypatch.setattr(document_tail, "MOST_BYTES", 1)
    with pytest.raises(OSError, match="larger than 1 bytes"):
        tail(file).look()
    (tmp_path / "secret").write_text("{}")
    file.unlink()
    file.symlink_to(tmp_path / "secret")
    with pytest.raises(NotRegularError):
        tail(file).look()
