"""What a directory tree holds, in a form that two machines agree on.

`digest` depends on content alone (path, kind, mode, bytes), never on times, owners or inodes.
`stamp` is the opposite: cheap, local, and different as soon as anything was touched; it decides
only whether the content has to be read again, never that content is right.
"""

import hashlib
import os
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path


class Kind(StrEnum):
    """What a path can be; a device or socket is named, never read."""

    FOLDER = "folder"
    FILE = "file"
    LINK = "link"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Item:
    """One path below the root of a tree."""

    path: str
    kind: Kind
    mode: int
    size_bytes: int
    content: str
    """sha256 of a file, target of a link, empty otherwise."""


def walk(root: Path) -> Iterator[tuple[str, os.stat_result]]:
    """Every path below root with its own status, sorted, links not followed."""
    pending = [""]
    while pending:
        folder = pending.pop()
        entries = sorted(os.scandir(root / folder), key=lambda entry: os.fsencode(entry.name))
        for entry in entries:
            path = f"{folder}/{entry.name}" if folder else entry.name
            yield path, entry.stat(follow_symlinks=False)
        pending.extend(
            f"{folder}/{entry.name}" if folder else entry.name
            for entry in reversed(entries)
            if entry.is_dir(follow_symlinks=False)
        )


def items(root: Path) -> list[Item]:
    """The whole content of a tree, sorted by path."""
    found = [_item(root, path, status) for path, status in walk(root)]
    return sorted(found, key=lambda item: os.fsencode(item.path))


def digest(content: Iterable[Item]) -> str:
    """Equal content gives an equal digest, whoever built it and when."""
    total = hashlib.sha256()
    for item in content:
        fields = (item.path, item.kind, f"{item.mode:o}", str(item.size_bytes), item.content)
        total.update(b"\0".join(os.fsencode(field) for field in fields) + b"\n")
    return total.hexdigest()


def without_folders(content: Iterable[Item]) -> list[Item]:
    """What a tree holds beside its folders."""
    return [item for item in content if item.kind is not Kind.FOLDER]


def size_bytes(content: Iterable[Item]) -> int:
    """What the files of a tree add up to."""
    return sum(item.size_bytes for item in content)


def stamp(root: Path) -> str:
    """A cheap fingerprint of names, sizes, times and inodes; reads no file.

    Folders do not count: runsc makes an empty one in a root file system for each thing it binds.
    """
    total = hashlib.sha256()
    for path, status in walk(root):
        if stat.S_ISDIR(status.st_mode):
            continue
        fields = f"{status.st_mode} {status.st_size} {status.st_mtime_ns} {status.st_ino}"
        total.update(os.fsencode(path) + b"\0" + fields.encode() + b"\n")
    return total.hexdigest()


def file_sha256(path: Path) -> str:
    """The digest of one file."""
    return file_digest(path, "sha256").hex()


def file_digest(path: Path, algorithm: str) -> bytes:
    """The digest of one file by a named algorithm."""
    with path.open("rb") as source:
        return hashlib.file_digest(source, algorithm).digest()


def _item(root: Path, path: str, status: os.stat_result) -> Item:
    mode = stat.S_IMODE(status.st_mode)
    full = root / path
    if stat.S_ISDIR(status.st_mode):
        return Item(path, Kind.FOLDER, mode, 0, "")
    if stat.S_ISREG(status.st_mode):
        return Item(path, Kind.FILE, mode, status.st_size, file_sha256(full))
    if stat.S_ISLNK(status.st_mode):
        return Item(path, Kind.LINK, 0o777, 0, str(full.readlink()))
    return Item(path, Kind.OTHER, mode, 0, f"{stat.S_IFMT(status.st_mode):o}")
