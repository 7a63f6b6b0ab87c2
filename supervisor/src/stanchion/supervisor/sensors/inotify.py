"""Asks the kernel to tell what is written in a folder: inotify(7), through the C library.

Reading is not asked for, so the supervisor's own looks are never events. gVisor has all of this.
Standard library only: see docs/decisions/0003.
"""

import ctypes
import os
import struct
from dataclasses import dataclass

MODIFY, CLOSE_WRITE, MOVED_FROM, MOVED_TO = 0x0002, 0x0008, 0x0040, 0x0080
CREATE, DELETE, DELETE_SELF, MOVE_SELF = 0x0100, 0x0200, 0x0400, 0x0800
UNMOUNT, OVERFLOW, IGNORED = 0x2000, 0x4000, 0x8000
ONLY_FOLDERS = 0x0100_0000
WRITES = MODIFY | CLOSE_WRITE | MOVED_FROM | MOVED_TO | CREATE | DELETE | DELETE_SELF | MOVE_SELF
READ_BYTES = 64 * 1024
MOST_READS = 16
"""In one go; what a busier folder has to tell comes with the next."""

_EVENT = struct.Struct("iIII")
_libc = ctypes.CDLL(None, use_errno=True)


@dataclass(frozen=True, slots=True)
class Change:
    """Something happened in a watched folder."""

    watch: int
    """-1 = in which one is not known: too much happened at once."""
    kind: int
    name: str
    """Of the entry; empty where it is about the folder itself."""


def parse(data: bytes) -> list[Change]:
    """The kernel's records."""
    changes = []
    offset = 0
    while offset + _EVENT.size <= len(data):
        watch, kind, _, length = _EVENT.unpack_from(data, offset)
        offset += _EVENT.size
        name = data[offset : offset + length].rstrip(b"\0")
        changes.append(Change(watch, kind, os.fsdecode(name)))
        offset += length
    return changes


class Inotify:
    """One queue of changes. Its making raises OSError where there is none."""

    def __init__(self) -> None:
        self.file = _checked("inotify_init1", _libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC))

    def watch(self, folder: int) -> int:
        """Watch the folder behind this descriptor, so that no link is ever followed to it."""
        path = f"/proc/self/fd/{folder}".encode()
        watch = _libc.inotify_add_watch(self.file, path, WRITES | ONLY_FOLDERS)
        return _checked("inotify_add_watch", watch)

    def forget(self, watch: int) -> None:
        """Stop; one that is gone already is no error."""
        _libc.inotify_rm_watch(self.file, watch)

    def read(self) -> list[Change]:
        """What happened since the last time; never waits."""
        changes: list[Change] = []
        for _ in range(MOST_READS):
            try:
                data = os.read(self.file, READ_BYTES)
            except BlockingIOError:
                break
            changes += parse(data)
        return changes

    def close(self) -> None:
        os.close(self.file)


def _checked(call: str, result: int) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{call}: {os.strerror(number)}")
    return result
