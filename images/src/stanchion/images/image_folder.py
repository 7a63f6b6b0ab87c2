"""A root file system that somebody has unpacked, as the image of a sandbox.

Its digest is over everything in it. What runs is a copy, named by that digest and checked against
it, so that a folder that changes later changes no attempt; the folder itself is never written to.
"""

import os
from functools import lru_cache
from pathlib import Path

from stanchion.images import entry, tools, tree
from stanchion.images.errors import ImagesError, IntegrityError
from stanchion.images.progress import Piece, Progress, Report, Stage, ignore
from stanchion.images.rootfs import MOUNT_POINTS, BaseImage

SIGNS = ("bin", "usr", "etc", "lib")
"""A root file system has one of these at its top."""


def folder_digest(folder: Path) -> str:
    """Over path, kind, mode and content of everything in the folder."""
    _check(folder)
    return _digest(folder.resolve(), tree.stamp(folder))


def ensure_image(cache_dir: Path, folder: Path, progress: Report = ignore) -> BaseImage:
    """The stored copy of this folder, made where it is missing."""
    digest = folder_digest(folder)

    def build(root: Path) -> entry.Built:
        progress(Progress(Piece.BASE, Stage.BUILDING, f"a copy of {folder}"))
        command = ["cp", "-a", "--reflink=auto", f"{folder.resolve()}/.", str(root)]
        tools.run(command, doing=f"copying {folder}")
        if tree.digest(tree.items(root)) != digest:
            raise IntegrityError(f"{folder} changed while it was copied; run the command again")
        _make_ready(root)
        return entry.Built(digest=digest)

    found = entry.ensure(cache_dir / "rootfs" / f"image-{digest[:32]}", build)
    stage = Stage.CACHED if found.cached else Stage.DONE
    progress(Progress(Piece.BASE, stage, f"image sha256:{digest[:12]}", found.size_bytes))
    return BaseImage(found.path, digest, str(folder), found.size_bytes, found.cached)


@lru_cache(maxsize=64)
def _digest(folder: Path, stamp: str) -> str:  # noqa: ARG001 - another stamp is another content
    return tree.digest(tree.items(folder))


def _check(folder: Path) -> None:
    if os.geteuid() != 0:
        raise ImagesError(
            "a root file system has files of several owners and can only be copied by root",
            fix="sudo stanchion run …",
        )
    if folder.resolve() == Path("/"):
        raise ImagesError("the host's own root is no image; name the folder of an unpacked one")
    if not any((folder / name).exists() for name in SIGNS):
        raise ImagesError(
            f"{folder} holds none of {', '.join(SIGNS)}, so it is no root file system; unpack one, "
            "for example with `docker export CONTAINER | tar -x -C DIR`"
        )


def _make_ready(root: Path) -> None:
    """What a sandbox needs to find: places to bind to, and a /tmp that is not empty."""
    for point in (*MOUNT_POINTS, "tmp", "proc", "sys", "dev"):
        place = root
        for part in point.split("/"):
            place /= part
            if place.is_symlink():
                raise ImagesError(f"/{place.relative_to(root)} of the image is a link; unlink it")
            place.mkdir(exist_ok=True)
    (root / "tmp/.keep").touch()
