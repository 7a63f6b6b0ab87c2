"""One attempt as processes of this host, in namespaces of its own, where there is no gVisor.

The same interface as the attached runsc. Its isolation from the host is the kernel's alone, so the
launch says `isolation: none`. Decides nothing about outcomes.
"""

import asyncio
import os
import signal
from contextlib import suppress
from pathlib import Path

import msgspec

from stanchion.runner.sandbox.process_powers import entry_command
from stanchion.runner.sandbox.process_view import HOSTS, OPT, Entry, Listed, hosts_text
from stanchion.runner.sandbox.runsc import Drain, die_with, drained_exit

TOP = Path("/")


def look_at_host(top: Path = TOP) -> Listed:
    """What lies at the host's root."""
    return Listed(
        top={
            path.name: str(path.readlink()) if path.is_symlink() else None
            for path in top.iterdir()
            if path.is_symlink() or path.is_dir()
        },
        opt=[path.name for path in (top / OPT).glob("*") if path.is_dir()],
        has_hosts=(top / "etc/hosts").is_file(),
    )


def _lay_out(root: Path, folder: Path) -> None:
    root.mkdir(mode=0o755)
    (folder / HOSTS).write_text(hosts_text(), encoding="ascii")


class ProcessSandbox:
    """A started attempt."""

    def __init__(self, process: asyncio.subprocess.Process, drain: Drain) -> None:
        self._process = process
        self._drain = drain

    @classmethod
    async def start(cls, entry: Entry, *, folder: Path, drain: Drain) -> "ProcessSandbox":
        """Start it; OSError if the interpreter cannot be executed. `folder` is its scratch."""
        _lay_out(Path(entry.root), folder)
        process = await asyncio.create_subprocess_exec(
            *entry_command(),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            env={},
            cwd="/",
            start_new_session=True,
            preexec_fn=die_with(os.getpid()),
        )
        assert process.stdin is not None
        process.stdin.write(msgspec.json.encode(entry))
        with suppress(ConnectionError):  # one that died at once says why by itself
            await process.stdin.drain()
        process.stdin.close()
        return cls(process, drain)

    @property
    def pid(self) -> int:
        """Of the parent of the attempt's process 1; it is outside of the namespaces."""
        return self._process.pid

    async def wait(self) -> int:
        """The exit code, after all output has been drained. To be awaited by one task."""
        code = await drained_exit(self._process, self._drain)
        return code if code >= 0 else 128 - code

    async def signal(self, name: str) -> bool:
        """Send TERM or KILL; TERM is passed on to process 1, KILL takes everything along."""
        if self._process.returncode is not None:
            return False
        with suppress(ProcessLookupError):
            self._process.send_signal(signal.Signals[f"SIG{name}"])
        return True

    async def end(self, waiting: "asyncio.Task[int]", *, grace_s: float) -> int:
        """TERM, then KILL after the grace; returns the exit code from the task that waits."""
        await self.signal("TERM")
        done, _ = await asyncio.wait([waiting], timeout=grace_s)
        if not done:
            await self.signal("KILL")
        return await waiting
