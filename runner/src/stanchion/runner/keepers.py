"""Starting a keeper and listening to it; the keeper goes on if this process does not.

The order goes in by standard input alone.
"""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator
from pathlib import Path

from stanchion.protocol.codec import decode, encode
from stanchion.runner.keeper.order import Failed, Order, Report

MAX_REPORT_BYTES = 1024 * 1024


class Keeper:
    """A started keeper."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process

    @classmethod
    async def start(cls, order: Order) -> "Keeper":
        """Start it with this order, in a session of its own."""
        log = os.open(
            Path(order.result_folder) / "keeper.log",
            os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC,
            0o644,
        )
        try:
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "stanchion.runner.keeper"),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=log,
                start_new_session=True,
                limit=MAX_REPORT_BYTES,
            )
        finally:
            os.close(log)
        assert process.stdin is not None
        process.stdin.write(encode(order))
        process.stdin.close()
        return cls(process)

    async def reports(self) -> AsyncIterator[Report]:
        """What it says, to its end; a keeper that ends without a last word has failed."""
        assert self._process.stdout is not None
        said_last = False
        async for line in self._process.stdout:
            report: Report = decode(line, Report)  # type: ignore[arg-type]  # a union is a type here
            said_last = report.__struct_config__.tag != "opened"
            yield report
        code = await self._process.wait()
        if not said_last:
            yield Failed(why=f"the keeper ended with exit code {code} and no result")

    def cancel(self) -> None:
        """Ask it to cancel its attempt."""
        if self._process.returncode is None:
            self._process.send_signal(signal.SIGTERM)
