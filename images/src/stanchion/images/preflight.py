"""What a first run still lacks, said before anything is downloaded.

`needs` only looks; `fetch` does it, in an order in which each step finds what it builds on. Sizes
are what was measured when this version was made and are shown as "about".
"""

import shutil
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from stanchion.images import apt, bundle, harness_store, rootfs, runsc, tools
from stanchion.images.harness_store import Release, Source
from stanchion.images.host import architecture
from stanchion.images.progress import Piece, Progress, Report, Stage, ignore

DEFAULT_HARNESS = ("opencode", "1.18.33")
APT_LISTS = Path("/var/lib/apt/lists")
BUNDLE_DOWNLOAD_BYTES = 9_300_000
"""Measured 2026-12-01, amd64: twelve Debian packages and three wheels."""
TOOL_DOWNLOAD_BYTES = {"mmdebstrap": 113_000, "patchelf": 65_000, "npm": 37_000_000}
"""Measured 2026-12-01, amd64; Debian's npm brings nodejs and 360 small packages."""


class NeedId(StrEnum):
    """Everything a run may need of this host."""

    RUNSC = "runsc"
    PATCHELF = "patchelf"
    MMDEBSTRAP = "mmdebstrap"
    NPM = "npm"
    BUNDLE = "bundle"
    BASE = "base"
    HARNESS = "harness"


@dataclass(frozen=True, slots=True, kw_only=True)
class Need:
    """One thing, whether it is there, and the one command that brings it."""

    id: NeedId
    what: str
    download_bytes: int | None
    """About how much would be downloaded; 0 where it is present, None where nobody knows."""
    present: bool
    fix: str
    cache_dir: Path
    """Where pieces are looked for and will be put."""
    release: tuple[str, str] | None = None
    """Name and version of a harness."""


def needs(
    cache_dir: Path,
    *,
    sandbox: str = "runsc",
    harness: tuple[str, str] | None = DEFAULT_HARNESS,
) -> list[Need]:
    """Everything a run with this sandbox needs, present or not; changes nothing.

    `harness` None = a program of the user's own, which is fetched from nowhere.
    """
    with_runsc = sandbox == "runsc"
    has_bundle = bundle.has_runtime(cache_dir)
    has_harness = harness is None or harness_store.has_harness(cache_dir, *harness)
    has_base = rootfs.has_base(cache_dir)
    release = None if harness is None or has_harness else _pin(harness)
    # A harness with a runtime of its own is tied to it as the bundle is.
    tied = release is not None and release.runtime is not None
    from_npm = release is None or any(part.source is Source.NPM for part in release.archives)
    found = [
        _runsc(cache_dir) if with_runsc else None,
        _tool(
            NeedId.PATCHELF,
            "patchelf, to build the bundle" if not has_bundle else "patchelf, for the harness",
            cache_dir,
            unneeded=has_bundle and not tied,
        ),
        _tool(
            NeedId.NPM,
            "npm, to fetch the harness",
            cache_dir,
            unneeded=has_harness or not from_npm,
        ),
        _tool(NeedId.MMDEBSTRAP, "mmdebstrap, to build the base", cache_dir, unneeded=has_base)
        if with_runsc
        else None,
        _bundle(cache_dir, present=has_bundle),
        None if harness is None else _harness(cache_dir, harness, present=has_harness),
        _base(cache_dir, present=has_base) if with_runsc else None,
    ]
    return [need for need in found if need is not None]


def announcement(missing: list[Need]) -> str:
    """One line on what will be downloaded, for the start of a first run."""
    if not missing:
        return "nothing to download"
    parts = [f"{need.what} ({_about(need.download_bytes)})" for need in missing]
    known = [need.download_bytes for need in missing if need.download_bytes is not None]
    unknown = " and more of unknown size" if len(known) < len(missing) else ""
    return f"to download: {', '.join(parts)}; {_about(sum(known))} in all{unknown}"


