"""Coding-agent harnesses, fetched by exact version and held to what is pinned.

A registry that delivers other bytes than the pinned ones is refused, and no script of a package is
ever run. A stored harness is used as it is; one that changed on disk is refused.
"""

from dataclasses import dataclass
from pathlib import Path

from stanchion.images import entry, manifest, tree
from stanchion.images.errors import ImagesError, IntegrityError
from stanchion.images.harness_store import archives, cutting, runtimes
from stanchion.images.harness_store.locks import Lock, Release, Runtime, lock, pinned
from stanchion.images.host import architecture
from stanchion.images.progress import Piece, Progress, Report, Stage, ignore

BUILT_IN = {"noop": ("1",), "oracle": ("1",)}
"""Harnesses that are no program of anybody: their packages hold a manifest and nothing else."""


@dataclass(frozen=True, slots=True)
class HarnessPackage:
    """A harness on disk, ready to be bound read-only at `/opt/stanchion-harness/NAME/VERSION`."""

    path: Path
    digest: str
    """sha256 of its manifest.json."""
    name: str
    version: str
    binary_relpath: str
    size_bytes: int
    cached: bool
    runtime: Runtime | None = None

    def on_host(self) -> list[str]:
        """Start its program from this folder, outside any sandbox."""
        program = str(self.path / self.binary_relpath)
        if self.runtime is None:
            return [program]
        return [*runtimes.on_host(self.path, self.runtime, architecture()), program]


def ensure_harness(
    cache_dir: Path,
    name: str,
    version: str,
    progress: Report = ignore,
    *,
    known: Lock | None = None,
) -> HarnessPackage:
    """Return the pinned harness release, fetching it where it is missing."""
    if name in BUILT_IN:
        return _built_in(cache_dir, name, version)
    release = pinned(lock() if known is None else known, name, version, architecture().npm)

    def build(root: Path) -> entry.Built:
        count = len(release.archives)
        message = f"{name} {version} ({count} package{'s' if count > 1 else ''})"
        progress(Progress(Piece.HARNESS, Stage.WILL_DOWNLOAD, message, release.size_bytes))
        archives.bring(release.archives, root, architecture())
        progress(Progress(Piece.HARNESS, Stage.VERIFYING, message))
        _check_program(root, name, release)
        for wanted in release.cuts:
            cutting.cut(root, wanted)
        notes = {"integrity": release.pin}
        if release.runtime is not None:
            place = f"{runtimes.SANDBOX_PLACE}/{name}/{version}"
            debs = runtimes.complete(root, release.runtime, place, architecture())
            notes["debs"] = " ".join(debs)
        return entry.Built(digest=manifest.seal(root, name, version), notes=notes)

    found = entry.ensure(cache_dir / "harness" / name / version, build)
    if found.notes.get("integrity") != release.pin:
        fix = f"rm -r {found.path.parent}"
        raise IntegrityError(
            f"the stored {name} {version} came from another package file than the pinned one; "
            f"remove it with `{fix}` and run the command again",
            fix=fix,
        )
    stage = Stage.CACHED if found.cached else Stage.DONE
    progress(Progress(Piece.HARNESS, stage, f"{name} {version}", found.size_bytes))
    return _package(found, name, version, release)


def has_harness(cache_dir: Path, name: str, version: str) -> bool:
    """Whether the release can be had without downloading anything."""
    return name in BUILT_IN or (cache_dir / "harness" / name / version / "record.json").is_file()


def stored(cache_dir: Path, name: str, version: str) -> entry.Entry | None:
    """What lies on disk of a release, checked; None where nothing does."""
    return entry.load(cache_dir / "harness" / name / version)


def _built_in(cache_dir: Path, name: str, version: str) -> HarnessPackage:
    """An empty package, so that a launch of it is named by a digest like any other."""
    if version not in BUILT_IN[name]:
        raise ImagesError(f"{name} has version {', '.join(BUILT_IN[name])}, and no {version}")

    def build(root: Path) -> entry.Built:
        return entry.Built(digest=manifest.seal(root, name, version))

    found = entry.ensure(cache_dir / "harness" / name / version, build)
    return _package(found, name, version, None)


def _package(
    found: entry.Entry, name: str, version: str, release: Release | None
) -> HarnessPackage:
    return HarnessPackage(
        path=found.path,
        digest=found.digest,
        name=name,
        version=version,
        binary_relpath=release.program if release else "",
        size_bytes=found.size_bytes,
        cached=found.cached,
        runtime=release.runtime if release else None,
    )


def _check_program(root: Path, name: str, release: Release) -> None:
    program = root / release.program
    actual = tree.file_sha256(program) if program.is_file() else "nothing"
    if actual != release.program_sha256:
        raise IntegrityError(
            f"{name} holds {release.program} with sha256 {actual[:16]}… where "
            f"{release.program_sha256[:16]}… is pinned"
        )
