"""The supervisor bundle: the folder that is /opt/stanchion in every sandbox.

Two levels: a runtime that lasts until its lock or recipe changes (or someone asks for newer Debian
packages), and on it a bundle per state of our own code, made in under a second. A stored runtime is
used as it is, offline; versions never change under a running job by themselves.
"""

import hashlib
import os
import shutil
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from stanchion.images import apt, code_layer, entry, manifest, runtime, wheels
from stanchion.images.host import Architecture, architecture, require_debian
from stanchion.images.progress import Piece, Progress, Report, Stage, ignore

COMMAND = (
    f"{runtime.PREFIX}/{runtime.PYTHON}", "-I", "-S", f"{runtime.PREFIX}/app/{code_layer.ENTRY}",
)  # fmt: skip
"""What process 1 of a sandbox is started as."""
UNUSED_FOR_S = 30 * 24 * 3600.0
"""Bundles of old code are removed after this; far longer than any attempt lasts."""
WHEELS_SIZE_BYTES = 425_000
"""Measured 2026-12-01: the three pinned wheels, amd64."""


@dataclass(frozen=True, slots=True)
class Bundle:
    """A bundle on disk, ready to be bound read-only."""

    path: Path
    digest: str
    size_bytes: int
    cached: bool

    def command_on_host(self) -> list[str]:
        """Start the supervisor from this folder, outside any sandbox."""
        entry_file = self.path / "app" / code_layer.ENTRY
        return [*runtime.on_host(self.path, architecture()), str(entry_file)]


class Resolution(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which Debian packages a recipe was resolved to."""

    runtime: str
    debs: list[str]


def ensure_bundle(
    cache_dir: Path,
    progress: Report = ignore,
    *,
    refresh: bool = False,
    packages: Sequence[str] = code_layer.PACKAGES,
) -> Bundle:
    """Return the bundle for the installed code, building what is missing.

    `refresh` asks apt for newer Debian packages; without it a stored runtime is kept.
    """
    shelf = cache_dir / "bundle"
    processor = architecture()
    base = _ensure_runtime(shelf, processor, progress, refresh=refresh)
    code = code_layer.digest(packages)
    key = hashlib.sha256(f"{base.digest} {code}".encode()).hexdigest()

    def build(root: Path) -> entry.Built:
        progress(Progress(Piece.BUNDLE, Stage.BUILDING, "adding Stanchion's own code"))
        shutil.copytree(base.path, root, copy_function=_share, dirs_exist_ok=True)
        code_layer.copy(root / "app", code, packages)
        runtime.compile_modules(root, root / "app", processor)
        if tuple(packages) == code_layer.PACKAGES:
            runtime.pack_modules(root, processor)
        return entry.Built(digest=manifest.seal(root, "stanchion-supervisor", code[:16]))

    folder = shelf / f"bundle-{key[:16]}"
    found = entry.ensure(folder, build)
    entry.mark_used(folder, now_s=time.time())
    if not found.cached:
        entry.forget_unused(shelf, "bundle-*", unused_for_s=UNUSED_FOR_S, now_s=time.time())
    stage = Stage.CACHED if found.cached else Stage.DONE
    progress(
        Progress(Piece.BUNDLE, stage, f"supervisor bundle {found.digest[:12]}", found.size_bytes)
    )
    return Bundle(found.path, found.digest, found.size_bytes, found.cached)


def has_runtime(cache_dir: Path) -> bool:
    """Whether a bundle can be had without downloading anything."""
    shelf = cache_dir / "bundle"
    current = _current(shelf, architecture(), runtime.recipe(wheels.lock_text()))
    return current is not None and (shelf / current.runtime / "record.json").is_file()


def _ensure_runtime(
    shelf: Path, processor: Architecture, progress: Report, *, refresh: bool
) -> entry.Entry:
    lock = wheels.lock_text()
    recipe = runtime.recipe(lock)
    current = None if refresh else _current(shelf, processor, recipe)
    if current and (stored := entry.load(shelf / current.runtime)):
        return stored
    require_debian("the supervisor bundle")
    debs = apt.candidates(runtime.PACKAGES)
    names = [deb.file_name for deb in debs]
    key = hashlib.sha256("\0".join([recipe, processor.debian, *names]).encode()).hexdigest()

    def build(root: Path) -> entry.Built:
        size = sum(deb.size_bytes for deb in debs) + WHEELS_SIZE_BYTES
        message = f"{len(debs)} Debian packages and {len(wheels.pins(lock))} wheels"
        progress(Progress(Piece.BUNDLE, Stage.WILL_DOWNLOAD, message, size))
        runtime.build(root, processor, lock, debs)
        return entry.Built(notes={"debs": " ".join(names)})

    stored = entry.ensure(shelf / f"runtime-{key[:16]}", build)
    resolution = Resolution(runtime=f"runtime-{key[:16]}", debs=names)
    entry.write_atomically(_pointer(shelf, processor, recipe), msgspec.json.encode(resolution))
    return stored


def _share(source: str, target: str) -> None:
    try:
        os.link(source, target)
    except OSError:  # a file system without hard links
        shutil.copy2(source, target)


def _pointer(shelf: Path, processor: Architecture, recipe: str) -> Path:
    return shelf / f"current-{processor.debian}-{recipe[:16]}.json"


def _current(shelf: Path, processor: Architecture, recipe: str) -> Resolution | None:
    try:
        return msgspec.json.decode(_pointer(shelf, processor, recipe).read_bytes(), type=Resolution)
    except (FileNotFoundError, msgspec.MsgspecError):
        return None
