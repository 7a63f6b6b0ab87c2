"""Reads the one JSON file that a harness writes anew with every step, whole or not at all.

A file that is just being written does not end as JSON does; the next change brings another look.
It is the agent's to write: its path and its size are checked, and nothing here judges its content.
"""

import os
from pathlib import Path

from stanchion.harness_adapters.base import DocumentStore
from stanchion.supervisor.regular_files import open_regular
from stanchion.supervisor.sensors.store import Rows, Stamp

MOST_BYTES = 128 * 1024 * 1024


class DocumentTail:
    """The reader of one file; a call may raise OSError, which means unknown."""

    def __init__(self, store: DocumentStore) -> None:
        self._path = Path(store.path)
        self._read: Stamp = None

    @property
    def files(self) -> tuple[Path, ...]:
        """The file itself."""
        return (self._path,)

    def stamp(self) -> Stamp:
        """Changes whenever the file was written; a look at the file system only."""
        try:
            status = self._path.lstat()
        except OSError:
            return None
        return (status.st_size, status.st_mtime_ns, status.st_ino, 0)

    def look(self, *, writer_gone: bool = False) -> Rows:  # noqa: ARG002 - nobody is in the way
        """One row with the whole text, where it is whole and was not read before."""
        before = self.stamp()
        if before is None or before == self._read:
            return ()
        try:
            file = open_regular(self._path)
        except FileNotFoundError:
            return ()
        with os.fdopen(file, "rb") as stream:
            size = os.fstat(stream.fileno()).st_size
            if size > MOST_BYTES:
                raise OSError(f"{self._path} is larger than {MOST_BYTES} bytes")
            text = stream.read(MOST_BYTES)
        if self.stamp() != before or not text.rstrip().endswith((b"}", b"]")):
            return ()
        self._read = before
        return ((text,),)

    def close(self) -> None:
        """Nothing is held open between two looks."""
