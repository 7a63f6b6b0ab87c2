"""Watching an attempt that somebody else started: its keeper owns it, this shows it and may ask
for its end.
"""

import asyncio
import os
import signal
from collections.abc import Callable
from pathlib import Path

from stanchion.broker.client import BrokerClient
from stanchion.protocol.codec import decode
from stanchion.protocol.events import Event, StreamEntry, Unknown, decode_event
from stanchion.protocol.result import AttemptResult
from stanchion.runner.host.process_identity import is_gone
from stanchion.runner.keeper.notes import Note
from stanchion.runner.live.following import read_events
from stanchion.runner.live.targets import Target
from stanchion.runner.results.job_folder import RESULT

RESULT_S = 60.0
"""For the keeper to write its result after the closing event."""
POLL_S = 0.1

Show = Callable[[Event | Unknown, int], None]
"""Takes an event and the broker's clock."""


async def watch(broker: BrokerClient, target: Target, cancel: asyncio.Event, show: Show) -> None:
    """To the attempt's end; BrokerLostError if the broker stays away."""

    def take(entry: StreamEntry) -> None:
        show(decode_event(entry.event), entry.at_ms)

    async with asyncio.TaskGroup() as group:
        passing_on = group.create_task(_pass_on(broker, target, cancel))
        await read_events(broker, target.id, take, follow=True)
        passing_on.cancel()


async def _pass_on(broker: BrokerClient, target: Target, cancel: asyncio.Event) -> None:
    await cancel.wait()
    await order_cancel(broker, target)


async def order_cancel(broker: BrokerClient, target: Target) -> None:
    """Through its keeper, who sees to it that it ends; else through the broker alone."""
    if target.note is None or not _told(target.note):
        await broker.cancel(target.id)


def _told(note: Note) -> bool:
    """Whether the keeper lives and was told."""
    if note.ended_at_ms is not None or is_gone(note.pid, note.identity):
        return False
    try:
        os.kill(note.pid, signal.SIGTERM)
    except (ProcessLookupError, PermissionError):
        return False
    return True


async def result_of(target: Target) -> AttemptResult | None:
    """What its keeper wrote, soon after the end; None where nobody wrote it or it is elsewhere."""
    if target.note is None:
        return None
    file = Path(target.note.result_folder) / RESULT
    clock = asyncio.get_running_loop().time
    latest = clock() + RESULT_S
    while not await asyncio.to_thread(file.is_file):
        if clock() >= latest or is_gone(target.note.pid, target.note.identity):
            break
        await asyncio.sleep(POLL_S)
    try:
        return decode(await asyncio.to_thread(file.read_bytes), AttemptResult)
    except FileNotFoundError:
        return None
