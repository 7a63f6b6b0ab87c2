"""An open attempt over a real ledger in a temporary folder."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from fakes.launches import spec
from stanchion.broker.attempts.attempt import Attempt, Terms
from stanchion.broker.plane.target import Target
from stanchion.broker.receipts.ledger import Ledger
from stanchion.broker.tasks import Tasks
from stanchion.protocol.codec import digest
from stanchion.protocol.dialects import Dialect
from stanchion.protocol.launch import AccountRef, FrozenLaunch
from stanchion.protocol.receipt import RunOpen

ACCOUNT = AccountRef(
    name="rehearsal",
    dialect=Dialect.OPENAI_CHAT,
    base_url="http://127.0.0.1:1/v1",
    tls=False,
    credential="rehearsal",
    fingerprint=None,
)


@pytest.fixture
async def attempt(tmp_path: Path) -> AsyncIterator[Attempt]:
    ledger = await Ledger.open(tmp_path)
    launch = FrozenLaunch(spec=spec(), account=ACCOUNT)
    book = await ledger.begin("7f3a90c41b22.1")
    await book.append(
        RunOpen,
        nonce="n",
        launch=launch,
        launch_sha256=digest(launch),
        broker_version="0",
        rehearsal_port=None,
    )
    async with asyncio.TaskGroup() as group:
        yield Attempt(
            terms=Terms(
                id="7f3a90c41b22.1",
                launch=launch,
                launch_sha256=digest(launch),
                directory=tmp_path,
                opened_at_ms=5,
                untouched_reward="0",
                target=Target(host="h", port=1, authority="h", path="", tls=None, key=None),
            ),
            ledger=ledger,
            book=book,
            tasks=Tasks(group),
        )
    await ledger.aclose()
