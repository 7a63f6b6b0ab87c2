"""Whether a process is still the one that was meant: a pid alone is used again, after a reboot too.

Compares the kernel's boot id and the process's start time (proc(5): /proc/PID/stat, field 22).
Says "gone" only where that is proved.
"""

import os
from pathlib import Path

PROC = Path("/proc")
_BOOT_ID = Path("sys/kernel/random/boot_id")
_START_TIME = 19
"""Of what follows the command's name, which is field 2 and may hold anything."""


def identity_of(pid: int, proc: Path = PROC) -> str | None:
    """What tells this process from all others on this host; None where there is no such process."""
    try:
        stat = (proc / str(pid) / "stat").read_bytes()
        boot = (proc / _BOOT_ID).read_text().strip()
    except (FileNotFoundError, ProcessLookupError):
        return None
    fields = stat.rpartition(b")")[2].split()
    if fields[0] in {b"Z", b"X"}:  # it has ended, whoever has not yet taken note of it
        return None
    return f"{boot} {fields[_START_TIME].decode()}"


def own_identity() -> str:
    """Of this process."""
    found = identity_of(os.getpid())
    assert found is not None, "a process that runs is in /proc"
    return found


def is_gone(pid: int, identity: str, proc: Path = PROC) -> bool:
    """Whether the process that had this identity is proved to have ended."""
    return identity_of(pid, proc) != identity
