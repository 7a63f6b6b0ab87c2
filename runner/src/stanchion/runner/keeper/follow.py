"""Reading an attempt's event stream to its end, through short absences of the broker.

A broker that is away for too long counts as lost; until then every call is tried again. One that is
back has taken the attempt over, and is told again what it may not keep: a rehearsal's provider.
Events are handed on exactly once, in order.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

from stanchion.broker.client import BrokerClient, BrokerUnreachableError
from stanchion.protocol.admin import Rehearsal
from stanchion.protocol.events import RunClosed, StreamEntry, decode_event
from stanchion.protocol.refusal import RefusedError

T = TypeVar("T")

RETRY_S = 0.5
LONG_POLL_S = 20.0
log = logging.getLogger(__name__)


class BrokerLostError(Exception):
    """The broker was away for longer than the limit."""


@dataclass(frozen=True, slots=True)
class _Taken:
    last: bool
    """Nothing follows."""
    entries: int


class Follower:
    """One attempt's stream and how long its broker has been away."""

    def __init__(
        self,
        broker: BrokerClient,
        attempt: str,
        take: Callable[[StreamEntry], None],
        *,
        away_limit_s: float,
        rehearsal: Rehearsal | None = None,
    ) -> None:
        self._broker = broker
        self._attempt = attempt
        self._take = take
        self._after: str | None = None
        self._away_limit_s = away_limit_s
        self._rehearsal = rehearsal
        self._away_since: float | None = None

    async def follow(self) -> None:
        """Until the stream's end; BrokerLostError if the broker stays away. May be cancelled."""
        while not (await self._page(wait_s=LONG_POLL_S)).last:
            pass

    async def catch_up(self) -> None:
        """Everything that is there now."""
        while not (page := await self._page(wait_s=0.0)).last and page.entries:
            pass

    async def _page(self, *, wait_s: float) -> _Taken:
        """Take what is new."""
        page = await self.insist(
            lambda: self._broker.events(self._attempt, after=self._after, wait_s=wait_s)
        )
        closed = False
        for entry in page.entries:
            self._take(entry)
            closed = isinstance(decode_event(entry.event), RunClosed)
        self._after = page.cursor
        # Nothing follows it, although a page may carry it a moment before the run counts as ended.
        return _Taken(last=page.ended or closed, entries=len(page.entries))

    async def insist(self, call: Callable[[], Awaitable[T]]) -> T:
        """The answer of the call, tried again while the broker is away."""
        clock = asyncio.get_running_loop().time
        while True:
            try:
                if self._away_since is not None:
                    await self._present()
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

    async def _present(self) -> None:
        """Say again where the model is; without it the requests of the attempt wait there."""
        if self._rehearsal is None:
            return
        try:
            await self._broker.present(self._attempt, self._rehearsal)
        except RefusedError as error:
            log.warning("the broker does not take the rehearsal's provider: %s", error)
