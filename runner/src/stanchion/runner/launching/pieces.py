"""Everything a sandboxed run is put together from, made ready on this host.

Says what is missing before anything is downloaded. Decides nothing about the attempt.
"""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from stanchion.broker.client import StatePaths
from stanchion.images import (
    bundle,
    harness_store,
    image_folder,
    own_program,
    preflight,
    rootfs,
)
from stanchion.images.errors import ImagesError
from stanchion.images.progress import Progress, Report, Stage
from stanchion.images.runsc import RunscInfo, find_runsc, require_supported
from stanchion.protocol.launch import SandboxKind


@dataclass(frozen=True, slots=True)
class ReadyPieces:
    """All of it, with what names each."""

    runsc: RunscInfo | None
    base: rootfs.BaseImage | None
    """Both None for a sandbox without gVisor, which has the host's programs."""
    bundle: bundle.Bundle
    harness: harness_store.HarnessPackage
    fetched: frozenset[preflight.NeedId] = frozenset()
    """What this call had to fetch."""


@dataclass(frozen=True, slots=True)
class OwnProgram:
    """A program of the user's, in place of a harness from the store."""

    version: str
    folder: Path | None = None
    """Where its files are now; None = it is the image's own, or was stored before."""
    sha256: str | None = None
    """Of the package that was stored before."""


def make_ready(
    cache_dir: Path,
    *,
    base: str,
    harness: tuple[str, str] | OwnProgram,
    say: Callable[[str], None],
    is_root: bool,
    kind: SandboxKind = SandboxKind.RUNSC,
    image: Path | None = None,
) -> ReadyPieces:
    """The pieces; ImagesError says which cannot be had and what to do."""
    with_runsc = kind is SandboxKind.RUNSC
    if with_runsc and not is_root:
        raise ImagesError(
            "gVisor sandboxes need root on this host; run the command as root, for example with "
            "sudo, or use --sandbox process, which isolates less",
            fix="sudo stanchion doctor",
        )
    named = None if isinstance(harness, OwnProgram) else harness
    wanted = preflight.needs(cache_dir, harness=named, sandbox=kind)
    missing = [need for need in wanted if not need.present]
    report = reporter(say)
    if missing:
        say(preflight.announcement(missing))
        preflight.fetch(wanted, report)
    return ReadyPieces(
        runsc=_runsc() if with_runsc else None,
        bundle=bundle.ensure_bundle(cache_dir, report),
        base=_root(cache_dir, base, image, report) if with_runsc else None,
        harness=_harness(cache_dir, harness, report),
        fetched=frozenset(need.id for need in missing),
    )


def _harness(
    cache_dir: Path, harness: tuple[str, str] | OwnProgram, report: Report
) -> harness_store.HarnessPackage:
    if not isinstance(harness, OwnProgram):
        return harness_store.ensure_harness(cache_dir, *harness, report)
    if harness.sha256 is not None:
        return own_program.stored_program(cache_dir, harness.version, harness.sha256)
    return own_program.ensure_program(cache_dir, harness.version, harness.folder, report)


def _root(cache_dir: Path, base: str, image: Path | None, report: Report) -> rootfs.BaseImage:
    if image is not None:
        return image_folder.ensure_image(cache_dir, image, report)
    return rootfs.ensure_base(cache_dir, base, report)


def _runsc() -> RunscInfo:
    info = find_runsc()
    if info is None:
        raise ImagesError("runsc is not installed; run `stanchion doctor --fix`")
    return require_supported(info)


def fetch_missing(
    state_dir: str | None, environment: Mapping[str, str], *, say: Callable[[str], None]
) -> None:
    """Everything that a run on this host still lacks; without root that is one without gVisor."""
    kind = SandboxKind.RUNSC if os.geteuid() == 0 else SandboxKind.PROCESS
    wanted = preflight.needs(StatePaths.resolve(state_dir, environment).cache_dir, sandbox=kind)
    missing = [need for need in wanted if not need.present]
    say(preflight.announcement(missing))
    preflight.fetch(wanted, reporter(say))


def reporter(say: Callable[[str], None]) -> Report:
    """Progress as lines of text; what was there already is not worth one."""

    def report(progress: Progress) -> None:
        if progress.stage is not Stage.CACHED:
            say(f"{progress.piece:<9} {progress.stage}: {progress.message}")

    return report
