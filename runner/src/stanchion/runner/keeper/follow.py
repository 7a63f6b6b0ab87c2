"""Reading an attempt's event stream to its end, through short absences of the broker.

A broker that is away for too long counts as lost; until then every call is tried again. Events
are handed on exactly once, in order.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import TypeVar

from stanchion.broker.client import BrokerClient, BrokerUnreachableError
from stanchion.protocol.events import RunClosed, StreamEntry, decode_event

T = TypeVar("T")

RETRY_S = 0.5
LONG_POLL_S = 20.0
log = logging.getLogger(__name__)


class BrokerLostError(Exception):
    """The broker was away for longer than the limit."""


class Follower:
    """One attempt's stream and how long its broker has been away."""

    def __init__(
        self,
        broker: BrokerClient,
        attempt: str,
        take: Callable[[StreamEntry], None],
        *,
        away_limit_s: float,
    ) -> None:
        self._broker = broker
        self._attempt = attempt
        self._take = take
        self._after: str | None = None
        self._away_limit_s = away_limit_s
        self._away_since: float | None = None

    async def follow(self) -> None:
        """Until the stream's end; BrokerLostError if the broker stays away. May be cancelled."""
        while not await self._page(wait_s=LONG_POLL_S):
            pass

    async def catch_up(self) -> None:
        """Everything that is there now."""
        before: str | None = ""
        while before != self._after:
            before = self._after
            if await self._page(wait_s=0.0):
                return

    async def _page(self, *, wait_s: float) -> bool:
        """Take what is new; True at the stream's end."""
        page = await self.insist(
            lambda: self._broker.events(self._attempt, after=self._after, wait_s=wait_s)
        )
        closed = False
        for entry in page.entries:
            self._take(entry)
            closed = isinstance(decode_event(entry.event), RunClosed)
        self._after = page.cursor
        # Nothing follows it, although a page may carry it a moment before the run counts as ended.
        return page.ended or closed

    async def insist(self, call: Callable[[], Awaitable[T]]) -> T:
        """The answer of the call, tried again while the broker is away."""
        clock = asyncio.get_running_loop().time
        while True:
            try:
                answer = await call()
            except BrokerUnreachableError as error:
                if self._away_since is None:
                    self._away_since = clock()
                    log.warning("the broker is away: %s", error)
                if clock() - self._away_since >= self._away_limit_s:
                    raise BrokerLostError(str(error)) from error
                await asyncio.sleep(RETRY_S)
            else:
                self._away_since = None
                return answer
