"""The harness store against an npm that says and delivers what a test wants."""

import base64
import hashlib
import io
import tarfile
from dataclasses import dataclass
from pathlib import Path

import pytest

from stanchion.images import harness_store
from stanchion.images.errors import ImagesError, IntegrityError, MissingToolError
from stanchion.images.host import architecture
from stanchion.images.progress import Progress, Stage

FAKE_NPM = """\
#!/bin/sh
# Answers as npm does to `pack NAME@VERSION … --pack-destination DIR`.
here=$(dirname "$0")
echo "$1" >> "$here/calls"
[ "$1" = pack ] || exit 9
if [ -e "$here/lacks-it" ]; then echo "npm error code ETARGET" >&2; exit 1; fi
while [ $# -gt 1 ]; do shift; done
cp "$here/package.tgz" "$1/tool-1.0.0.tgz"
"""
BINARY = b"#!/bin/true\n"


@dataclass
class Registry:
    folder: Path
    integrity: str

    @property
    def calls(self) -> list[str]:
        log = self.folder / "calls"
        return log.read_text().split() if log.exists() else []

    def lock(self, *, binary: bytes = BINARY) -> harness_store.Lock:
        archive = harness_store.Archive(
            source=harness_store.Source.NPM, package="tool-package", version="1.0.0",
            integrity=self.integrity, size_bytes=100,
        )  # fmt: skip
        release = harness_store.Release(
            program="bin/tool",
            program_sha256=hashlib.sha256(binary).hexdigest(),
            archives=(archive,),
        )
        return {"tool": {"1.0.0": {architecture().npm: release}}}


@pytest.fixture
def registry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Registry:
    folder = tmp_path / "npm"
    folder.mkdir()
    (folder / "npm").write_text(FAKE_NPM)
    (folder / "npm").chmod(0o755)
    with tarfile.open(folder / "package.tgz", "w:gz") as archive:
        member = tarfile.TarInfo("package/bin/tool")
        member.size, member.mode = len(BINARY), 0o755
        archive.addfile(member, io.BytesIO(BINARY))
    digest = hashlib.sha512((folder / "package.tgz").read_bytes()).digest()
    integrity = f"sha512-{base64.b64encode(digest).decode()}"
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
    return Registry(folder, integrity)


def test_a_pinned_release_is_fetched_once_and_announced_before(
    registry: Registry, tmp_path: Path
) -> None:
    seen: list[Progress] = []
    first = harness_store.ensure_harness(
        tmp_path, "tool", "1.0.0", seen.append, known=registry.lock()
    )
    second = harness_store.ensure_harness(tmp_path, "tool", "1.0.0", known=registry.lock())

    assert (first.path / first.binary_relpath).read_bytes() == BINARY
    manifest_bytes = (first.path / "manifest.json").read_bytes()
    assert first.digest == hashlib.sha256(manifest_bytes).hexdigest() == second.digest
    assert (first.cached, second.cached) == (False, True)
    assert registry.calls == ["pack"]
    assert (seen[0].stage, seen[0].total_bytes) == (Stage.WILL_DOWNLOAD, 100)
    assert seen[-1].stage is Stage.DONE
    assert harness_store.has_harness(tmp_path, "tool", "1.0.0")


def test_a_registry_that_delivers_other_bytes_is_refused(
    registry: Registry, tmp_path: Path
) -> None:
    (registry.folder / "package.tgz").write_bytes(b"something else")

    with pytest.raises(IntegrityError, match="nothing was unpacked"):
        harness_store.ensure_harness(tmp_path, "tool", "1.0.0", known=registry.lock())

    assert not harness_store.has_harness(tmp_path, "tool", "1.0.0")


def test_a_package_with_another_binary_than_the_pinned_one_is_refused(
    registry: Registry, tmp_path: Path
) -> None:
    with pytest.raises(IntegrityError, match="tool holds bin/tool with sha256"):
        harness_store.ensure_harness(
            tmp_path, "tool", "1.0.0", known=registry.lock(binary=b"other")
        )


def test_a_registry_without_the_version_is_an_error_in_words(
    registry: Registry, tmp_path: Path
) -> None:
    (registry.folder / "lacks-it").touch()

    with pytest.raises(ImagesError, match=r"npm pack failed .* ETARGET"):
        harness_store.ensure_harness(tmp_path, "tool", "1.0.0", known=registry.lock())


def test_a_harness_changed_on_disk_is_refused_and_not_fetched_again(
    registry: Registry, tmp_path: Path
) -> None:
    made = harness_store.ensure_harness(tmp_path, "tool", "1.0.0", known=registry.lock())
    (made.path / "bin/tool").write_bytes(b"#!/bin/evil\n")

    with pytest.raises(IntegrityError, match="was changed after it was stored"):
        harness_store.ensure_harness(tmp_path, "tool", "1.0.0", known=registry.lock())

    assert registry.calls == ["pack"]


def test_a_stored_release_under_another_pin_is_refused(registry: Registry, tmp_path: Path) -> None:
    harness_store.ensure_harness(tmp_path, "tool", "1.0.0", known=registry.lock())
    registry.integrity = "sha512-b3RoZXI="

    with pytest.raises(IntegrityError, match="came from another package file"):
        harness_store.ensure_harness(tmp_path, "tool", "1.0.0", known=registry.lock())


def test_without_npm_the_apt_command_is_named(registry: Registry, tmp_path: Path) -> None:
    (registry.folder / "npm").unlink()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", str(registry.folder))
        with pytest.raises(MissingToolError, match=r"apt-get install .* npm"):
            harness_store.ensure_harness(tmp_path, "tool", "1.0.0", known=registry.lock())
