"""Commands as processes of their own, beside an attempt that runs."""

import asyncio
import subprocess
import sys

from tests.functional.runner.running import Running

from stanchion.broker.client import BrokerClient, StatePaths
from stanchion.protocol.events import Stage, StageChanged, StageState


def command(paths: StatePaths, *words: str) -> list[str]:
    return [sys.executable, "-m", "stanchion.runner", *words, "--state-dir", str(paths.root)]


async def told(paths: StatePaths, *words: str) -> tuple[int, str, str]:
    """Exit code, standard output, standard error."""
    done = await asyncio.to_thread(
        subprocess.run, command(paths, *words), capture_output=True, text=True, timeout=60
    )
    return done.returncode, done.stdout, done.stderr


async def started(paths: StatePaths, *words: str) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        *command(paths, *words),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )


async def lines_until(stream: asyncio.StreamReader | None, word: str) -> str:
    assert stream is not None
    seen = ""
    while word not in seen:
        line = await stream.readline()
        assert line, seen
        seen += line.decode()
    return seen


async def seen_from_outside(attempt: Running, paths: StatePaths) -> None:
    """Something that a watcher prints, so that a test knows that it watches."""
    async with BrokerClient(paths.admin_socket) as broker:
        failed = StageChanged(stage=Stage.ROOTFS, state=StageState.FAILED, detail="a sign")
        await broker.note(attempt.id, failed)
