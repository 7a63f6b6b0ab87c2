"""One attached `runsc run`: started, drained, signalled, awaited.

Output goes through pipes, since the sentry overwrites plain files at its own offset. The exit code
is passed on as it is; whether it speaks of the sandbox or of process 1 is decided elsewhere.
"""

import asyncio
import ctypes
import os
import re
import signal
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

_ID = re.compile(r"[0-9a-f]{32}\Z")
_PR_SET_PDEATHSIG = 1
CHUNK_BYTES = 64 * 1024
COMMAND_TIMEOUT_S = 15.0
DRAIN_S = 2.0
_libc = ctypes.CDLL(None, use_errno=True)

Drain = Callable[[bytes], None]
"""Takes a piece of what runsc or process 1 printed."""


@dataclass(frozen=True, slots=True)
class Runsc:
    """How runsc is called for one sandbox."""

    binary: str
    root: Path
    """Where runsc keeps its own state."""
    overlay_dir: Path
    """Where everything that the sandbox writes goes."""
    cgroups: bool
    """False where none can be had: runsc would refuse to start."""

    def command(self, *words: str) -> list[str]:
        """The whole command line."""
        flags = [
            f"--root={self.root}",
            "--network=none",
            "--host-uds=open",
            f"--overlay2=root:dir={self.overlay_dir}",
        ]
        if not self.cgroups:
            flags.append("--ignore-cgroups")
        return [self.binary, *flags, *words]


class Sandbox:
    """A started sandbox."""

    def __init__(
        self, runsc: Runsc, sandbox_id: str, process: asyncio.subprocess.Process, drain: Drain
    ) -> None:
        self.id = sandbox_id
        self._runsc = runsc
        self._process = process
        self._drain = drain

    @classmethod
    async def start(
        cls, runsc: Runsc, *, sandbox_id: str, bundle_dir: Path, drain: Drain
    ) -> "Sandbox":
        """Start it; OSError if runsc itself cannot be executed."""
        if not _ID.match(sandbox_id):  # runsc matches ids by prefix: equal lengths, no surprises
            raise ValueError(f"sandbox id {sandbox_id!r} is not 32 lower-case hex digits")
        process = await asyncio.create_subprocess_exec(
            *runsc.command("run", "--bundle", str(bundle_dir), sandbox_id),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            env=_environment(),
            start_new_session=True,
            preexec_fn=die_with(os.getpid()),
        )
        return cls(runsc, sandbox_id, process, drain)

    @property
    def pid(self) -> int:
        """Of the attached runsc."""
        return self._process.pid

    async def wait(self) -> int:
        """The exit code, after all output has been drained. To be awaited by one task."""
        return await drained_exit(self._process, self._drain)

    async def signal(self, name: str) -> bool:
        """Send TERM or KILL to process 1; True if runsc took it."""
        process = await asyncio.create_subprocess_exec(
            *self._runsc.command("kill", self.id, name),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL,
            env=_environment(),
        )
        try:
            return await asyncio.wait_for(process.wait(), COMMAND_TIMEOUT_S) == 0
        except TimeoutError:
            process.kill()
            await process.wait()
            return False

    async def end(self, waiting: "asyncio.Task[int]", *, grace_s: float) -> int:
        """TERM, then KILL after the grace; returns the exit code from the task that waits."""
        await self.signal("TERM")
        done, _ = await asyncio.wait([waiting], timeout=grace_s)
        if not done and not await self.signal("KILL") and self._process.returncode is None:
            os.killpg(self._process.pid, signal.SIGKILL)  # runsc takes its sandbox along
        return await waiting


async def drained_exit(process: asyncio.subprocess.Process, drain: Drain) -> int:
    """The exit code, once everything that the process printed was handed on."""
    stdout = process.stdout
    assert stdout is not None

    async def pump() -> None:
        while data := await stdout.read(CHUNK_BYTES):
            drain(data)

    async with asyncio.TaskGroup() as group:
        pumping = group.create_task(pump())
        code = await process.wait()
        # A helper that lingers must not hold the end back.
        await asyncio.wait([pumping], timeout=DRAIN_S)
        pumping.cancel()
    return code


def _environment() -> dict[str, str]:
    """All that runsc gets to know of the host's environment."""
    return {"PATH": os.environ.get("PATH", os.defpath)}


def die_with(parent: int) -> Callable[[], None]:
    """Between fork and exec: a sandbox never outlives its keeper."""

    def arm() -> None:
        _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != parent:
            os._exit(127)

    return arm
