"""Starting a keeper and listening to it; the keeper goes on if this process does not.

The order goes in by standard input alone.
"""

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from pathlib import Path

from stanchion.protocol.codec import decode, encode
from stanchion.runner.clean_environment import clean_environment
from stanchion.runner.detached import exit_code, reader_of, spawn_detached
from stanchion.runner.keeper.order import Failed, Opened, Order, Report

MAX_REPORT_BYTES = 1024 * 1024
LOG_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC


class Keeper:
    """A started keeper."""

    def __init__(self, pid: int, stdout: asyncio.StreamReader) -> None:
        self.pid = pid
        self._stdout = stdout
        self._ended = False

    @classmethod
    async def start(cls, order: Order) -> "Keeper":
        """Start it with this order, in a session of its own."""
        log = os.open(Path(order.result_folder) / "keeper.log", LOG_FLAGS, 0o644)
        its_stdin, stdin = os.pipe()
        stdout, its_stdout = os.pipe()
        try:
            pid = spawn_detached(
                ["-m", "stanchion.runner.keeper"],
                environment=clean_environment(os.environ),
                stdin=its_stdin,
                stdout=its_stdout,
                stderr=log,
            )
        finally:
            for descriptor in (log, its_stdin, its_stdout):
                os.close(descriptor)
        await asyncio.to_thread(_send, stdin, encode(order))
        return cls(pid, await reader_of(stdout, limit_bytes=MAX_REPORT_BYTES))

    async def reports(self) -> AsyncIterator[Report]:
        """What it says, to its end; a keeper that ends without a last word has failed."""
        last: Report | None = None
        async for line in self._stdout:
            last = decode(line, Report)  # type: ignore[arg-type]  # a union is a type here
            yield last
        code = await exit_code(self.pid)
        self._ended = True
        if last is None or isinstance(last, Opened):
            yield Failed(why=f"the keeper ended with exit code {code} and no result")

    def cancel(self) -> None:
        """Ask it to cancel its attempt."""
        if not self._ended:
            os.kill(self.pid, signal.SIGTERM)


def _send(descriptor: int, data: bytes) -> None:
    """All of it; a keeper that died at once says so by its exit code."""
    with os.fdopen(descriptor, "wb") as pipe:
        try:
            pipe.write(data)
            pipe.flush()
        except BrokenPipeError:
            return
