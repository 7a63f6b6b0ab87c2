"""Which events a broker forgets, over a real ledger in a temporary folder."""

import asyncio
import os
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from fakes.launches import spec
from stanchion.broker.accounts import Accounts
from stanchion.broker.attempts.runs import Runs
from stanchion.broker.clock import wall_ms
from stanchion.broker.config import BrokerTable, built_in
from stanchion.broker.housekeeping import DAY_MS, Housekeeping
from stanchion.broker.receipts.ledger import Ledger
from stanchion.broker.receipts.store import RunRow
from stanchion.broker.tasks import Tasks
from stanchion.protocol.codec import encode
from stanchion.protocol.events import AssertedBy, Warned

OLD, NEW = "0000000000aa.1", "0000000000bb.1"
EVENT_TEXT = "x" * 100_000


@dataclass(frozen=True, slots=True)
class House:
    ledger: Ledger
    runs: Runs

    def keeper(self, **settings: int) -> Housekeeping:
        table = BrokerTable(**settings)  # type: ignore[arg-type]
        return Housekeeping(runs=self.runs, events=self.ledger.events, settings=table)

    def kept(self) -> set[str]:
        return {name for name in (OLD, NEW) if self.ledger.events.kept(name)}


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[House]:
    """Two closed attempts with events: one closed 40 days ago, one a moment ago."""
    ledger = await Ledger.open(tmp_path)
    for name, age_ms in ((OLD, 40 * DAY_MS), (NEW, 0)):
        await ledger.store.save_run(
            RunRow(
                attempt_id=name,
                directory=str(tmp_path / "gone"),
                launch=encode(spec()),
                launch_sha256="0" * 64,
                untouched_reward="0",
                opened_at_ms=1,
                closed_at_ms=wall_ms() - age_ms,
                view=b'{"outcome":{"reason":"completed"}}',
            )
        )
        event = encode(Warned(what="w", detail=EVENT_TEXT))
        for _ in range(15):
            cursor = ledger.events.append(name, AssertedBy.BROKER, event, 1)
        await ledger.events.flushed(cursor)
    config = built_in()
    accounts = Accounts(
        config, folder=tmp_path, environ=dict(os.environ), fingerprint=ledger.fingerprint
    )
    async with asyncio.TaskGroup() as group:
        yield House(
            ledger,
            Runs(
                config=config,
                accounts=accounts,
                ledger=ledger,
                tasks=Tasks(group),
                runtime_dir=tmp_path,
            ),
        )
    await ledger.aclose()


async def test_events_of_long_closed_attempts_are_forgotten(house: House) -> None:
    await house.keeper(retention_days=30).drop_old()
    assert house.kept() == {NEW}


async def test_nothing_is_forgotten_before_its_time(house: House) -> None:
    await house.keeper(retention_days=41).drop_old()
    assert house.kept() == {OLD, NEW}


async def test_for_room_the_oldest_go_first_and_only_as_many_as_needed(house: House) -> None:
    used_mb = await house.ledger.events.used_bytes() / (1024 * 1024)
    assert used_mb > 2
    await house.keeper(retention_days=365, events_max_mb=2).drop_old()
    assert house.kept() == {NEW}
