"""Which harness releases this version knows, and which of them lie on this disk."""

from collections.abc import Sequence
from pathlib import Path

import msgspec

from stanchion.harness_adapters.registry import NAMES, adapter
from stanchion.images import harness_store
from stanchion.images.errors import IntegrityError
from stanchion.images.host import architecture


class KnownRelease(msgspec.Struct, frozen=True, kw_only=True):
    """One release of one harness."""

    name: str
    version: str
    dialects: tuple[str, ...]
    """The first is the native one; none for a harness that asks no model."""
    state: str
    """`stored`, `fetchable`, `built-in`, `changed` (on disk, no longer what was stored)."""
    size_bytes: int | None
    """On this disk; None = not there."""
    download_bytes: int | None
    """What fetching it takes; None = nothing to download, or not pinned for this machine."""
    digest: str | None


class FetchedRelease(msgspec.Struct, frozen=True, kw_only=True):
    """One release that lies on this disk now."""

    name: str
    version: str
    path: str
    digest: str
    size_bytes: int
    cached: bool


def known_releases(cache_dir: Path) -> list[KnownRelease]:
    """Every release of every harness, in the order of their names."""
    return [
        _described(cache_dir, name, version) for name in NAMES for version in adapter(name).versions
    ]


def release_of(text: str) -> tuple[str, str]:
    """NAME or NAME@VERSION as name and version; without one the newest that was measured."""
    name, _, version = text.partition("@")
    return name, version or adapter(name).versions[-1]


def listing_lines(releases: Sequence[KnownRelease]) -> list[str]:
    """The table for people."""
    head = ("harness", "version", "state", "on disk", "download", "APIs")
    rows = [
        (
            release.name,
            release.version,
            release.state,
            _size(release.size_bytes),
            _size(release.download_bytes),
            ", ".join(release.dialects) or "asks no model",
        )
        for release in releases
    ]
    widths = [max(len(row[column]) for row in (head, *rows)) for column in range(len(head))]
    return [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in (head, *rows)
    ]


def _described(cache_dir: Path, name: str, version: str) -> KnownRelease:
    found = adapter(name)
    pin = harness_store.lock().get(name, {}).get(version, {}).get(architecture().npm)
    state = "built-in" if name in harness_store.BUILT_IN else "fetchable" if pin else "not pinned"
    size = digest = None
    try:
        stored = harness_store.stored(cache_dir, name, version)
    except IntegrityError:
        stored, state = None, "changed"
    if stored is not None:
        state = state if name in harness_store.BUILT_IN else "stored"
        size, digest = stored.size_bytes, stored.digest
    return KnownRelease(
        name=name,
        version=version,
        dialects=tuple(found.dialects) if found.asks_model else (),
        state=state,
        size_bytes=size,
        download_bytes=pin.size_bytes if pin else None,
        digest=digest,
    )


def _size(value: int | None) -> str:
    if value is None:
        return "-"
    return "0 MB" if value == 0 else f"{max(1, round(value / 1_000_000))} MB"
