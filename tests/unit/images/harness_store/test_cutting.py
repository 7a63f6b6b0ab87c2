import hashlib
from pathlib import Path

import pytest

from stanchion.images.errors import IntegrityError
from stanchion.images.harness_store.cutting import cut
from stanchion.images.harness_store.locks import Cut

HELLO = hashlib.sha256(b"hello").hexdigest()


@pytest.fixture
def package(tmp_path: Path) -> Path:
    (tmp_path / "program").write_bytes(b"..lo..hel..")
    return tmp_path


def test_a_file_is_made_of_pieces_in_their_order(package: Path) -> None:
    cut(package, Cut(place="a/text", source="program", pieces=((6, 3), (2, 2)), sha256=HELLO))
    assert (package / "a" / "text").read_bytes() == b"hello"


@pytest.mark.parametrize("pieces", [((2, 2), (6, 3)), ((6, 3),), ((600, 3), (2, 2))])
def test_other_bytes_than_the_pinned_ones_are_refused(
    package: Path, pieces: tuple[tuple[int, int], ...]
) -> None:
    with pytest.raises(IntegrityError, match=r"the pieces of program for text have sha256"):
        cut(package, Cut(place="text", source="program", pieces=pieces, sha256=HELLO))
    assert not (package / "text").exists()


def test_nothing_of_the_package_is_written_over(package: Path) -> None:
    with pytest.raises(FileExistsError):
        cut(package, Cut(place="program", source="program", pieces=((6, 3), (2, 2)), sha256=HELLO))
