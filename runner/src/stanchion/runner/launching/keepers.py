"""Starting a keeper and listening to it; the keeper goes on if this process does not.

The order goes in by standard input alone.
"""

import asyncio
import os
import signal
from collections.abc import AsyncIterator

from stanchion.protocol.codec import decode, encode
from stanchion.runner.host.clean_environment import clean_environment
from stanchion.runner.host.detached import exit_code, reading, spawn_detached
from stanchion.runner.keeper.order import Failed, Opened, Order, Report

MAX_REPORT_BYTES = 1024 * 1024


class Keeper:
    """A keeper's process; it waits for its order until `give`."""

    def __init__(self, pid: int, stdin: int, stdout: int) -> None:
        self.pid = pid
        self._stdin = stdin
        self._stdout = stdout
        self._ended = False

    @classmethod
    def spawn(cls) -> "Keeper":
        """Start one in a session of its own; it gets ready while its order is still made up."""
        its_stdin, stdin = os.pipe()
        stdout, its_stdout = os.pipe()
        try:
            pid = spawn_detached(
                ["-m", "stanchion.runner.keeper"],
                environment=clean_environment(os.environ),
                stdin=its_stdin,
                stdout=its_stdout,
                stderr=2,
            )
        finally:
            for descriptor in (its_stdin, its_stdout):
                os.close(descriptor)
        return cls(pid, stdin, stdout)

    async def give(self, order: Order) -> None:
        """The order; from here on the keeper writes to its log alone."""
        await asyncio.to_thread(_send, self._stdin, encode(order))

    def discard(self) -> None:
        """One that has no order and is not needed after all."""
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        for descriptor in (self._stdin, self._stdout):
            os.close(descriptor)

    @classmethod
    async def start(cls, order: Order) -> "Keeper":
        """Both at once."""
        keeper = cls.spawn()
        await keeper.give(order)
        return keeper

    async def reports(self) -> AsyncIterator[Report]:
        """What it says, to its end; a keeper that ends without a last word has failed."""
        last: Report | None = None
        async with reading(self._stdout, limit_bytes=MAX_REPORT_BYTES) as said:
            async for line in said:
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
