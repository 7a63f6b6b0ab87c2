"""What the bench needs of its machine: C tools, processes on one core, their time and memory."""

import os
import resource
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import psutil

HERE = Path(__file__).parent
PACKAGES = ("nginx-light", "haproxy", "gcc", "libc6-dev")
LOAD_CORE = 0
PROXY_CORE = (os.cpu_count() or 1) - 1
"""Load tools and this program on the one, what is measured on the other."""


def set_up() -> None:
    """Install what is missing (Debian), and allow as many descriptors as the kernel does."""
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    if all(shutil.which(name) for name in ("nginx", "haproxy", "cc")):
        return
    if shutil.which("apt-get") is None or os.geteuid() != 0:
        sys.exit(f"install these packages first: {' '.join(PACKAGES)}")
    for words in (("update", "-qq"), ("install", "-y", "-qq", *PACKAGES)):
        subprocess.run(["apt-get", *words], check=True, stdout=subprocess.DEVNULL)


def build(folder: Path) -> None:
    """Compile both tools into a folder."""
    for name in ("provider", "client"):
        command = ["cc", "-O2", "-std=c11", "-Wall", "-Wextra", "-Werror", "-o", str(folder / name)]
        subprocess.run([*command, str(HERE / f"{name}.c"), "-lm"], check=True)


def pin(core: int) -> None:
    """This process, and what it starts from now on, on one core."""
    os.sched_setaffinity(0, {core})


def ahead_of_others() -> None:
    """This process, and what it starts, before all ordinary work of the machine (sched(7))."""
    os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))


def free_port() -> int:
    """One that nobody listens on now."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port: int = one.getsockname()[1]
        return port


def family(pid: int) -> list[int]:
    """A process and all below it."""
    process = psutil.Process(pid)
    return [pid, *(child.pid for child in process.children(recursive=True))]


def cpu_ns(pids: Iterable[int]) -> int:
    """Time on a core of all threads of these processes, as the scheduler counts it."""
    total = 0
    for pid in pids:
        for task in Path(f"/proc/{pid}/task").iterdir():
            total += int((task / "schedstat").read_text(encoding="ascii").split()[0])
    return total


def pss_mb(pids: Iterable[int]) -> float:
    """Memory of these processes, shared pages by their share."""
    total_kb = 0
    for pid in pids:
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii").splitlines():
            if line.startswith("Pss:"):
                total_kb += int(line.split()[1])
    return total_kb / 1024


@dataclass(frozen=True, slots=True)
class Busy:
    """Time on all cores since the start of the machine, in seconds."""

    seconds: float

    @classmethod
    def now(cls) -> "Busy":
        times = psutil.cpu_times()
        idle = times.idle + times.iowait
        return cls(sum(times) - idle - times.guest - times.guest_nice)
