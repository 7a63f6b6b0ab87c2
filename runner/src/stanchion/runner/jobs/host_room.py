"""Reads what the preflight of a job needs to know of this host."""

import os
from pathlib import Path

import psutil

from stanchion.runner.jobs.preflight import Place

MIB = 1024 * 1024


def place_of(path: Path) -> Place:
    """The file system that a folder is, or will be, on."""
    there = path.absolute()
    while not there.exists():
        there = there.parent
    found = os.statvfs(there)
    return Place(
        path=path, device=there.stat().st_dev, free_mb=found.f_bavail * found.f_frsize // MIB
    )


def available_memory_mb() -> int | None:
    """Memory that can be had without swapping; None where the kernel does not say."""
    try:
        return int(psutil.virtual_memory().available) // MIB
    except (OSError, RuntimeError):
        return None
