"""The rehearsal provider as a subprocess: started for one attempt, gone with it.

The key goes in by standard input alone; the end of standard input ends it.
"""

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec

READY_S = 30.0
END_S = 5.0


class RehearsalError(Exception):
    """The rehearsal provider did not start; the message is its own."""


class _Ready(msgspec.Struct):
    port: int
    pid: int


@asynccontextmanager
async def rehearsing(script: Path, *, key: str, log: Path) -> AsyncIterator[int]:
    """A provider that plays the script on loopback; yields its port."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "stanchion.rehearsal", "--script", str(script)),
        *("--port", "0", "--key-stdin", "--die-with-stdin", "--log", str(log)),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    assert process.stdin is not None
    try:
        process.stdin.write(f"{key}\n".encode())
        yield await _port(process)
    finally:
        process.stdin.close()
        try:
            await asyncio.wait_for(process.wait(), END_S)
        except TimeoutError:
            process.kill()
            await process.wait()


async def _port(process: asyncio.subprocess.Process) -> int:
    assert process.stdout is not None
    assert process.stderr is not None
    try:
        line = await asyncio.wait_for(process.stdout.readline(), READY_S)
    except TimeoutError:
        raise RehearsalError(f"the rehearsal provider was not ready in {READY_S:.0f} s") from None
    if not line:
        words = (await process.stderr.read()).decode(errors="replace").strip()
        raise RehearsalError(words or "the rehearsal provider ended before it was ready")
    return msgspec.json.decode(line, type=_Ready).port
