"""Collects what a task wants kept, after its tests: plain files only, no link on the way, bounded.

The agent may have prepared whatever is here. A link, pipe or device is left out by name, a folder
is opened by descriptor, and what is too much is said and left out. It never fails an attempt.
"""

import errno
import hashlib
import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from stanchion.protocol.events import FileSent, Warned
from stanchion.protocol.launch import Artifact
from stanchion.supervisor.answers import PIECE_BYTES, Send
from stanchion.supervisor.regular_files import open_folder

MOST_FILE_BYTES = 64 * 1024 * 1024
MOST_BYTES = 256 * 1024 * 1024
MOST_FILES = 2_000
MOST_DEPTH = 64


@dataclass(frozen=True, slots=True)
class Found:
    """One file below an artifact's source; `descriptor` is the reader's to close."""

    inside: str
    """Path below the source; empty where the source is the file itself."""
    descriptor: int


class Collection:
    """All artifacts of one attempt, within its bounds."""

    def __init__(self, send: Send, *, answers: Sequence[str] = ()) -> None:
        self._send = send
        self._taken = {path.lstrip("/") for path in answers}
        """Places of the answers, which were frozen before the tests could touch them."""
        self._files = 0
        self._bytes = 0
        self._full = False

    async def collect(self, artifact: Artifact, *, wanted: bool = True) -> None:
        """One artifact; a source that is not there is worth a word only if it was asked for."""
        left_out: list[str] = []
        try:
            for found in _files(artifact, left_out):
                await self._keep(artifact, found)
        except FileNotFoundError:
            if wanted:
                await self._warn(f"{artifact.source} is not there")
        except OSError as error:
            await self._warn(f"{artifact.source} was not kept: {error}")
        if left_out:
            more = f" and {len(left_out) - 1} more" if len(left_out) > 1 else ""
            await self._warn(f"{left_out[0]}{more} was left out: not a plain file or folder")

    async def _keep(self, artifact: Artifact, found: Found) -> None:
        place = _place(artifact, found.inside)
        with os.fdopen(found.descriptor, "rb") as stream:
            size_bytes = os.fstat(stream.fileno()).st_size
            if place in self._taken:
                return
            if self._has_room(size_bytes):
                self._files += 1
                self._bytes += size_bytes
                await self._send_pieces(place, stream, size_bytes)
            elif not self._full:
                self._full = True
                await self._warn(f"{place} and what else is beyond the bounds was left out")

    def _has_room(self, size_bytes: int) -> bool:
        return (
            size_bytes <= MOST_FILE_BYTES
            and self._bytes + size_bytes <= MOST_BYTES
            and self._files < MOST_FILES
        )

    async def _send_pieces(self, place: str, stream: BinaryIO, size_bytes: int) -> None:
        total, offset, last = hashlib.sha256(), 0, False
        while not last:
            piece = stream.read(min(PIECE_BYTES, size_bytes - offset))
            total.update(piece)
            last = offset + len(piece) >= size_bytes or not piece
            await self._send(
                FileSent(
                    purpose="artifact",
                    path=place,
                    offset=offset,
                    data=piece,
                    last=last,
                    sha256=total.hexdigest() if last else None,
                )
            )
            offset += len(piece)

    async def _warn(self, detail: str) -> None:
        await self._send(Warned(what="artifact", detail=detail))


def _place(artifact: Artifact, inside: str) -> str:
    """Below the result's artifacts folder."""
    base = PurePosixPath(artifact.destination or artifact.source.lstrip("/"))
    return str(base / inside) if inside else str(base)


def _files(artifact: Artifact, left_out: list[str]) -> Iterator[Found]:
    source = Path(artifact.source)
    parent = open_folder(source.parent)
    try:
        yield from _entry(parent, source.name, "", artifact, left_out)
    finally:
        os.close(parent)


def _entry(
    folder: int, name: str, inside: str, artifact: Artifact, left_out: list[str]
) -> Iterator[Found]:
    """The file of this name, or the files below the folder of this name."""
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY
    try:
        descriptor = os.open(name, flags, dir_fd=folder)
    except OSError as error:
        if error.errno in {errno.ELOOP, errno.ENXIO}:  # a link, or a socket
            left_out.append(inside or artifact.source)
            return
        raise
    kind = os.fstat(descriptor).st_mode
    if stat.S_ISREG(kind):
        yield Found(inside, descriptor)
        return
    try:
        if stat.S_ISDIR(kind) and inside.count("/") < MOST_DEPTH:
            for child in sorted(os.listdir(descriptor)):  # noqa: PTH208 - by descriptor
                below = f"{inside}/{child}" if inside else child
                if not _excluded(below, artifact.exclude):
                    yield from _entry(descriptor, child, below, artifact, left_out)
        else:
            left_out.append(inside or artifact.source)
    finally:
        os.close(descriptor)


def _excluded(inside: str, patterns: tuple[str, ...]) -> bool:
    """As tar's --exclude: a pattern fits the whole path or any of its last parts."""
    parts = inside.split("/")
    tails = ["/".join(parts[index:]) for index in range(len(parts))]
    return any(fnmatchcase(tail, pattern.rstrip("/")) for pattern in patterns for tail in tails)
