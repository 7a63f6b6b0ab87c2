"""Two rehearsal providers that answer alike, one of them behind a live broker and a real relay.

What a client sees by the first way is what it has to see by the second. Identities come from the
request (`--repeatable`), so nothing of an answer is left out of a comparison.
"""

import contextlib
import itertools
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from conformance.sdk.scenes import SCRIPT
from functional.broker.live import Enrolment, LiveBroker, enrolled, live_broker
from functional.rehearsal.player import Rehearsal
from stanchion.protocol.dialects import Dialect
from stanchion.protocol.launch import Effort, Waits
from stanchion.supervisor.relay import Relay

R = TypeVar("R")
EFFORT = "high"
"""The one word that all dialects know."""
PLACEHOLDER = "placeholder-of-the-sandbox"
AT_ONCE = Waits(header_wait_s=10)
"""No time to hold anything: what a provider refuses goes back as it is."""


@dataclass(frozen=True)
class Way:
    """One way to the provider, as a client is configured for it."""

    root: str
    """http://127.0.0.1:PORT, to which each SDK's own path is added."""
    key: str


@dataclass(frozen=True)
class Ways:
    """Both, and the attempt behind the second."""

    direct: Way
    brokered: Way
    run: Enrolment
    number: int
    """Of no other attempt; a provider that counts its requests counts them by their messages."""


@dataclass
class Stage:
    """The processes, for as many attempts as there are tests."""

    broker: LiveBroker
    direct_port: int
    behind_port: int
    numbers: Iterator[int] = field(default_factory=itertools.count)

    async def record(self, run: str, kind: type[R]) -> R:
        """The attempt's first receipt of a kind, when there is one."""
        cursor: str | None = None
        async with self.broker.client() as client:
            while True:
                for record in await self.broker.records(run):
                    if isinstance(record, kind):
                        return record
                cursor = (await client.events(run, cursor, wait_s=10)).cursor

    @contextlib.asynccontextmanager
    async def ways(self, dialect: Dialect, waits: Waits = AT_ONCE) -> AsyncIterator[Ways]:
        """An attempt with a key, and so a queue, of its own."""
        number = next(self.numbers)
        key = f"sk-CANARY-{number:020d}"
        async with brokered(self.broker, self.behind_port, dialect, key=key, waits=waits) as (
            way,
            run,
        ):
            direct = Way(f"http://127.0.0.1:{self.direct_port}", PLACEHOLDER)
            yield Ways(direct, way, run, number)


@contextlib.asynccontextmanager
async def brokered(
    broker: LiveBroker, port: int, dialect: Dialect, **changes: object
) -> AsyncIterator[tuple[Way, Enrolment]]:
    """An attempt with its provider on this port, and the relay before it."""
    async with enrolled(
        broker, port, dialect=dialect, effort=Effort(word=EFFORT), **changes
    ) as run:
        relay = Relay(run.directory / "model.sock", lambda: run.lease)
        await relay.open()
        try:
            yield Way(f"http://127.0.0.1:{relay.port}", PLACEHOLDER), run
        finally:
            await relay.close()
            await run.supervisor.close()
            await broker.close(run.id)  # so many attempts are never open at a time


@contextlib.contextmanager
def built(folder: Path) -> Iterator[Stage]:
    """Started, and ended."""
    homes = [folder / name for name in ("broker", "direct", "behind")]
    for home in homes:
        home.mkdir()
    with (
        live_broker(homes[0]) as broker,
        Rehearsal(homes[1], SCRIPT, "--repeatable") as direct,
        Rehearsal(homes[2], SCRIPT, "--repeatable") as behind,
    ):
        yield Stage(broker, direct.port, behind.port)
