"""The base root file system for tasks that bring no image of their own.

A small Debian 12 made by mmdebstrap from the archives this host's apt is set up for. Nothing of the
host stays in it: no source line, proxy, resolver, host name, log or machine id.
"""

import hashlib
import os
import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from stanchion.images import apt, entry, tools
from stanchion.images.errors import ImagesError, UnsupportedHostError
from stanchion.images.host import DEBIAN_CODENAME, architecture, require_debian
from stanchion.images.progress import Piece, Progress, Report, Stage, ignore

PACKAGES = ("python3", "python3-pytest", "git", "procps")
LEFT_OUT = ("/usr/share/doc/*", "/usr/share/man/*", "/usr/share/locale/*", "/usr/share/info/*")
DOWNLOAD_SIZE_BYTES = 70_000_000
"""Measured 2026-12-01, amd64: 140 packages of 60.9 MB, and package lists."""
EMPTIED = (
    "dev", "run", "tmp", "var/cache/apt", "var/cache/debconf", "var/cache/ldconfig",
    "var/lib/apt/lists", "var/log", "var/tmp", "etc/apt/sources.list.d",
)  # fmt: skip
REMOVED = (
    "etc/resolv.conf", "etc/hostname", "etc/machine-id", "var/lib/dbus/machine-id",
    "etc/apt/apt.conf.d/99mmdebstrap", "etc/dpkg/dpkg.cfg.d/99mmdebstrap", "etc/apt/sources.list",
    "var/lib/dpkg/status-old", "var/lib/dpkg/diversions-old",
)  # fmt: skip
# runsc makes a missing mount point in the root file system itself, through any overlay.
MOUNT_POINTS = ("opt/stanchion", "opt/stanchion-harness", "run/stanchion")
_APART = (
    "setpriv", "--pdeathsig", "KILL", "unshare", "--mount", "--pid", "--fork", "--kill-child",
    "--mount-proc",
)  # fmt: skip
"""What it mounts and starts goes with it, and it goes with us, however we end (unshare(1))."""


@dataclass(frozen=True, slots=True)
class BaseImage:
    """A root file system on disk; sandboxes put an overlay on it and never write to it."""

    path: Path
    digest: str
    name: str
    size_bytes: int
    cached: bool


def ensure_base(cache_dir: Path, name: str = "debian", progress: Report = ignore) -> BaseImage:
    """Return the named base root file system, building it where it is missing."""
    if name != "debian":
        raise ImagesError(f'there is no base named "{name}"; the only one is "debian"')
    found = entry.ensure(_place(cache_dir), lambda root: _build(root, progress))
    stage = Stage.CACHED if found.cached else Stage.DONE
    progress(
        Progress(Piece.BASE, stage, f"base image sha256:{found.digest[:12]}", found.size_bytes)
    )
    return BaseImage(found.path, found.digest, name, found.size_bytes, found.cached)


def has_base(cache_dir: Path) -> bool:
    """Whether the base can be had without downloading anything."""
    return (_place(cache_dir) / "record.json").is_file()


def bootstrap_command(
    target: Path, sources: Path, *, debian_architecture: str, transport: Iterable[str]
) -> list[str]:
    """The one call that fetches and unpacks everything."""
    return [
        *_APART, "mmdebstrap", "--mode=root", "--variant=minbase", "--format=directory",
        "--skip=output/dev", f"--architectures={debian_architecture}",
        f"--include={','.join(PACKAGES)}",
        *(f"--dpkgopt=path-exclude={pattern}" for pattern in LEFT_OUT),
        *(f"--aptopt={option}" for option in transport),
        DEBIAN_CODENAME, str(target), str(sources),
    ]  # fmt: skip


def clean(root: Path) -> None:
    """Take everything away that belongs to this host or to this moment."""
    for folder in EMPTIED:
        for leftover in _children(root / folder):
            if leftover.is_dir() and not leftover.is_symlink():
                shutil.rmtree(leftover)
            else:
                leftover.unlink()
    for name in REMOVED:
        (root / name).unlink(missing_ok=True)
    for cache in sorted(root.rglob("__pycache__")):
        shutil.rmtree(cache)
    # runsc would put its own memory-backed file system on an empty /tmp, outside of any limit.
    (root / "tmp/.keep").touch()
    for point in MOUNT_POINTS:
        (root / point).mkdir(parents=True, exist_ok=True)


def _build(root: Path, progress: Report) -> entry.Built:
    require_debian("the base root file system")
    if os.geteuid() != 0:
        raise UnsupportedHostError(
            "the base root file system holds files of several owners and can only be made by "
            "root; run `sudo stanchion images base --cache-dir DIR` once",
            fix="sudo stanchion images base",
        )
    tools.require("mmdebstrap")
    sources = root.parent / "sources.list"
    sources.write_text(_source_lines(), encoding="utf-8")
    progress(
        Progress(Piece.BASE, Stage.WILL_DOWNLOAD, "about 140 Debian packages", DOWNLOAD_SIZE_BYTES)
    )
    command = bootstrap_command(
        root,
        sources,
        debian_architecture=architecture().debian,
        transport=apt.transport_options(),
    )
    tools.follow(
        command,
        doing="mmdebstrap",
        each_line=lambda line: _report_line(line, progress),
        environment={"SOURCE_DATE_EPOCH": "0"},
    )
    progress(Progress(Piece.BASE, Stage.VERIFYING, "reading the new root file system"))
    sources.unlink()
    clean(root)
    return entry.Built(notes={"packages": " ".join(PACKAGES)})


def _report_line(line: str, progress: Report) -> None:
    kind, _, message = line.partition(": ")
    if kind == "I":
        stage = Stage.DOWNLOADING if message.startswith("downloading") else Stage.BUILDING
        progress(Progress(Piece.BASE, stage, message.rstrip(".")))


def _source_lines() -> str:
    wanted = apt.debian_sources(apt.sources())
    if not any(source.codename == DEBIAN_CODENAME for source in wanted):
        apt.update()
        wanted = apt.debian_sources(apt.sources())
    if not wanted:
        raise ImagesError(
            f"apt knows no Debian archive for {DEBIAN_CODENAME}; add one to "
            "/etc/apt/sources.list.d and run `apt-get update`",
            fix="apt-get update",
        )
    return "".join(f"{source.as_line()}\n" for source in wanted)


def _place(cache_dir: Path) -> Path:
    recipe = "\0".join([*PACKAGES, *LEFT_OUT, *EMPTIED, *REMOVED, *MOUNT_POINTS, "1"])
    key = hashlib.sha256(recipe.encode()).hexdigest()[:8]
    return cache_dir / "rootfs" / f"debian-{DEBIAN_CODENAME}-{architecture().debian}-{key}"


def _children(folder: Path) -> list[Path]:
    return sorted(folder.iterdir()) if folder.is_dir() else []
