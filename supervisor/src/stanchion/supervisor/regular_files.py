"""Opens files that an agent may have prepared: regular files only, and no link on the way.

The supervisor is root and sees what the agent must not; a link, a pipe or a device in a path that
the agent could write is therefore never followed or opened for reading.
"""

import os
import stat
from pathlib import Path


class NotRegularError(OSError):
    """There is something at the path that is not a plain file reached without links."""


def open_regular(path: Path) -> int:
    """A read-only descriptor. FileNotFoundError = nothing there; NotRegularError = not a file."""
    folder = open_folder(path.parent)
    try:
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY
        file = _open_at(folder, path.name or ".", flags, path)
    finally:
        os.close(folder)
    if not stat.S_ISREG(os.fstat(file).st_mode):
        os.close(file)
        raise NotRegularError(f"{path} is not a regular file")
    return file


def open_folder(path: Path) -> int:
    """A descriptor that names this folder, reached without links."""
    if not path.is_absolute() or ".." in path.parts:
        raise NotRegularError(f"{path} is not an absolute path without ..")
    folder = os.open("/", os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for part in path.parts[1:]:
            flags = os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
            deeper = _open_at(folder, part, flags, path)
            os.close(folder)
            folder = deeper
    except BaseException:
        os.close(folder)
        raise
    return folder


def _open_at(folder: int, name: str, flags: int, path: Path) -> int:
    try:
        return os.open(name, flags, dir_fd=folder)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise NotRegularError(f"{path} is not reached as a plain file: {error.strerror}") from error


def read_regular(path: Path, most_bytes: int) -> bytes | None:
    """The whole content, or None where it is larger than `most_bytes`."""
    file = open_regular(path)
    with os.fdopen(file, "rb") as stream:
        content = stream.read(most_bytes + 1)
    return content if len(content) <= most_bytes else None
