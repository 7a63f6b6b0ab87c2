"""Reads /proc: whose child a process is, its state, its PID namespace.

Standard library only (the shim uses it too). A process that vanishes while it is read is skipped;
one that may not be read is reported as such, never as absent.
"""

# Importing pathlib would delay every start by 30 ms in gVisor.
# ruff: noqa: PTH115, PTH123, PTH208

import os

PROC = "/proc"


class Entry:
    """A process as /proc shows it."""

    __slots__ = ("parent", "pid", "state")

    def __init__(self, pid: int, parent: int, state: str) -> None:
        self.pid = pid
        self.parent = parent
        self.state = state
        """One letter: R, S, D, T (stopped), Z (ended, not reaped)."""


def numbers(proc: str = PROC) -> list[int]:
    """Every visible process."""
    return sorted(int(name) for name in os.listdir(proc) if name.isdecimal())


def parse_stat(text: str) -> Entry:
    """A /proc/PID/stat; the name in brackets may hold anything, brackets too."""
    pid, rest = text.split(" ", 1)
    state, parent, *_ = rest.rpartition(")")[2].split()
    return Entry(int(pid), int(parent), state)


def look(pid: int, proc: str = PROC) -> Entry | None:
    """One process; None = there is no such process."""
    try:
        with open(f"{proc}/{pid}/stat", encoding="utf-8", errors="replace") as file:
            return parse_stat(file.read())
    except (FileNotFoundError, ProcessLookupError, ValueError):
        return None


def is_running(pid: int, proc: str = PROC) -> bool:
    """Whether it exists and has not ended."""
    entry = look(pid, proc)
    return entry is not None and entry.state != "Z"


def children(parent: int, proc: str = PROC) -> list[int]:
    """Direct children, ended but unreaped ones included."""
    seen = (look(pid, proc) for pid in numbers(proc))
    return [entry.pid for entry in seen if entry and entry.parent == parent]


def pid_namespace(pid: int, proc: str = PROC) -> str | None:
    """The name of a process's PID namespace; None = there is no such process."""
    try:
        return os.readlink(f"{proc}/{pid}/ns/pid")
    except (FileNotFoundError, ProcessLookupError):
        return None


def inhabitants(namespace: str, proc: str = PROC) -> list[int]:
    """Processes of a PID namespace that have not ended."""
    return [pid for pid in numbers(proc) if _lives_in(namespace, pid, proc)]


def _lives_in(namespace: str, pid: int, proc: str) -> bool:
    if not is_running(pid, proc):
        return False
    try:
        return pid_namespace(pid, proc) == namespace
    except PermissionError:
        # gVisor says so of a process that has just ended, too.
        if is_running(pid, proc):
            raise
        return False
