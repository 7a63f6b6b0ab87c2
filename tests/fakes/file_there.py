"""Waits for files as the kernel tells of them."""

import os
import select
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from stanchion.supervisor.sensors.inotify import Inotify


def until_there(path: Path, *, timeout_s: float) -> None:
    """Block until the file is there; a rename puts it there whole."""
    until_so(path.exists, path.parent, timeout_s=timeout_s)


def until_so(come: Callable[[], object], folder: Path, *, timeout_s: float) -> None:
    """Block until it is so, with a look after each change in the folder or below it.

    The folder may be there later.
    """
    latest = time.monotonic() + timeout_s
    queue = Inotify()
    try:
        while True:
            _watch_all(queue, folder)
            if come():  # after the watches: what comes from now on is told of
                return
            told, _, _ = select.select([queue.file], [], [], max(0, latest - time.monotonic()))
            assert told, f"what was waited for in {folder} did not come"
            queue.read()
    finally:
        queue.close()


def _watch_all(queue: Inotify, folder: Path) -> None:
    """Until a look finds none without a watch: of what is made between the two nobody tells."""
    watches: set[int | None] = set()
    before = -1
    while len(watches) > before:
        before = len(watches)
        watches |= {_watch(queue, place) for place in _folders(folder)}


def _folders(folder: Path) -> Iterator[Path]:
    """The folder and all below it, or the nearest above it that is there."""
    if not folder.is_dir():
        yield next(parent for parent in folder.absolute().parents if parent.is_dir())
        return
    for place, _, _ in os.walk(folder):
        yield Path(place)


def _watch(queue: Inotify, place: Path) -> int | None:
    """Once more is the same watch; a folder that has gone meanwhile has nothing to tell."""
    try:
        descriptor = os.open(place, os.O_PATH)
    except FileNotFoundError:
        return None
    try:
        return queue.watch(descriptor)
    finally:
        os.close(descriptor)
