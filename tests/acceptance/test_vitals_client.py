"""The documented client follows 100 attempts through a broker that is killed and comes back.

Scripted supervisors over real control sockets, a real broker, the client as its own process.
"""

import asyncio
import json
import os
import secrets
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.fakes.launches import order
from tests.fakes.supervisor import Supervisor
from tests.functional.broker.live import LiveBroker, live_broker

from stanchion.protocol.control import Enrolled, Publish
from stanchion.protocol.events import (
    Envelope,
    Event,
    HarnessEnded,
    HarnessStarted,
    Stage,
    StageChanged,
    StageState,
    VitalsSampled,
)
from stanchion.protocol.evidence import WaitStatus
from stanchion.protocol.vitals import Vitals

pytestmark = [pytest.mark.acceptance, pytest.mark.timeout(300)]
CLIENT = Path(__file__).parents[2] / "docs" / "how-to" / "poll_vitals.py"
ATTEMPTS = 100
ENDED_BEFORE, OPENED_AFTER = 30, 20
SHOWN = {
    "run_opened", "stage", "harness_started", "harness_ended", "stopping", "mismatch", "run_closed",
}  # fmt: skip


def before() -> list[Event]:
    """What a supervisor tells until its agent works."""
    started = [
        StageChanged(stage=stage, state=StageState.COMPLETE, duration_ms=1)
        for stage in (Stage.LOAD, Stage.ENROL, Stage.GATE, Stage.CONFIGURE)
    ]
    return [*started, HarnessStarted(argv=("agent",), uid=0), VitalsSampled(vitals=Vitals(steps=1))]


def after() -> list[Event]:
    """And from there to its end."""
    return [
        VitalsSampled(vitals=Vitals(steps=2)),
        HarnessEnded(wait=WaitStatus(exit_code=0), namespace_empty=True),
        StageChanged(stage=Stage.VERIFY, state=StageState.COMPLETE, duration_ms=1),
    ]


@dataclass
class Scripted:
    """One attempt: what it has told so far, sent again where nobody said that it is durable."""

    id: str
    supervisor: Supervisor
    told: list[Event] = field(default_factory=list)

    @classmethod
    async def open(cls, broker: LiveBroker) -> "Scripted":
        async with broker.client() as client:
            opened = await client.open_run(order(run=secrets.token_hex(6)))
            ticket = await client.enrol(opened.id)
        supervisor = Supervisor(Path(opened.directory))
        answer = await supervisor.enrol(ticket.token, opened.launch_sha256)
        assert isinstance(answer, Enrolled), answer
        return cls(opened.id, supervisor)

    async def tell(self, events: Sequence[Event]) -> None:
        """Without waiting for an answer: the broker may be killed right now."""
        for event in events:
            self.told.append(event)
            await self._send(len(self.told))

    async def _send(self, seq: int) -> None:
        envelope = Envelope(
            seq=seq, boot=self.supervisor.boot, mono_ms=1, wall_ms=1, event=self.told[seq - 1]
        )
        await self.supervisor.send(Publish(envelope=envelope))

    async def come_back(self) -> None:
        """To a broker that may have lost what it had not said to be durable."""
        await self.supervisor.close()
        self.supervisor = Supervisor(self.supervisor.directory, lease=self.supervisor.lease)
        answer = await self.supervisor.resume()
        assert isinstance(answer, Enrolled), answer
        for seq in range(answer.acked_seq + 1, len(self.told) + 1):
            await self._send(seq)

    async def end(self, broker: LiveBroker) -> None:
        """Everything durable, the connection closed, the host's word given."""
        await self.tell(after())
        while self.supervisor.acked < len(self.told):
            assert await self.supervisor.hear() is not None
        await self.supervisor.close()
        await broker.close(self.id)


@dataclass
class Client:
    """The documented program and the lines that it printed."""

    process: subprocess.Popen[bytes]
    lines: list[dict[str, Any]] = field(default_factory=list)

    def read_until_ended(self, count: int) -> None:
        """Blocks until so many attempts have ended."""
        assert self.process.stdout is not None
        while len(self.ended()) < count:
            self.lines.append(json.loads(self.process.stdout.readline()))

    def ended(self) -> set[str]:
        return {line["id"] for line in self.lines if line["event"]["type"] == "run_closed"}

    def of(self, attempt: str) -> list[dict[str, Any]]:
        return [line["event"] for line in self.lines if line["id"] == attempt]


@contextmanager
def client(socket: Path) -> Iterator[Client]:
    with subprocess.Popen(
        [sys.executable, str(CLIENT), str(socket)], stdout=subprocess.PIPE
    ) as process:
        try:
            yield Client(process)
        finally:
            process.kill()


async def side_by_side(*work: Any) -> list[Any]:
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(one) for one in work]
    return [task.result() for task in tasks]


async def expected_of(broker: LiveBroker, attempt: str) -> list[dict[str, Any]]:
    """The attempt's own stream, without what is no event of its life."""
    async with broker.client() as asked:
        page = await asked.events(attempt)
    assert page.ended
    events = [msgspec.json.decode(entry.event) for entry in page.entries]
    return [event for event in events if event["type"] in SHOWN]


async def test_no_event_is_lost_or_doubled_and_every_end_is_told(tmp_path: Path) -> None:
    with live_broker(tmp_path) as first, client(first.paths.admin_socket) as early:
        attempts: list[Scripted] = await side_by_side(
            *(Scripted.open(first) for _ in range(ATTEMPTS - OPENED_AFTER))
        )
        await side_by_side(*(one.tell(before()) for one in attempts))
        ended, cut = attempts[:ENDED_BEFORE], attempts[ENDED_BEFORE:]
        await side_by_side(*(one.end(first) for one in ended))
        await side_by_side(*(one.tell(before()[-1:]) for one in cut))
        os.kill(first.process.pid, signal.SIGKILL)
        first.process.wait(20)

        with live_broker(tmp_path) as second, client(second.paths.admin_socket) as late:
            await side_by_side(*(one.come_back() for one in cut))
            new = await side_by_side(*(Scripted.open(second) for _ in range(OPENED_AFTER)))
            await side_by_side(*(one.tell(before()) for one in new))
            await side_by_side(*(one.end(second) for one in (*cut, *new)))
            everyone = [one.id for one in (*attempts, *new)]
            for reader in (early, late):
                await asyncio.to_thread(reader.read_until_ended, ATTEMPTS)
            expected = {name: await expected_of(second, name) for name in everyone}

    for reader in (early, late):
        cursors = [line["cursor"] for line in reader.lines]
        assert len(cursors) == len(set(cursors))
        assert reader.ended() == set(everyone)
        assert {name: reader.of(name) for name in everyone} == expected
    assert all(events[0]["type"] == "run_opened" for events in expected.values())
    assert all(events[-1]["type"] == "run_closed" for events in expected.values())
    sys.stdout.write(
        f"{ATTEMPTS} attempts, {len(early.lines)} events, {len(cut)} through the kill: "
        "0 lost, 0 doubled\n"
    )
