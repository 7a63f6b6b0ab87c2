"""Starts a Python process that lives on when this one ends, however it ends.

Neither asyncio's nor subprocess's own: both kill or complain about a child that outlives them.
"""

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager

EXTRA_FD = 3
"""Where the child finds `extra`."""


def spawn_detached(
    arguments: Sequence[str],
    *,
    environment: Mapping[str, str],
    stdin: int,
    stdout: int,
    stderr: int,
    extra: int | None = None,
) -> int:
    """Start the interpreter with these arguments in a session of its own; returns its pid.

    It gets these descriptors and no other.
    """
    wanted = [(stdin, 0), (stdout, 1), (stderr, 2)]
    if extra is not None:
        wanted.append((extra, EXTRA_FD))
    given = [(os.POSIX_SPAWN_DUP2, source, target) for source, target in wanted]
    # One that a caller left inheritable, such as a lock's, must not live as long as the child.
    kept = {target for _, target in wanted}
    closed = [
        (os.POSIX_SPAWN_CLOSE, number) for number in _open_descriptors() if number not in kept
    ]
    return os.posix_spawn(
        sys.executable,
        [sys.executable, *arguments],
        environment,
        file_actions=[*given, *closed],
        setsid=True,
    )


def _open_descriptors() -> set[int]:
    return {int(name) for name in os.listdir("/proc/self/fd")}  # noqa: PTH208 - numbers, not paths


async def exit_code(pid: int) -> int:
    """Wait for a child that is about to end; negative for a signal, as subprocess has it."""
    _, status = await asyncio.to_thread(os.waitpid, pid, 0)
    return os.waitstatus_to_exitcode(status)


@asynccontextmanager
async def reading(descriptor: int, *, limit_bytes: int) -> AsyncIterator[asyncio.StreamReader]:
    """A stream of a pipe's read end, which is closed behind it, read to its end or not."""
    reader = asyncio.StreamReader(limit=limit_bytes)
    transport, _ = await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(descriptor, "rb", buffering=0)
    )
    try:
        yield reader
    finally:
        transport.close()
