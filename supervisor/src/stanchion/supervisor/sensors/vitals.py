"""Samples the agent's processes through /proc; never starts a process for it.

A process that is gone or may not be read gives no figure; nothing here raises for that. Bytes moved
are read here and not by psutil, which fails on gVisor's spelling of the first field.
"""

from pathlib import Path

import psutil

from stanchion.supervisor.process_tree import ProcessSample

MOVED = frozenset({"rchar", "char", "wchar"})
"""Fields of /proc/PID/io: bytes that calls read and wrote (proc(5)). `char` is what gVisor calls
the first one."""


def sample_tree(shim_pid: int) -> list[ProcessSample]:
    """Every process below the shim. Its first child is the harness; others are what tools left."""
    try:
        shim = psutil.Process(shim_pid)
        below = shim.children(recursive=True)
        own = [process for process in below if _parent(process) == shim_pid]
    except psutil.Error:
        return []
    harness = min(own, key=lambda process: (_created(process), process.pid), default=None)
    return [_sample(process, is_harness=process == harness) for process in below]


def own_rss_bytes() -> int:
    """The supervisor's resident size."""
    return int(psutil.Process().memory_info().rss)


def _sample(process: psutil.Process, *, is_harness: bool) -> ProcessSample:
    cpu_ms = rss_bytes = None
    try:
        with process.oneshot():
            times = process.cpu_times()
            cpu_ms = round((times.user + times.system) * 1000)
            rss_bytes = int(process.memory_info().rss)
    except psutil.Error:
        pass  # it ended between the listing and the look
    return ProcessSample(
        key=(process.pid, round(_created(process) * 1000)),
        is_harness=is_harness,
        cpu_ms=cpu_ms,
        rss_bytes=rss_bytes,
        moved_bytes=_moved_bytes(process.pid),
    )


def _moved_bytes(pid: int) -> int | None:
    try:
        lines = Path(f"/proc/{pid}/io").read_text("ascii").splitlines()
        fields = dict(line.split(": ") for line in lines)
        return sum(int(fields[name]) for name in MOVED & fields.keys())
    except (OSError, ValueError):
        return None


def _parent(process: psutil.Process) -> int | None:
    try:
        return process.ppid()
    except psutil.Error:
        return None


def _created(process: psutil.Process) -> float:
    try:
        return float(process.create_time())
    except psutil.Error:
        return 0.0
