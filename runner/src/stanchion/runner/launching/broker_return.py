"""A broker that goes away while a command watches attempts under it is started again, and said.

The attempts belong to their keepers and wait for it; it takes them over. Only a command does this,
never a keeper, and not for ever: a broker that cannot stay is left alone.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from stanchion.broker.client import StatePaths
from stanchion.protocol.refusal import RefusedError
from stanchion.runner.launching.brokers import BrokerStartError, Say, live_broker

PATIENCE_S = 2.0
"""For somebody else who starts it again, or for a broker that is only slow."""
POLL_S = 0.2
MOST_STARTS = 3
"""By one command."""


@dataclass(slots=True)
class BrokerReturn:
    """One command's; all who watch share it."""

    paths: StatePaths
    start: Callable[[], Awaitable[object]]
    """Find the broker, or start one with the command's own configuration; says what it does."""
    say: Say
    patience_s: float = PATIENCE_S
    _starts: int = 0
    _one_at_a_time: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def wait(self) -> bool:
        """Until a broker answers; False where none can be had."""
        async with self._one_at_a_time:
            if await self._answers():
                return True
            if self._starts >= MOST_STARTS:
                return False
            self._starts += 1
            self.say("broker    went away; its attempts wait for it, so it is started again")
            try:
                await self.start()
            except (BrokerStartError, RefusedError) as error:
                self.say(f"broker    cannot be started again: {error}")
                return False
            return True

    async def _answers(self) -> bool:
        clock = asyncio.get_running_loop().time
        until = clock() + self.patience_s
        while await live_broker(self.paths) is None:
            if clock() >= until:
                return False
            await asyncio.sleep(POLL_S)
        return True
