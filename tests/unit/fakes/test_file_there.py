import threading
from pathlib import Path

import pytest

from fakes.file_there import until_so, until_there


def test_what_is_there_is_not_waited_for(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    until_there(tmp_path / "file", timeout_s=0)


def test_a_file_in_folders_that_are_made_later_is_noticed(tmp_path: Path) -> None:
    waiting = threading.Event()
    file = tmp_path / "a" / "b" / "c" / "file"

    def looked() -> bool:
        waiting.set()
        return file.exists()

    def make() -> None:
        assert waiting.wait(20)
        file.parent.mkdir(parents=True)
        file.touch()

    maker = threading.Thread(target=make)
    maker.start()
    until_so(looked, tmp_path / "a" / "b", timeout_s=20)
    maker.join()
    assert file.exists()


def test_what_does_not_come_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="did not come"):
        until_there(tmp_path / "file", timeout_s=0)
