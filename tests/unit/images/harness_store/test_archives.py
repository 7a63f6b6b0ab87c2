import base64
import hashlib
import io
import tarfile
from pathlib import Path

import pytest

from stanchion.images.errors import IntegrityError
from stanchion.images.harness_store import archives
from stanchion.images.harness_store.locks import Archive, Source


def pin(content: bytes, algorithm: str, source: Source) -> Archive:
    value = base64.b64encode(hashlib.new(algorithm, content).digest()).decode()
    return Archive(source=source, package="tool", version="1", integrity=f"{algorithm}-{value}",
                   size_bytes=len(content))  # fmt: skip


def test_files_are_told_by_their_content_whatever_they_are_called(tmp_path: Path) -> None:
    (tmp_path / "b").write_bytes(b"first")
    (tmp_path / "a").write_bytes(b"second")
    first, second = pin(b"first", "sha512", Source.NPM), pin(b"second", "sha256", Source.PYPI)

    found = archives.matching([first, second], tmp_path.iterdir())

    assert (found[first].name, found[second].name) == ("b", "a")


def test_one_archive_without_its_file_refuses_them_all_and_is_named(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"first")
    wanted = [pin(b"first", "sha512", Source.NPM), pin(b"other", "sha512", Source.NPM)]

    with pytest.raises(IntegrityError, match="npm tool@1 has not the pinned digest"):
        archives.matching(wanted, tmp_path.iterdir())


def package(folder: Path, *members: tarfile.TarInfo) -> Path:
    path = folder / "package.tgz"
    with tarfile.open(path, "w:gz") as opened:
        for member in members:
            member.size = 4 if member.isreg() else 0
            opened.addfile(member, io.BytesIO(b"data") if member.isreg() else None)
    return path


def plain(name: str, mode: int = 0o644) -> tarfile.TarInfo:
    member = tarfile.TarInfo(name)
    member.mode = mode
    return member


def test_plain_files_are_unpacked_without_their_first_folder(tmp_path: Path) -> None:
    file = package(tmp_path, plain("package/bin/tool", 0o755), plain("package/package.json"))

    archives.unpack(file, tmp_path / "out")

    assert (tmp_path / "out/bin/tool").stat().st_mode & 0o777 == 0o755
    assert (tmp_path / "out/package.json").stat().st_mode & 0o777 == 0o644


def link(kind: bytes) -> tarfile.TarInfo:
    member = plain("package/link")
    member.type, member.linkname = kind, "/etc/passwd"
    return member


@pytest.mark.parametrize(
    "member",
    [
        plain("package/../../outside"),
        plain("/package/absolute"),
        plain("top"),
        link(tarfile.SYMTYPE),
        link(tarfile.LNKTYPE),
        link(tarfile.CHRTYPE),
    ],
    ids=["climbs", "absolute", "top", "symlink", "hardlink", "device"],
)
def test_anything_but_a_plain_file_below_one_folder_is_refused(
    tmp_path: Path, member: tarfile.TarInfo
) -> None:
    (tmp_path / "out").mkdir()
    with pytest.raises(IntegrityError, match="not a plain file"):
        archives.unpack(package(tmp_path, member), tmp_path / "out")
    assert list((tmp_path / "out").iterdir()) == []
