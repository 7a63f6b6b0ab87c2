"""An unpacked root file system becomes an image by a copy that is named by its digest."""

import os
from pathlib import Path

import pytest

from stanchion.images.errors import ImagesError
from stanchion.images.image_folder import ensure_image, folder_digest

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root can copy every owner's files")


@pytest.fixture
def unpacked(tmp_path: Path) -> Path:
    root = tmp_path / "unpacked"
    (root / "usr/bin").mkdir(parents=True)
    (root / "usr/bin/tool").write_text("#!/bin/true\n")
    os.chown(root / "usr/bin/tool", 1234, 1234)
    (root / "usr/bin/tool").chmod(0o4755)
    (root / "bin").symlink_to("usr/bin")
    os.mkfifo(root / "usr/pipe")
    return root


def test_it_is_copied_whole_and_made_ready_and_itself_not_touched(
    unpacked: Path, tmp_path: Path
) -> None:
    before = folder_digest(unpacked)
    image = ensure_image(tmp_path / "cache", unpacked)
    assert (image.digest, image.cached, image.name) == (before, False, str(unpacked))
    status = (image.path / "usr/bin/tool").stat()
    assert (status.st_mode & 0o7777, status.st_uid) == (0o4755, 1234)
    assert (image.path / "bin").readlink() == Path("usr/bin")
    for point in ("opt/stanchion", "opt/stanchion-harness", "run/stanchion", "tmp/.keep"):
        assert (image.path / point).exists()
    assert folder_digest(unpacked) == before
    assert not (unpacked / "opt").exists()


def test_the_same_content_is_copied_once_and_other_content_again(
    unpacked: Path, tmp_path: Path
) -> None:
    first = ensure_image(tmp_path / "cache", unpacked)
    assert ensure_image(tmp_path / "cache", unpacked).cached
    (unpacked / "usr/bin/tool").write_text("other\n")
    second = ensure_image(tmp_path / "cache", unpacked)
    assert (second.cached, second.path == first.path) == (False, False)
    assert (first.path / "usr/bin/tool").read_text() == "#!/bin/true\n"


@pytest.mark.parametrize("folder", ["/", "empty"])
def test_what_is_no_root_file_system_is_refused(folder: str, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(ImagesError):
        ensure_image(tmp_path / "cache", tmp_path / folder)


def test_a_link_where_something_must_be_bound_is_refused(unpacked: Path, tmp_path: Path) -> None:
    (unpacked / "opt").symlink_to("/somewhere")
    with pytest.raises(ImagesError, match="/opt of the image is a link"):
        ensure_image(tmp_path / "cache", unpacked)
