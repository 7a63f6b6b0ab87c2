import hashlib
from pathlib import Path

import pytest

from stanchion.images import manifest, tree
from stanchion.images.errors import IntegrityError


def test_a_sealed_tree_lists_each_file_and_its_digest_is_that_of_the_list(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/tool").write_bytes(b"tool")
    (tmp_path / "bin/tool").chmod(0o755)

    digest = manifest.seal(tmp_path, "tool", "1")

    content = (tmp_path / manifest.NAME).read_bytes()
    assert digest == hashlib.sha256(content).hexdigest()
    read = manifest.decode(content)
    assert (read.name, read.version) == ("tool", "1")
    assert read.files == {
        "bin/tool": manifest.File(
            sha256=hashlib.sha256(b"tool").hexdigest(), size_bytes=4, mode=0o755
        )
    }


def test_the_order_of_files_does_not_matter(tmp_path: Path) -> None:
    (tmp_path / "a").touch()
    (tmp_path / "b").touch()
    content = tree.items(tmp_path)

    one = manifest.encode(manifest.describe("x", "1", content))
    other = manifest.encode(manifest.describe("x", "1", reversed(content)))

    assert one == other


def test_a_link_has_no_place_in_a_piece(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("/etc/passwd")

    with pytest.raises(IntegrityError, match="x holds link, a link"):
        manifest.seal(tmp_path, "x", "1")
