"""An attempt that runs: a real keeper and broker, with a program in the place of runsc."""

import asyncio
import os
import select
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import msgspec

from fakes.slow_runsc import SlowRunsc
from stanchion.broker.client import StatePaths
from stanchion.runner.keeper.notes import NOTES
from stanchion.runner.keeper.order import Opened, Order
from stanchion.runner.launching.brokers import ensure_broker
from stanchion.runner.launching.keepers import Keeper
from stanchion.runner.sandbox.cgroup import GroupV1

GROUPS = Path("/sys/fs/cgroup")


@dataclass
class Running:
    """The attempt and its keeper."""

    id: str
    keeper: Keeper
    order: Order
    runsc: SlowRunsc
    door: int
    """Closing it ends the sandbox."""

    @property
    def folder(self) -> Path:
        return Path(self.order.result_folder)

    def let_go(self) -> None:
        if self.door >= 0:
            os.close(self.door)
            self.door = -1


@asynccontextmanager
async def running(order: Order, paths: StatePaths, folder: Path) -> AsyncIterator[Running]:
    """To be left with its keeper ended, one way or the other."""
    await ensure_broker(paths, None, print)
    runsc = SlowRunsc.make(folder / "runsc")
    pieces = msgspec.structs.replace(order.pieces, runsc=str(runsc.path))
    order = msgspec.structs.replace(
        order,
        pieces=pieces,
        obey_s=1,
        scratch_folder=str(paths.root / "sandboxes"),
        notes_folder=str(paths.root / NOTES),
    )
    keeper = await Keeper.start(order)
    reports = keeper.reports()
    opened = await anext(reports)
    assert isinstance(opened, Opened), opened
    door = await asyncio.to_thread(runsc.wait_until_it_runs)
    attempt = Running(opened.id, keeper, order, runsc, door)
    try:
        yield attempt
    finally:
        attempt.let_go()
        async for _ in reports:
            pass
        for group in await asyncio.to_thread(_groups, order.sandbox_id):
            await GroupV1(group, "").remove()


def _groups(sandbox_id: str) -> list[Path]:
    return list(GROUPS.glob(f"*/stanchion/{sandbox_id}"))


async def kill(attempt: Running) -> None:
    """And wait for its end without taking note of it, which is `running`'s business."""
    descriptor = os.pidfd_open(attempt.keeper.pid)
    os.kill(attempt.keeper.pid, signal.SIGKILL)
    ended, _, _ = await asyncio.to_thread(select.select, [descriptor], [], [], 20)
    os.close(descriptor)
    assert ended
