"""Files that leave the sandbox, put below one folder under the paths they had inside.

Names and sizes are the sandbox's word. No name may lead out of the folder, no link is ever made or
followed, and the whole stays below a bound.
"""

import logging
import os
from pathlib import Path, PurePosixPath

from stanchion.protocol.events import FileSent

MAX_BYTES = 512 * 1024 * 1024
MAX_FILES = 10_000
log = logging.getLogger(__name__)


class ArtifactFiles:
    """The `artifacts/` folder of one attempt."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._bytes = 0
        self._paths: set[PurePosixPath] = set()

    def take(self, piece: FileSent) -> None:
        """Write one piece; a piece that may not be written is logged and dropped."""
        path = inside(piece.path)
        if path is None:
            log.warning("a file named %.200r was not kept: no path inside a folder", piece.path)
            return
        end = piece.offset + len(piece.data)
        too_many = path not in self._paths and len(self._paths) >= MAX_FILES
        if piece.offset < 0 or end > MAX_BYTES or self._bytes + len(piece.data) > MAX_BYTES:
            log.warning("a piece of %s was not kept: more than %d bytes", path, MAX_BYTES)
        elif too_many:
            log.warning("%s was not kept: more than %d files", path, MAX_FILES)
        else:
            self._paths.add(path)
            self._bytes += len(piece.data)
            self._write(self._folder / path, piece)

    def _write(self, target: Path, piece: FileSent) -> None:
        target.parent.mkdir(parents=True, exist_ok=True)
        flags = os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW
        if piece.offset == 0:
            flags |= os.O_TRUNC  # sent again, it may have become shorter
        descriptor = os.open(target, flags, 0o644)
        try:
            os.pwrite(descriptor, piece.data, piece.offset)
        finally:
            os.close(descriptor)


def inside(path: str) -> PurePosixPath | None:
    """The path below a folder; None where it names nothing there."""
    parts = [part for part in path.split("/") if part not in {"", "."}]
    if not parts or ".." in parts or "\0" in path or any(len(part) > 255 for part in parts):
        return None
    return PurePosixPath(*parts)
