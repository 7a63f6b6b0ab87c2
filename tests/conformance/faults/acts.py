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
from stanchion.supervisor.run import Story


@dataclass
class Scene:
    """Whom an act may touch."""

    broker: LiveBroker
    run: str
    story: Story
    host_facts: dict[str, object] = field(default_factory=dict)
    """What the launcher will say beside the sandbox's exit code."""


async def cancel(scene: Scene) -> None:
    """The orchestrator's word."""
    async with scene.broker.client() as client:
        await client.cancel(scene.run)


ACTS: Mapping[str, Callable[[Scene], Awaitable[None]]] = {"cancel": cancel}

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
