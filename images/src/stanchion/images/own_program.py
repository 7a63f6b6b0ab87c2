"""A user's own program as a harness package: a copy of its folder, named by what is in it.

The copy is what is mounted, so that a folder that changes later changes no attempt. Its digest is
that of a manifest like any other package's; modes are reduced to executable or not. Links and
devices are refused by name.
"""

import shutil
import stat
from pathlib import Path

import msgspec

from stanchion.images import entry, manifest, tree
from stanchion.images.errors import ImagesError, IntegrityError
from stanchion.images.harness_store import HarnessPackage
from stanchion.images.progress import Piece, Progress, Report, Stage, ignore

NAME = "command"
FOLDER = "program"
"""Where the program's files are in the package."""


def ensure_program(
    cache_dir: Path, version: str, folder: Path | None, progress: Report = ignore
) -> HarnessPackage:
    """The stored copy, made where it is missing; `folder` None = a program of the image's."""
    wanted = manifest.encode(_described(version, folder))
    digest = manifest.digest_of(wanted)

    def build(root: Path) -> entry.Built:
        progress(Progress(Piece.HARNESS, Stage.BUILDING, f"a copy of {folder or version}"))
        if folder is not None:
            _copy(folder, root / FOLDER)
        if manifest.seal(root, NAME, version) != digest:
            raise IntegrityError(f"{folder} changed while it was copied; run the command again")
        return entry.Built(digest=digest)

    return _package(entry.ensure(_place(cache_dir, digest), build), version)


def stored_program(cache_dir: Path, version: str, digest: str) -> HarnessPackage:
    """The copy that an earlier launch was made with."""
    found = entry.load(_place(cache_dir, digest))
    if found is None:
        raise ImagesError(
            f"the program {version} (sha256 {digest[:12]}…) of that launch is no longer stored; "
            "start a run of its own with stanchion run --harness command --command FILE"
        )
    return _package(found, version)


def _place(cache_dir: Path, digest: str) -> Path:
    return cache_dir / "harness" / NAME / digest[:32]


def _package(found: entry.Entry, version: str) -> HarnessPackage:
    return HarnessPackage(
        path=found.path,
        digest=found.digest,
        name=NAME,
        version=version,
        binary_relpath="",
        size_bytes=found.size_bytes,
        cached=found.cached,
    )


def _described(version: str, folder: Path | None) -> manifest.Manifest:
    """What the package's manifest will be."""
    found = [] if folder is None else tree.items(folder)
    described = manifest.describe(f"the folder {folder}", version, found)
    files = {
        f"{FOLDER}/{path}": msgspec.structs.replace(file, mode=_mode(file.mode))
        for path, file in described.files.items()
    }
    return manifest.Manifest(name=NAME, version=version, files=files)


def _copy(source: Path, target: Path) -> None:
    target.mkdir()
    for path, status in tree.walk(source):
        place = target / path
        if stat.S_ISDIR(status.st_mode):
            place.mkdir()
        else:
            shutil.copyfile(source / path, place, follow_symlinks=False)
            place.chmod(_mode(status.st_mode))


def _mode(mode: int) -> int:
    return 0o755 if mode & 0o111 else 0o644
