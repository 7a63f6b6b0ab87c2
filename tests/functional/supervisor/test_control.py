import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from fakes.fake_broker import FakeBroker
from stanchion.protocol.control import Enrol, ExchangeSeen, Resume, StopOrder, WireEvent
from stanchion.protocol.events import OutputStream, OutputWritten, Warned
from stanchion.protocol.evidence import Stop, StopReason
from stanchion.supervisor.clock import SystemClock
from stanchion.supervisor.control import Callbacks, Control, EnrolError, Patience
from stanchion.supervisor.outbox import Outbox

QUICK = Patience(
    answer_s=0.3, enrol_s=1, silent_s=0.3, away_s=0.4, first_backoff_s=0.02, longest_backoff_s=0.05
)


class Heard:
    """What the callbacks were told."""

    def __init__(self) -> None:
        self.wire: list[ExchangeSeen | WireEvent] = []
        self.stops: list[Stop] = []
        self.stopped = asyncio.Event()

    def stop(self, stop: Stop) -> None:
        self.stops.append(stop)
        self.stopped.set()


def control(folder: Path, heard: Heard, **outbox: int) -> Control:
    return Control(
        folder / "control.sock",
        Outbox(boot="b", **outbox),
        SystemClock(),
        Callbacks(wire=heard.wire.append, stop=heard.stop),
        boot="b",
        patience=QUICK,
    )


@asynccontextmanager
async def talking(broker: FakeBroker, heard: Heard, **outbox: int) -> AsyncIterator[Control]:
    channel = control(broker.folder, heard, **outbox)
    await channel.enrol("token", "digest")
    async with asyncio.TaskGroup() as tasks:
        keeping = tasks.create_task(channel.keep())
        yield channel
        keeping.cancel()


def warned(number: int) -> Warned:
    return Warned(what="w", detail=str(number))


async def test_enrolment_names_the_token_and_the_digest_and_brings_the_lease(
    tmp_path: Path,
) -> None:
    async with FakeBroker(tmp_path) as broker, talking(broker, Heard()) as channel:
        (first,) = broker.openings
        assert isinstance(first, Enrol)
        assert (first.token, first.spec_sha256, first.boot) == ("token", "digest", "b")
        assert channel.lease == "st1_lease_1"
        channel.publish(warned(1))
        assert await channel.flush(5)


async def test_there_is_no_lease_before_enrolment(tmp_path: Path) -> None:
    with pytest.raises(EnrolError):
        _ = control(tmp_path, Heard()).lease


async def test_a_broker_that_starts_late_is_waited_for(tmp_path: Path) -> None:
    broker = FakeBroker(tmp_path)
    channel = control(tmp_path, Heard())
    async with asyncio.TaskGroup() as tasks:
        enrolling = tasks.create_task(channel.enrol("token", "digest"))
        await asyncio.wait([enrolling], timeout=0.1)
        assert not enrolling.done()
        await broker.listen()
        await enrolling
        keeping = tasks.create_task(channel.keep())
        channel.publish(warned(1))
        assert await channel.flush(5)
        keeping.cancel()
    await broker.vanish()


async def test_no_broker_and_a_mute_one_end_the_enrolment(tmp_path: Path) -> None:
    with pytest.raises(EnrolError, match="cannot be reached"):
        await control(tmp_path, Heard()).enrol("token", "digest")

    async def never(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        writer.close()

    server = await asyncio.start_unix_server(never, tmp_path / "control.sock")
    with pytest.raises(EnrolError):
        await control(tmp_path, Heard()).enrol("token", "digest")
    server.close()


async def test_events_arrive_in_order_and_flush_waits_for_the_acks(tmp_path: Path) -> None:
    async with FakeBroker(tmp_path) as broker, talking(broker, Heard()) as channel:
        for number in range(500):
            channel.publish(warned(number))
        assert await channel.flush(10)
        assert broker.events == [warned(number) for number in range(500)]
        broker.acks = False
        channel.publish(warned(500))
        assert not await channel.flush(0.1)


async def test_after_a_cut_it_resumes_with_the_lease_and_sends_what_was_not_acknowledged(
    tmp_path: Path,
) -> None:
    async with FakeBroker(tmp_path) as broker, talking(broker, Heard()) as channel:
        broker.acks = False
        channel.publish(warned(1))
        await broker.until(lambda: broker.envelopes)
        broker.envelopes.clear()
        broker.cut()
        broker.acks = True
        channel.publish(warned(2))
        assert await channel.flush(5)
        assert broker.events == [warned(1), warned(2)]
        assert isinstance(broker.openings[1], Resume)
        assert broker.openings[1].token == "st1_lease_1"
        assert channel.lease == "st1_lease_2"


async def test_a_broker_that_acknowledges_nothing_is_left_for_a_new_connection(
    tmp_path: Path,
) -> None:
    async with FakeBroker(tmp_path) as broker, talking(broker, Heard()) as channel:
        broker.acks = False
        channel.publish(warned(1))
        await broker.until(lambda: len(broker.openings) == 2)
        broker.acks = True
        assert await channel.flush(5)


async def test_a_lease_is_renewed_before_it_expires(tmp_path: Path) -> None:
    broker = FakeBroker(tmp_path)
    broker.expires_in_s = 1
    async with broker, talking(broker, Heard()) as channel:
        await broker.until(lambda: len(broker.renewals) == 2)
        assert [renewal.generation for renewal in broker.renewals] == [1, 2]
        assert channel.lease != "st1_lease_1"


async def test_orders_and_wire_events_reach_the_callbacks(tmp_path: Path) -> None:
    heard = Heard()
    order = Stop(reason=StopReason.MISMATCH, detail="d")
    async with FakeBroker(tmp_path) as broker, talking(broker, heard):
        broker.send(ExchangeSeen(exchange=1))
        broker.send(StopOrder(stop=order))
        async with asyncio.timeout(10):
            await heard.stopped.wait()
    assert (heard.wire, heard.stops) == ([ExchangeSeen(exchange=1)], [order])


async def test_a_message_nobody_knows_is_told_and_the_talk_goes_on(tmp_path: Path) -> None:
    async with FakeBroker(tmp_path) as broker, talking(broker, Heard()):
        assert broker._writer is not None
        broker._writer.write(b'{"type":"of the future"}\n')
        await broker.until(lambda: broker.of(Warned))
        assert broker.of(Warned)[0].what == "control"
        assert len(broker.openings) == 1


async def test_a_broker_that_stays_away_is_reported_once_and_may_come_back(tmp_path: Path) -> None:
    heard = Heard()
    async with FakeBroker(tmp_path) as broker, talking(broker, heard) as channel:
        await broker.vanish()
        channel.publish(warned(1))
        async with asyncio.timeout(10):
            await heard.stopped.wait()
        broker.refuse = "not any more"
        await broker.listen()
        assert not await channel.flush(0.3)
        broker.refuse = None
        assert await channel.flush(5)
    assert [stop.reason for stop in heard.stops] == [StopReason.BROKER_LOST]


async def test_room_waits_for_a_broker_that_is_there_only(tmp_path: Path) -> None:
    big = OutputWritten(stream=OutputStream.VERIFIER, data=b"x" * 10_000)
    async with FakeBroker(tmp_path) as broker, talking(broker, Heard()) as channel:
        broker.acks = False
        channel.publish(big)
        await broker.until(lambda: broker.envelopes)
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05):
                await channel.room(1000)
        await broker.vanish()
        async with asyncio.timeout(5):
            await channel.room(1000)
