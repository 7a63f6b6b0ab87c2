from pathlib import Path

import pytest

from stanchion.images import elf
from stanchion.images.errors import IntegrityError

TRIPLET = "x86_64-linux-gnu"
FOLDERS = b"\0/lib/x86_64-linux-gnu/\0/usr/lib/x86_64-linux-gnu/\0/lib/\0/usr/lib/\0"


def test_file_names_are_redirected_in_place_without_moving_a_byte() -> None:
    code = b"code\0/etc/ld.so.cache\0more\0/etc/ld.so.preload\0"

    blind = elf.without_files(code, elf.LOADER_FILES)

    assert blind == b"code\0/dev/null/.cache\0more\0/dev/null/.preload\0"
    assert len(blind) == len(code)


def test_only_whole_names_are_redirected() -> None:
    code = b"\0/usr/lib/locale\0/usr/lib/locale/locale-archive\0"

    assert elf.without_files(code, ["/usr/lib/locale"]) == (
        b"\0/dev/null/ocale\0/usr/lib/locale/locale-archive\0"
    )


def test_an_unknown_library_is_refused_rather_than_left_seeing() -> None:
    with pytest.raises(IntegrityError, match=r"no longer names /etc/ld\.so\.preload"):
        elf.without_files(b"\0nothing\0", ["/etc/ld.so.preload"])
    with pytest.raises(IntegrityError, match="known list of library folders"):
        elf.without_search_path(b"\0/lib/\0", TRIPLET)


def test_no_folder_of_the_image_is_left_on_the_search_path() -> None:
    code = b"a" + FOLDERS + b"b" + FOLDERS

    blind = elf.without_search_path(code, TRIPLET)

    assert len(blind) == len(code)
    folders = [part for part in blind[1:].split(b"\0") if part.startswith(b"/")]
    assert len(folders) == 8
    # The loader insists on absolute names of the compiled-in lengths.
    assert all(name.startswith((b"/dev/null/", b"/sys/")) for name in folders)
    assert all(name.endswith(b"/") for name in folders)


def test_every_library_that_is_not_provided_is_named() -> None:
    needs = {"lib/a.so": ["libc.so.6", "libz.so.1"], "bin/python": ["libc.so.6"]}

    assert elf.open_needs(needs, ["libc.so.6"]) == ["lib/a.so needs libz.so.1"]
    assert elf.open_needs(needs, ["libc.so.6", "libz.so.1"]) == []


def test_objects_are_found_by_content_not_by_name(tmp_path: Path) -> None:
    (tmp_path / "program").write_bytes(b"\x7fELF...")
    (tmp_path / "text.so").write_bytes(b"INPUT(libx.so)")
    (tmp_path / "link").symlink_to("program")

    assert elf.objects(tmp_path) == [tmp_path / "program"]
