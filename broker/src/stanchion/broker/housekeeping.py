"""What the broker does by itself now and then: lost attempts closed, old events dropped.

Receipts are never dropped, and events only of attempts that are closed.
"""

import asyncio
import logging
from dataclasses import dataclass
from typing import Protocol

from stanchion.broker.clock import wall_ms
from stanchion.broker.config import BrokerTable
from stanchion.broker.receipts.event_store import EventStore

LONGEST_PAUSE_S = 30.0
RETENTION_EVERY_S = 600.0
DAY_MS = 86_400_000
MIB = 1024 * 1024
_log = logging.getLogger("stanchion.broker")


class Attempts(Protocol):
    """What it looks after."""

    def closed(self) -> list[tuple[int, str]]:
        """When each closed attempt was closed, oldest first."""

    async def sweep(self, after_s: float) -> None:
        """Close what nobody has been heard of for so long."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Housekeeping:
    """One broker's."""

    attempts: Attempts
    events: EventStore
    settings: BrokerTable

    async def keep(self) -> None:
        """Until cancelled."""
        pause_s = min(LONGEST_PAUSE_S, self.settings.orphan_s / 4)
        due_s = 0.0
        while True:
            await self.attempts.sweep(self.settings.orphan_s)
            if due_s <= 0:
                await self.drop_old()
                due_s = RETENTION_EVERY_S
            await asyncio.sleep(pause_s)
            due_s -= pause_s

    async def drop_old(self) -> None:
        """Forget the events of closed attempts that are too old, then of the oldest, for room."""
        kept = [closed for closed in self.attempts.closed() if self.events.kept(closed[1])]
        border_ms = wall_ms() - self.settings.retention_days * DAY_MS
        most_bytes = self.settings.events_max_mb * MIB
        dropped = 0
        for closed_at_ms, name in kept:
            if closed_at_ms >= border_ms and await self.events.used_bytes() <= most_bytes:
                break
            await self.events.drop(name)
            dropped += 1
        if dropped:
            _log.info("events of %d closed attempts dropped", dropped)
