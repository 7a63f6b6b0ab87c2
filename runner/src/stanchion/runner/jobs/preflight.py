"""Is there room for a job on this host. Pure; the figures are read elsewhere.

Disk that is too small is refused before anything starts, because an attempt that dies of it proves
nothing about its agent. Memory that could become short is said and not refused: limits are not use.
"""

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from stanchion.protocol.refusal import RefusedError, refuse

OVERLAY_MB = 256
"""Reckoned for the files of a running sandbox; what a task writes beyond it is its own."""
RESULT_MB = 8
"""Reckoned for transcript, logs and receipts of an attempt."""


@dataclass(frozen=True, slots=True)
class Place:
    """One file system and what is asked of it."""

    path: Path
    device: int
    free_mb: int


def needed_mb(*, running: int, attempts: int) -> tuple[int, int]:
    """For sandboxes and for results."""
    return running * OVERLAY_MB, attempts * RESULT_MB


def check_disk(scratch: Place, results: Place, *, running: int, attempts: int) -> None:
    """RefusedError names the folder whose file system is too small."""
    for_scratch, for_results = needed_mb(running=running, attempts=attempts)
    if scratch.device == results.device:
        _check(scratch, for_scratch + for_results, attempts, running)
        return
    _check(scratch, for_scratch, attempts, running)
    _check(results, for_results, attempts, running)


def _check(place: Place, wanted_mb: int, attempts: int, running: int) -> None:
    if place.free_mb < wanted_mb:
        raise _refused(place, wanted_mb, attempts, running)


def _refused(place: Place, wanted_mb: int, attempts: int, running: int) -> RefusedError:
    return refuse(
        "disk_low",
        field=str(place.path),
        value=f"{place.free_mb} MB free",
        rule=f"{attempts} attempts, {running} at a time, are reckoned to need {wanted_mb} MB there",
        remedy="free some space, lower -n, or use another -o or --state-dir",
    )


def memory_warning(
    limits_mb: Collection[int], *, running: int, available_mb: int | None
) -> str | None:
    """What to say where the sandboxes' limits together are above what the host has free."""
    if available_mb is None or not limits_mb:
        return None
    wanted = max(limits_mb) * running
    if wanted <= available_mb:
        return None
    return (
        f"memory    {running} sandboxes may take {wanted} MB together, the host has "
        f"{available_mb} MB available: lower -n or --memory if attempts end oom"
    )
