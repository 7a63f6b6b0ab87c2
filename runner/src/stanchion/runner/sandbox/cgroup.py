"""The memory cgroup of one sandbox: made before it, read after it, removed last.

A process that the memory limit kills inside gVisor shows there as a plain exit with code 1
(google/gvisor#1967), and runsc removes the cgroups that it made itself at once; only a cgroup of
ours still tells afterwards. Where none can be had, says why, and limits count as not enforced.
"""

import asyncio
import errno
from dataclasses import dataclass
from pathlib import Path

PARENT = "stanchion"
"""One permanent parent for all sandboxes: runsc leaves the parents it meets behind."""
MOUNT = Path("/sys/fs/cgroup")
REMOVE_TRIES = 40
REMOVE_PAUSE_S = 0.05


@dataclass(frozen=True, slots=True)
class Unavailable:
    """No memory cgroup: runs go on without an enforced limit."""

    why: str


@dataclass(frozen=True, slots=True)
class GroupV1:
    """The legacy hierarchy's memory controller."""

    folder: Path
    cgroups_path: str
    """As runsc is told."""

    def oom_kills(self) -> int | None:
        return _counter(self.folder / "memory.oom_control", "oom_kill")

    def peak_bytes(self) -> int | None:
        return _number(self.folder / "memory.max_usage_in_bytes")

    async def remove(self) -> None:
        await _remove(self.folder)


@dataclass(frozen=True, slots=True)
class GroupV2:
    """The unified hierarchy."""

    folder: Path
    cgroups_path: str
    """As runsc is told."""

    def oom_kills(self) -> int | None:
        return _counter(self.folder / "memory.events", "oom_kill")

    def peak_bytes(self) -> int | None:
        return _number(self.folder / "memory.peak")

    async def remove(self) -> None:
        await _remove(self.folder)


MemoryGroup = GroupV1 | GroupV2
"""Reads None where a counter is unreadable; `remove` raises OSError while something lives in it."""


def make_group(
    sandbox_id: str, *, memory_bytes: int, mount: Path = MOUNT, parent: str = PARENT
) -> MemoryGroup | Unavailable:
    """A fresh cgroup with the limit set, in whichever hierarchy this host has."""
    try:
        if (mount / "cgroup.controllers").is_file():
            return _make_v2(sandbox_id, memory_bytes, mount, parent)
        if (mount / "memory").is_dir():
            return _make_v1(sandbox_id, memory_bytes, mount, parent)
    except OSError as error:
        return Unavailable(
            f"{error.filename or mount}: {error.strerror}; "
            "memory limits need root and a writable cgroup"
        )
    return Unavailable(f"{mount} has no memory controller; memory limits need one")


def _make_v1(sandbox_id: str, memory_bytes: int, mount: Path, parent: str) -> GroupV1:
    folder = mount / "memory" / parent / sandbox_id
    folder.mkdir(parents=True)
    _limit(folder, "memory.limit_in_bytes", memory_bytes)
    return GroupV1(folder, f"/{parent}/{sandbox_id}")


def _make_v2(sandbox_id: str, memory_bytes: int, mount: Path, parent: str) -> GroupV2:
    top = mount / parent
    for folder in (mount, top):
        folder.mkdir(exist_ok=True)
        _delegate(folder)
    folder = top / sandbox_id
    folder.mkdir()
    _limit(folder, "memory.max", memory_bytes)
    if (folder / "memory.swap.max").exists():
        (folder / "memory.swap.max").write_text("0")
    return GroupV2(folder, f"/{parent}/{sandbox_id}")


def _delegate(folder: Path) -> None:
    """Let children of the folder have memory and CPU limits."""
    given = (folder / "cgroup.subtree_control").read_text().split()
    for controller in ("memory", "cpu"):
        if controller not in given:
            (folder / "cgroup.subtree_control").write_text(f"+{controller}")


def _limit(folder: Path, name: str, memory_bytes: int) -> None:
    try:
        (folder / name).write_text(str(memory_bytes))
    except OSError:
        folder.rmdir()
        raise


def _counter(path: Path, name: str) -> int | None:
    try:
        lines = path.read_text().splitlines()
    except OSError:
        return None
    for line in lines:
        key, _, value = line.partition(" ")
        if key == name and value.strip().isdigit():
            return int(value)
    return None


def _number(path: Path) -> int | None:
    try:
        text = path.read_text().strip()
    except OSError:
        return None
    return int(text) if text.isdigit() else None


async def _remove(folder: Path) -> None:
    """The kernel lets go of a cgroup a moment after its last process is gone."""
    for _ in range(REMOVE_TRIES):
        if _removed(folder):
            return
        await asyncio.sleep(REMOVE_PAUSE_S)
    folder.rmdir()  # noqa: ASYNC240 - a system call that cannot block


def _removed(folder: Path) -> bool:
    try:
        folder.rmdir()
    except FileNotFoundError:
        return True
    except OSError as error:
        if error.errno != errno.EBUSY:
            raise
        return False
    return True
