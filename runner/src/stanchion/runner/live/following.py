"""Reading attempts' events from the broker into whatever shows them.

Follows through short absences of the broker; what it shows never touches an attempt.
"""

from collections.abc import Callable

from stanchion.broker.client import BrokerClient
from stanchion.protocol.events import StreamEntry, decode_event
from stanchion.runner.keeper.follow import Follower
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
