"""Owned tasks: started into one task group, their failures logged by type and place only.

A failure must never end the other tasks of the broker, and its message, which may hold a caller's
bytes, must never reach a log.
"""

import asyncio
import logging
import traceback
from collections.abc import Coroutine

_log = logging.getLogger("stanchion.broker")


class Tasks:
    """Starts tasks in the group that `serve` waits for."""

    def __init__(self, group: asyncio.TaskGroup) -> None:
        self._group = group
        self._running: set[asyncio.Task[None]] = set()

    def start(self, coroutine: Coroutine[None, None, None]) -> asyncio.Task[None]:
        """Run it to its end; a failure is logged and stays its own."""
        task = self._group.create_task(_guarded(coroutine))
        self._running.add(task)
        task.add_done_callback(self._running.discard)
        return task

    def cancel(self) -> None:
        """Cancel all that still runs."""
        for task in list(self._running):
            task.cancel()


async def _guarded(coroutine: Coroutine[None, None, None]) -> None:
    try:
        await coroutine
    except Exception as error:  # noqa: BLE001 - the border of a task: logged, never raised further
        log_failure(error)


def log_failure(error: BaseException) -> None:
    """One line: the kind of error and where it was raised, without its message."""
    frames = traceback.extract_tb(error.__traceback__)
    place = f"{frames[-1].filename.rpartition('/')[2]}:{frames[-1].lineno}" if frames else "?"
    _log.error("unexpected %s at %s", type(error).__name__, place)
