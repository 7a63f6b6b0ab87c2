"""One sandbox with its cgroup and folders: put up, run to its end, taken down.

Ends it on the host's own deadline, on a cancel that the supervisor does not obey in time, and when
the broker is lost. Says what happened; what that means is decided elsewhere.
"""

import asyncio
import logging
import os
import shutil
import time
from collections.abc import Callable, Coroutine
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from stanchion.runner.keeper.host_facts import OomCounter
from stanchion.runner.keeper.order import Order
from stanchion.runner.keeper.putting_up import Place, StartedSandbox, put_up
from stanchion.runner.sandbox.cgroup import MemoryGroup, Unavailable, make_group
from stanchion.runner.sandbox.oci import MIB

OOM_POLL_S = 1.0
TERM_GRACE_S = 10.0
KEPT_OUTPUT_BYTES = 256 * 1024
log = logging.getLogger(__name__)


@dataclass(slots=True)
class Life:
    """What was seen of the sandbox's life."""

    started_wall_ms: int
    exit_code: int | None = None
    start_error: str | None = None
    killed_at_deadline: bool = False
    oom: OomCounter = field(default_factory=OomCounter)
    oom_why: str | None = None
    peak_bytes: int | None = None
    output: bytearray = field(default_factory=bytearray)
    """The last of what runsc and process 1 printed."""


def deadline_s(order: Order, *, held_s: int = 0) -> int:
    """When the host ends what nothing inside has ended; time held by the broker does not count."""
    spec = order.open_run.spec
    limits = spec.deadlines
    waits_s = max(spec.waits.max_wait_s, held_s)
    return limits.agent_s + limits.verifier_s + waits_s + order.deadline_slack_s


class SandboxBox:
    """The place of one sandbox on this host."""

    def __init__(
        self, order: Order, directory: Path, *, held_ms: Callable[[int], int] = lambda _: 0
    ) -> None:
        """`held_ms`: for how long the broker held requests of the attempt, until this wall time."""
        self._order = order
        self._held_ms = held_ms
        self._directory = directory
        self._folder = Path(order.scratch_folder) / order.sandbox_id
        spec = order.open_run.spec
        self._group = make_group(order.sandbox_id, memory_bytes=spec.sandbox.memory_mb * MIB)
        self.life = Life(started_wall_ms=_wall_ms())
        if isinstance(self._group, Unavailable):
            self.life.oom_why = self._group.why

    async def run(self, *, stop_soon: asyncio.Event, stop_now: asyncio.Event) -> None:
        """To its end. `stop_soon`: someone told the supervisor to stop; `stop_now`: nobody can."""
        place = Place(self._directory, self._folder, self._group)
        self.life.started_wall_ms = _wall_ms()
        try:
            sandbox = await put_up(self._order, place, self._take_output)
        except OSError as error:
            what = error.filename or "the sandbox"
            self.life.start_error = f"{what} cannot be started: {error.strerror or error}"
            return
        async with asyncio.TaskGroup() as group:
            polling = group.create_task(self._poll_oom())
            waiting = group.create_task(sandbox.wait())
            self.life.exit_code = await self._until_end(sandbox, waiting, stop_soon, stop_now)
            polling.cancel()
        self._read_group()

    async def _until_end(
        self,
        sandbox: StartedSandbox,
        waiting: "asyncio.Task[int]",
        stop_soon: asyncio.Event,
        stop_now: asyncio.Event,
    ) -> int:
        began, in_time, left_s = time.monotonic(), False, float(deadline_s(self._order))
        while not in_time and left_s > 0:
            in_time = await _first(waiting, stop_soon.wait(), stop_now.wait(), timeout_s=left_s)
            limit_s = deadline_s(self._order, held_s=self._held_ms(_wall_ms()) // 1000)
            left_s = began + limit_s - time.monotonic()
        if not in_time:
            log.warning("the host's deadline has passed")
            self.life.killed_at_deadline = True
        elif not waiting.done() and not stop_now.is_set():
            await _first(waiting, stop_now.wait(), timeout_s=self._order.obey_s)
        if waiting.done():
            return waiting.result()
        return await sandbox.end(waiting, grace_s=TERM_GRACE_S)

    def _take_output(self, data: bytes) -> None:
        self.life.output += data
        del self.life.output[:-KEPT_OUTPUT_BYTES]

    async def _poll_oom(self) -> None:
        while True:
            self._read_group()
            await asyncio.sleep(OOM_POLL_S)

    def _read_group(self) -> None:
        if isinstance(self._group, Unavailable):
            return
        kills = self._group.oom_kills()
        if kills is None:
            self.life.oom_why = "the cgroup's counter of memory kills could not be read"
        self.life.oom.read(kills, at_ms=_wall_ms())
        self.life.peak_bytes = self._group.peak_bytes()

    async def take_down(self) -> None:
        """Remove cgroup and folders; what cannot be removed is logged."""
        group: MemoryGroup | Unavailable = self._group
        if not isinstance(group, Unavailable):
            try:
                await group.remove()
            except OSError as error:
                log.warning("the cgroup could not be removed: %s", error)
        await asyncio.to_thread(_remove, self._folder)


def _remove(folder: Path) -> None:
    """All of it, also folders that the agent closed to everyone."""
    for inside, names, _ in os.walk(folder):
        for path in (Path(inside, name) for name in names):
            if not path.is_symlink():  # it could lead anywhere
                with suppress(OSError):
                    path.chmod(0o700)
    shutil.rmtree(folder, ignore_errors=True)


async def _first(
    waiting: "asyncio.Task[int]", *others: Coroutine[object, object, object], timeout_s: float
) -> bool:
    """Until the first of them is there; False if none was in time."""
    tasks = [asyncio.Task(other) for other in others]
    try:
        done, _ = await asyncio.wait(
            [waiting, *tasks], timeout=timeout_s, return_when=asyncio.FIRST_COMPLETED
        )
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    return bool(done)


def _wall_ms() -> int:
    return time.time_ns() // 1_000_000
