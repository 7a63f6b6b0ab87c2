"""Waits for a file as the kernel tells of it."""

import os
import select
from pathlib import Path

from stanchion.supervisor.sensors.inotify import Inotify


def until_there(path: Path, *, timeout_s: float) -> None:
    """Block until the file is there; a rename puts it there whole."""
    queue = Inotify()
    folder = os.open(path.parent, os.O_PATH)
    try:
        queue.watch(folder)
        while not path.exists():
            told, _, _ = select.select([queue.file], [], [], timeout_s)
            assert told, f"{path} did not come"
            queue.read()
    finally:
        os.close(folder)
        queue.close()
