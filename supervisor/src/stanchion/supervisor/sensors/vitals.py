"""Samples the agent's processes through /proc; never starts a process for it.

A process that is gone or may not be read gives no figure; nothing here raises for that.
"""

import psutil

from stanchion.supervisor.process_tree import ProcessSample


def sample_tree(shim_pid: int) -> list[ProcessSample]:
    """Every process below the shim; the shim's own children are the harness."""
    try:
        shim = psutil.Process(shim_pid)
        below = shim.children(recursive=True)
    except psutil.Error:
        return []
    return [_sample(process, shim_pid) for process in below]


def own_rss_bytes() -> int:
    """The supervisor's resident size."""
    return int(psutil.Process().memory_info().rss)


def _sample(process: psutil.Process, shim_pid: int) -> ProcessSample:
    cpu_ms = rss_bytes = None
    is_harness = False
    try:
        with process.oneshot():
            is_harness = process.ppid() == shim_pid
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
    )


def _created(process: psutil.Process) -> float:
    try:
        return float(process.create_time())
    except psutil.Error:
        return 0.0
