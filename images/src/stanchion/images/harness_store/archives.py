"""The archives of a release: downloaded by their registry's own client, held to their digests.

npm and pip know which registry this machine uses and how it is reached. No script of a package is
ever run, and nothing of an archive is unpacked before its digest was found to be the pinned one.
"""

import base64
import tarfile
from collections.abc import Iterable, Sequence
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import IO

from stanchion.images import tools, tree, wheels
from stanchion.images.errors import IntegrityError
from stanchion.images.harness_store.locks import Archive, Source
from stanchion.images.host import Architecture

AT_ONCE = 60
"""Packages that one call of npm names."""


def bring(archives: Sequence[Archive], root: Path, architecture: Architecture) -> None:
    """Download all, check all, unpack all to their places below `root`."""
    with TemporaryDirectory(prefix="stanchion-harness-", dir=root.parent) as scratch:
        download(archives, Path(scratch), architecture)
        files = matching(archives, Path(scratch).iterdir())
        for archive in archives:
            target = root.joinpath(archive.place)
            if archive.source is Source.NPM:
                unpack(files[archive], target)
            else:
                wheels.unpack(files[archive], target)


def download(archives: Sequence[Archive], folder: Path, architecture: Architecture) -> None:
    """All of them into one folder, from whatever registries this machine uses."""
    from_npm = [archive.wanted for archive in archives if archive.source is Source.NPM]
    for first in range(0, len(from_npm), AT_ONCE):
        command = ["npm", "pack", *from_npm[first : first + AT_ONCE], "--ignore-scripts"]
        tools.run(
            [*command, "--silent", "--pack-destination", folder], doing="npm pack", folder=folder
        )
    if lines := [_requirement(archive) for archive in archives if archive.source is Source.PYPI]:
        wheels.download("\n".join(lines) + "\n", architecture, folder)


def matching(archives: Iterable[Archive], files: Iterable[Path]) -> dict[Archive, Path]:
    """Each archive's file, told by its content; a name of a file proves nothing."""
    found: dict[str, Path] = {}
    for path in files:
        for algorithm in ("sha512", "sha256"):
            found[integrity(path, algorithm)] = path
    wanted = list(archives)
    missing = [archive for archive in wanted if archive.integrity not in found]
    if missing:
        names = ", ".join(f"{archive.source} {archive.wanted}" for archive in missing)
        raise IntegrityError(
            f"what was downloaded for {names} has not the pinned digest "
            f"({missing[0].integrity[:24]}…); nothing was unpacked. Ask who runs the "
            f"{missing[0].source} registry this machine uses"
        )
    return {archive: found[archive.integrity] for archive in wanted}


def integrity(path: Path, algorithm: str) -> str:
    """A file's digest as registries write it."""
    return f"{algorithm}-{base64.b64encode(tree.file_digest(path, algorithm)).decode()}"


def unpack(package_file: Path, target: Path) -> None:
    """Unpack the regular files of an npm package; anything else in it is refused."""
    with tarfile.open(package_file, "r:gz") as opened:
        for member in opened:
            path = PurePosixPath(member.name)
            inside = path.parts[1:]
            if member.isdir():
                continue
            if not member.isfile() or path.is_absolute() or ".." in path.parts or not inside:
                raise IntegrityError(
                    f"{package_file.name} holds {member.name}, which is not a plain file below "
                    "one folder; it was not unpacked"
                )
            place = target.joinpath(*inside)
            place.parent.mkdir(parents=True, exist_ok=True)
            source = opened.extractfile(member)
            assert source is not None
            _copy(source, place)
            place.chmod(0o755 if member.mode & 0o100 else 0o644)


def _requirement(archive: Archive) -> str:
    algorithm, _, digest = archive.integrity.partition("-")
    value = base64.b64decode(digest).hex()
    return f"{archive.package}=={archive.version} --hash={algorithm}:{value}"


def _copy(source: IO[bytes], place: Path) -> None:
    with place.open("wb") as target:
        while chunk := source.read(1 << 20):
            target.write(chunk)
