"""What is done to an attempt of the matrix from outside, by name, once its event has come."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass, field

from conformance.faults.rows import Act
from functional.broker.live import LiveBroker
from stanchion.protocol.events import (
    Event,
    ExchangeStarted,
    HarnessStarted,
    StepSaved,
    decode_event,
)
from stanchion.supervisor.clock import SystemClock
from stanchion.supervisor.run import Story


class JumpingClock(SystemClock):
    """The machine's own, but for the jumps that a row makes."""

    ahead_ms = 0

    def mono_ms(self) -> int:
        return super().mono_ms() + self.ahead_ms

    def wall_ms(self) -> int:
        return super().wall_ms() + self.ahead_ms


@dataclass
class Scene:
    """Whom an act may touch."""

    broker: LiveBroker
    run: str
    story: Story
    clock: JumpingClock
    host_facts: dict[str, object] = field(default_factory=dict)
    """What the launcher will say beside the sandbox's exit code."""


async def cancel(scene: Scene) -> None:
    """The orchestrator's word."""
    async with scene.broker.client() as client:
        await client.cancel(scene.run)


async def jump_two_hours(scene: Scene) -> None:
    """A machine that slept, or whose clock was set: both of the sandbox's clocks are ahead."""
    scene.clock.ahead_ms += 2 * 3600 * 1000


async def count_memory_kill(scene: Scene) -> None:
    """The launcher's cgroup counts a kill by the memory limit."""
    scene.host_facts |= {"oom_kills": 1, "oom_rose_before_end": True, "limits_enforced": True}


ACTS: Mapping[str, Callable[[Scene], Awaitable[None]]] = {
    act.__name__: act for act in (cancel, count_memory_kill, jump_two_hours)
}

EVENTS: Mapping[str, type[Event]] = {
    "start": HarnessStarted,
    "request": ExchangeStarted,
    "step": StepSaved,
}


async def _once(scene: Scene, act: Act) -> None:
    wanted, after = EVENTS[act.after], None
    async with scene.broker.client() as client:
        while True:
            page = await client.events(scene.run, after=after, wait_s=10)
            after = page.cursor
            if any(isinstance(decode_event(entry.event), wanted) for entry in page.entries):
                break
    await ACTS[act.do](scene)


@contextlib.asynccontextmanager
async def acting(act: Act | None, scene: Scene) -> AsyncIterator[Scene]:
    """The act happens beside the block, if there is one; one that never came is an error."""
    if act is None:
        yield scene
        return
    async with asyncio.TaskGroup() as group:
        done = group.create_task(_once(scene, act))
        yield scene
        await done
