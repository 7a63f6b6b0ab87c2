import base64
import hashlib
import io
import tarfile
from pathlib import Path

import pytest

from stanchion.images import harness_store
from stanchion.images.errors import ImagesError, IntegrityError

PIN = harness_store.PinnedPackage(
    package="tool-x64",
    integrity="sha512-aa",
    size_bytes=1,
    binary="bin/tool",
    binary_sha256="bb",
)
KNOWN = {"tool": {"1.0.0": {"x64": PIN}, "1.1.0": {"x64": PIN}}}


def package(folder: Path, *members: tarfile.TarInfo) -> Path:
    path = folder / "package.tgz"
    with tarfile.open(path, "w:gz") as archive:
        for member in members:
            member.size = 4 if member.isreg() else 0
            archive.addfile(member, io.BytesIO(b"data") if member.isreg() else None)
    return path


def plain(name: str, mode: int = 0o644) -> tarfile.TarInfo:
    member = tarfile.TarInfo(name)
    member.mode = mode
    return member


def test_the_shipped_lock_pins_opencode_with_strong_digests() -> None:
    release = harness_store.pinned(harness_store.lock(), "opencode", "1.18.33", "x64")

    algorithm, _, value = release.integrity.partition("-")
    assert (algorithm, len(base64.b64decode(value))) == ("sha512", 64)
    assert len(bytes.fromhex(release.binary_sha256)) == 32
    assert release.binary == "bin/opencode"


@pytest.mark.parametrize(
    ("name", "version", "processor", "sentence"),
    [
        ("other", "1.0.0", "x64", 'no harness "other" is pinned; the pinned ones are tool'),
        ("tool", "2.0.0", "x64", "pinned versions: 1.0.0, 1.1.0"),
        ("tool", "1.0.0", "arm64", r"pinned for x64, not for this machine's .*\(arm64\)"),
    ],
)
def test_what_is_not_pinned_is_refused_and_what_is_pinned_listed(
    name: str, version: str, processor: str, sentence: str
) -> None:
    with pytest.raises(ImagesError, match=sentence):
        harness_store.pinned(KNOWN, name, version, processor)


def test_a_package_file_must_have_the_pinned_digest(tmp_path: Path) -> None:
    (tmp_path / "x.tgz").write_bytes(b"content")
    right = base64.b64encode(hashlib.sha512(b"content").digest()).decode()

    harness_store.check_integrity(tmp_path / "x.tgz", f"sha512-{right}")
    with pytest.raises(IntegrityError, match="it was not unpacked"):
        harness_store.check_integrity(tmp_path / "x.tgz", f"sha512-A{right[1:]}")


def test_plain_files_are_unpacked_without_their_first_folder(tmp_path: Path) -> None:
    file = package(tmp_path, plain("package/bin/tool", 0o755), plain("package/package.json"))

    harness_store.unpack(file, tmp_path / "out")

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
        harness_store.unpack(package(tmp_path, member), tmp_path / "out")
    assert list((tmp_path / "out").iterdir()) == []


@pytest.mark.parametrize("name", sorted(harness_store.BUILT_IN))
def test_a_built_in_harness_is_an_empty_package_with_a_digest(tmp_path: Path, name: str) -> None:
    assert harness_store.has_harness(tmp_path, name, "1")
    first = harness_store.ensure_harness(tmp_path, name, "1")
    again = harness_store.ensure_harness(tmp_path, name, "1")
    assert (first.cached, again.cached, first.digest) == (False, True, again.digest)
    assert [path.name for path in first.path.iterdir()] == ["manifest.json"]
    with pytest.raises(ImagesError, match="has version 1"):
        harness_store.ensure_harness(tmp_path, name, "2")
