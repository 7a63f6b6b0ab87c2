"""patchelf on real objects of this machine."""

import shutil
from pathlib import Path

import pytest

from stanchion.images import elf
from stanchion.images.errors import IntegrityError

pytestmark = pytest.mark.skipif(
    shutil.which("patchelf") is None, reason="patchelf is not installed (stanchion doctor --fix)"
)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for folder in ("bin", "lib"):
        (tmp_path / folder).mkdir()
    shutil.copy2("/usr/bin/env", tmp_path / "bin/env")
    return tmp_path


def test_interpreter_and_library_folder_are_set_as_rpath(root: Path) -> None:
    elf.set_interpreter(root / "bin/env", loader="/opt/x/ld.so", library_path="$ORIGIN/../lib")

    assert elf.rpath(root / "bin/env") == "$ORIGIN/../lib"
    assert b"/opt/x/ld.so\0" in (root / "bin/env").read_bytes()


def test_a_library_that_is_not_in_the_tree_stops_the_build(root: Path) -> None:
    with pytest.raises(IntegrityError, match=r"bin/env needs libc\.so\.6"):
        elf.check_closure(root, root / "lib")

    (root / "lib/libc.so.6").write_bytes(b"not an object, but a file of that name")
    elf.check_closure(root, root / "lib")


def test_a_library_with_a_search_path_of_its_own_stops_the_build(root: Path) -> None:
    shutil.copy2(root / "bin/env", root / "lib/libc.so.6")
    elf.set_interpreter(root / "lib/libc.so.6", loader="/x", library_path="/usr/lib")

    with pytest.raises(IntegrityError, match=r"lib/libc\.so\.6 looks for libraries in /usr/lib"):
        elf.check_closure(root, root / "lib")
