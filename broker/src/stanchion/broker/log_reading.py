"""Reads the broker's log: its last lines, then what is added. Needs no broker.

A file that was emptied or replaced is read on from its start. It shows bytes as they are and
decides nothing.
"""

import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

PIECE_BYTES = 64 * 1024
POLL_S = 0.25


def last_lines(file: Path, count: int) -> tuple[bytes, int]:
    """The last lines of the file, and how long it was then."""
    with file.open("rb") as log:
        size = log.seek(0, os.SEEK_END)
        tail, start = b"", size
        while start > 0 and tail.count(b"\n") <= count:
            start = max(0, start - PIECE_BYTES)
            log.seek(start)
            tail = log.read(size - start)
    lines = tail.splitlines(keepends=True)
    return b"".join(lines[-count:] if count else ()), size


def added(
    file: Path, size: int, pause: Callable[[], None] = lambda: time.sleep(POLL_S)
) -> Iterator[bytes]:
    """What comes after that length, as it comes; never ends by itself."""
    identity = _identity(file)
    while True:
        now = _identity(file)
        if now != identity or _size(file) < size:
            identity, size = now, 0
        try:
            with file.open("rb") as log:
                log.seek(size)
                while piece := log.read(PIECE_BYTES):
                    size += len(piece)
                    yield piece
        except FileNotFoundError:
            size = 0
        pause()


def _identity(file: Path) -> int | None:
    try:
        return file.stat().st_ino
    except FileNotFoundError:
        return None


def _size(file: Path) -> int:
    try:
        return file.stat().st_size
    except FileNotFoundError:
        return 0
