"""What a first run still lacks, said before anything is downloaded.

`needs` only looks; `fetch` does it, in an order in which each step finds what it builds on. Sizes
are what was measured when this version was made and are shown as "about".
"""

import shutil
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from stanchion.images import apt, bundle, harness_store, rootfs, runsc, tools
from stanchion.images.host import architecture
from stanchion.images.progress import Piece, Progress, Report, Stage, ignore

DEFAULT_HARNESS = ("opencode", "1.18.33")
APT_LISTS = Path("/var/lib/apt/lists")
BUNDLE_DOWNLOAD_BYTES = 10_000_000
"""Measured 2026-12-01, amd64: twelve Debian packages and seven wheels."""
TOOL_DOWNLOAD_BYTES = {"mmdebstrap": 150_000, "patchelf": 90_000, "npm": 60_000_000}
"""Measured 2026-12-01, amd64; npm brings nodejs and is the distribution's own."""


class NeedId(StrEnum):
    """Everything a run may need of this host."""

    RUNSC = "runsc"
    PATCHELF = "patchelf"
    MMDEBSTRAP = "mmdebstrap"
    NPM = "npm"
    BUNDLE = "bundle"
    BASE = "base"
    HARNESS = "harness"


@dataclass(frozen=True, slots=True)
class Need:
    """One thing, whether it is there, and the one command that brings it."""

    id: NeedId
    what: str
    download_bytes: int | None
    """About how much would be downloaded; 0 where it is present, None where nobody knows."""
    present: bool
    fix: str


def needs(
    cache_dir: Path,
    *,
    sandbox: str = "runsc",
    harness: tuple[str, str] = DEFAULT_HARNESS,
) -> list[Need]:
    """Everything a run with this sandbox needs, present or not; changes nothing."""
    name, version = harness
    has_bundle = bundle.has_runtime(cache_dir)
    has_harness = harness_store.has_harness(cache_dir, name, version)
    found = [
        _tool(NeedId.PATCHELF, "patchelf, to build the supervisor bundle", unneeded=has_bundle),
        _tool(NeedId.NPM, "npm, to fetch the harness", unneeded=has_harness),
        _piece(NeedId.BUNDLE, "supervisor bundle", BUNDLE_DOWNLOAD_BYTES, present=has_bundle),
        _piece(
            NeedId.HARNESS,
            f"{name} {version}",
            _harness_download_bytes(name, version),
            present=has_harness,
            fix=f"stanchion images harness {name}@{version}",
        ),
    ]
    if sandbox != "runsc":
        return found
    has_base = rootfs.has_base(cache_dir)
    return [
        _runsc(),
        *found[:2],
        _tool(NeedId.MMDEBSTRAP, "mmdebstrap, to build the base image", unneeded=has_base),
        *found[2:],
        _piece(NeedId.BASE, "base image (Debian 12)", rootfs.DOWNLOAD_SIZE_BYTES, present=has_base),
    ]


def announcement(missing: list[Need]) -> str:
    """One line on what will be downloaded, for the start of a first run."""
    if not missing:
        return "nothing to download"
    parts = [f"{need.what} ({_about(need.download_bytes)})" for need in missing]
    known = [need.download_bytes for need in missing if need.download_bytes is not None]
    unknown = " and more of unknown size" if len(known) < len(missing) else ""
    return f"to download: {', '.join(parts)}; {_about(sum(known))} in all{unknown}"


def fetch(wanted: list[Need], progress: Report = ignore, *, cache_dir: Path) -> None:
    """Bring everything of the list that is missing."""
    missing = {need.id: need for need in wanted if not need.present}
    if NeedId.RUNSC in missing:
        runsc.install_runsc(progress)
    packages = [need for need in TOOLS if need in missing]
    if packages:
        _install(packages, progress)
    if NeedId.BUNDLE in missing:
        bundle.ensure_bundle(cache_dir, progress)
    if need := missing.get(NeedId.HARNESS):
        name, version = need.what.split()
        harness_store.ensure_harness(cache_dir, name, version, progress)
    if NeedId.BASE in missing:
        rootfs.ensure_base(cache_dir, progress=progress)


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


def _runsc() -> Need:
    info = runsc.find_runsc()
    present = info is not None and info.is_supported
    what = "runsc (gVisor) from Debian's backports"
    if info is not None and not present:
        what += f", in place of the release of {info.version_date}"
    size = 0 if present else runsc.DOWNLOAD_SIZE_BYTES
    return Need(NeedId.RUNSC, what, size, present, "stanchion doctor --fix")


def _tool(which: NeedId, what: str, *, unneeded: bool) -> Need:
    present = unneeded or shutil.which(which) is not None
    size = 0 if present else TOOL_DOWNLOAD_BYTES[which]
    return Need(which, what, size, present, tools.install_command([which]))


def _piece(
    which: NeedId, what: str, size: int | None, *, present: bool, fix: str | None = None
) -> Need:
    return Need(which, what, 0 if present else size, present, fix or f"stanchion images {which}")


def _harness_download_bytes(name: str, version: str) -> int | None:
    known = harness_store.lock().get(name, {}).get(version, {})
    release = known.get(architecture().npm)
    return release.size_bytes if release else None


def _about(size_bytes: int | None) -> str:
    if size_bytes is None:
        return "of unknown size"
    if size_bytes < 1_000_000:
        return "about 1 MB"
    return f"about {size_bytes / 1_000_000:.0f} MB"
