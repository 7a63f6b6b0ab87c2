"""Reading attempts' events from the broker into whatever shows them.

Follows through short absences of the broker; what it shows never touches an attempt.
"""

import asyncio
from collections.abc import Callable
from contextlib import suppress

from stanchion.broker.client import BrokerClient
from stanchion.protocol.admin import RunView
from stanchion.protocol.events import StreamEntry, decode_event
from stanchion.runner.keeper.follow import BrokerLostError, Follower
from stanchion.runner.live.board import Board

AWAY_S = 120.0

Take = Callable[[StreamEntry], None]


async def read_events(broker: BrokerClient, attempt: str, take: Take, *, follow: bool) -> None:
    """What is there now, or everything to the attempt's end."""
    follower = Follower(broker, attempt, take, away_limit_s=AWAY_S)
    if follow:
        await follower.follow()
    else:
        await follower.catch_up()


def onto(board: Board) -> Take:
    """Takes entries onto a board."""

    def take(entry: StreamEntry) -> None:
        board.take(decode_event(entry.event), entry.at_ms)

    return take


class Boards:
    """A board for each of several attempts, kept up to date until closed."""

    def __init__(self, broker: BrokerClient) -> None:
        self._broker = broker
        self._boards: dict[str, Board] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}

    async def catch_up(self, views: list[RunView]) -> None:
        """All events so far of these attempts."""
        async with asyncio.TaskGroup() as group:
            for view in views:
                board = self.board(view.id)
                group.create_task(read_events(self._broker, view.id, onto(board), follow=False))

    def follow(self, group: asyncio.TaskGroup, views: list[RunView]) -> None:
        """Keep following these; those that are followed already go on."""
        for view in views:
            if view.id not in self._tasks:
                self._tasks[view.id] = group.create_task(self._follow(view.id))

    async def _follow(self, attempt: str) -> None:
        with suppress(BrokerLostError):
            await read_events(self._broker, attempt, onto(self.board(attempt)), follow=True)

    def board(self, attempt: str) -> Board:
        """Of this attempt."""
        return self._boards.setdefault(attempt, Board())

    def stop(self) -> None:
        """End all following."""
        for task in self._tasks.values():
            task.cancel()