def fetch(wanted: list[Need], progress: Report = ignore) -> None:
    """Bring everything of the list that is missing."""
    missing = {need.id: need for need in wanted if not need.present}
    if NeedId.RUNSC in missing:
        runsc.install_runsc(progress)
    packages = [need for need in TOOLS if need in missing]
    if packages:
        _install(packages, progress)
    if need := missing.get(NeedId.BUNDLE):
        bundle.ensure_bundle(need.cache_dir, progress)
    if (need := missing.get(NeedId.HARNESS)) and need.release:
        harness_store.ensure_harness(need.cache_dir, *need.release, progress)
    if need := missing.get(NeedId.BASE):
        rootfs.ensure_base(need.cache_dir, progress=progress)


TOOLS = (NeedId.PATCHELF, NeedId.MMDEBSTRAP, NeedId.NPM)


def _install(packages: list[NeedId], progress: Report) -> None:
    size = sum(TOOL_DOWNLOAD_BYTES[package] for package in packages)
    progress(Progress(Piece.TOOLS, Stage.WILL_DOWNLOAD, ", ".join(packages), size))
    if not any(APT_LISTS.glob("*Packages*")):
        apt.update()
    command = tools.install_command(packages).split()
    tools.run(
        command,
        doing=f"installing {', '.join(packages)}",
        environment={"DEBIAN_FRONTEND": "noninteractive"},
    )
    progress(Progress(Piece.TOOLS, Stage.DONE, ", ".join(packages)))


def _runsc(cache_dir: Path) -> Need:
    info = runsc.find_runsc()
    present = info is not None and info.is_supported
    what = "runsc (gVisor) from Debian's backports"
    if info is not None and not present:
        what += f", in place of the release of {info.version_date}"
    return Need(
        id=NeedId.RUNSC,
        what=what,
        download_bytes=0 if present else runsc.DOWNLOAD_SIZE_BYTES,
        present=present,
        fix="stanchion doctor --fix",
        cache_dir=cache_dir,
    )


def _tool(which: NeedId, what: str, cache_dir: Path, *, unneeded: bool) -> Need:
    present = unneeded or shutil.which(which) is not None
    return Need(
        id=which,
        what=what,
        download_bytes=0 if present else TOOL_DOWNLOAD_BYTES[which],
        present=present,
        fix=tools.install_command([which]),
        cache_dir=cache_dir,
    )


def _bundle(cache_dir: Path, *, present: bool) -> Need:
    return Need(
        id=NeedId.BUNDLE,
        what="supervisor bundle",
        download_bytes=0 if present else BUNDLE_DOWNLOAD_BYTES,
        present=present,
        fix="stanchion images bundle",
        cache_dir=cache_dir,
    )


def _base(cache_dir: Path, *, present: bool) -> Need:
    return Need(
        id=NeedId.BASE,
        what="base image (Debian 12)",
        download_bytes=0 if present else rootfs.DOWNLOAD_SIZE_BYTES,
        present=present,
        fix="stanchion images base",
        cache_dir=cache_dir,
    )


def _harness(cache_dir: Path, release: tuple[str, str], *, present: bool) -> Need:
    name, version = release
    known = _pin(release)
    size = known.size_bytes if known else None
    return Need(
        id=NeedId.HARNESS,
        what=f"{name} {version}",
        download_bytes=0 if present else size,
        present=present,
        fix=f"stanchion harness fetch {name}@{version}",
        cache_dir=cache_dir,
        release=release,
    )


def _pin(release: tuple[str, str]) -> Release | None:
    name, version = release
    return harness_store.lock().get(name, {}).get(version, {}).get(architecture().npm)


def _about(size_bytes: int | None) -> str:
    if size_bytes is None:
        return "of unknown size"
    if size_bytes < 1_000_000:
        return "about 1 MB"
    return f"about {size_bytes / 1_000_000:.0f} MB"
