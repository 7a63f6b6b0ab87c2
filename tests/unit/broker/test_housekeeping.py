"""Which closed attempts lose their events, over a real store."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from stanchion.broker.clock import wall_ms
from stanchion.broker.config import BrokerTable
from stanchion.broker.housekeeping import DAY_MS, MIB, Housekeeping
from stanchion.broker.receipts.event_store import EventStore
from stanchion.protocol.events import AssertedBy

OLD, RECENT, OPEN = "7f3a90c41b22.1", "7f3a90c41b22.2", "7f3a90c41b22.3"


@dataclass
class Attempts:
    """Two that are closed, two days and no time ago."""

    swept: int = 0

    def closed(self) -> list[tuple[int, str]]:
        return [(wall_ms() - 2 * DAY_MS, OLD), (wall_ms(), RECENT)]

    async def sweep(self, after_s: float) -> None:
        self.swept += after_s > 0


@pytest.fixture
async def events(tmp_path: Path) -> AsyncIterator[EventStore]:
    store = EventStore(tmp_path / "events.db")
    for name in (OLD, RECENT, OPEN):
        last = store.append(name, AssertedBy.HOST, b'{"x":"%b"}' % (b"x" * (MIB // 2)), 1)
    await store.flushed(last)
    yield store
    await store.aclose()


@pytest.mark.parametrize(
    ("settings", "kept"),
    [
        (BrokerTable(), {OLD, RECENT, OPEN}),
        (BrokerTable(retention_days=1), {RECENT, OPEN}),
        (BrokerTable(retention_days=3), {OLD, RECENT, OPEN}),
        (BrokerTable(retention_days=3, events_max_mb=1), {OPEN}),
    ],
)
async def test_the_oldest_closed_attempts_go_first_and_open_ones_never(
    events: EventStore, settings: BrokerTable, kept: set[str]
) -> None:
    await Housekeeping(attempts=Attempts(), events=events, settings=settings).drop_old()
    assert {name for name in (OLD, RECENT, OPEN) if events.kept(name)} == kept
