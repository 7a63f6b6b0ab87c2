"""Reading by cursor: one attempt to its end, all of them at once, and what is not kept any more."""

import asyncio
import tempfile
from pathlib import Path

import pytest

from functional.broker.live import Enrolment, LiveBroker, enrolled, live_broker
from stanchion.broker.client import BrokerClient, CursorGoneError
from stanchion.broker.receipts.checkpoint import checkpoint_holds
from stanchion.protocol.events import (
    Event,
    OutputStream,
    OutputWritten,
    RunClosed,
    RunOpened,
    Stage,
    StageChanged,
    StageState,
    Unknown,
    VitalsSampled,
    decode_event,
)
from stanchion.protocol.overview import VitalsPage
from stanchion.protocol.refusal import RefusedError
from stanchion.protocol.vitals import Vitals

AGENT = StageChanged(stage=Stage.AGENT, state=StageState.STARTED)
SAMPLE = Vitals(cpu_ms=7, steps=2)


async def read_to_the_end(client: BrokerClient, run: str) -> list[Event | Unknown]:
    events: list[Event | Unknown] = []
    after, ended = None, False
    while not ended:
        page = await client.events(run, after=after, wait_s=30)
        events += [decode_event(entry.event) for entry in page.entries]
        after, ended = page.cursor, page.ended
    return events


async def test_a_reader_that_waits_is_told_the_end_with_the_last_event(broker: LiveBroker) -> None:
    """Without another round: the end came while it waited."""
    async with enrolled(broker, 9) as run, broker.client() as client:
        async with asyncio.TaskGroup() as tasks:
            reading = tasks.create_task(read_to_the_end(client, run.id))
            await run.supervisor.close()
            await broker.close(run.id)
        page = await client.events(run.id)
    events = reading.result()
    assert isinstance(events[-1], RunClosed)
    assert sum(isinstance(event, RunClosed) for event in events) == 1
    assert page.ended
    assert len(page.entries) == len(events)


def told(page: VitalsPage, run: Enrolment) -> list[str]:
    return [type(decode_event(e.event)).__name__ for e in page.entries if e.id == run.id]


async def test_one_cursor_follows_all_attempts(broker: LiveBroker) -> None:
    async with broker.client() as client:
        start = (await client.vitals()).cursor
        async with enrolled(broker, 9) as one, enrolled(broker, 9) as other:
            await one.supervisor.publish(AGENT, VitalsSampled(vitals=SAMPLE))
            output = OutputWritten(stream=OutputStream.HARNESS_STDOUT, data=b"x")
            await other.supervisor.publish(output)
            page = await client.vitals(after=start, wait_s=30)
            assert told(page, one) == ["RunOpened", "StageChanged"]
            assert told(page, other) == ["RunOpened"]
            places = {place.id: place for place in page.attempts}
            assert set(places) == {one.id, other.id}
            place = places[one.id]
            assert (place.state, place.stage, place.stage_state) == ("open", "agent", "started")
            assert (place.vitals, place.connected, place.reason) == (SAMPLE, True, None)
            assert place.vitals_at_ms is not None
            assert (places[other.id].stage, places[other.id].vitals) == (None, None)

            await one.supervisor.close()
            await broker.close(one.id, sandbox_exit=2)
            entries, cursor = [], page.cursor
            while not entries:
                page = await client.vitals(after=cursor, wait_s=30)
                entries, cursor = told(page, one), page.cursor
            assert entries == ["RunClosed"]
            place = next(place for place in page.attempts if place.id == one.id)
            assert (place.state, place.reason, place.score) == ("closed", "sandbox_lost", None)
            now = await client.vitals()
            assert now.entries == ()
            assert one.id not in [place.id for place in now.attempts]
            assert other.id in [place.id for place in now.attempts]


async def test_a_poll_of_all_waits_for_news_and_its_cursor_moves_on(broker: LiveBroker) -> None:
    async with broker.client() as client, enrolled(broker, 9) as run:
        await run.supervisor.publish(AGENT)
        start = (await client.vitals()).cursor
        quiet = await client.vitals(after=start, wait_s=0.05)
        assert (quiet.entries, quiet.attempts) == ((), ())
        async with asyncio.TaskGroup() as tasks:
            waiting = tasks.create_task(client.vitals(after=quiet.cursor, wait_s=30))
            await run.supervisor.publish(VitalsSampled(vitals=SAMPLE))
        (place,) = waiting.result().attempts
        assert (place.id, place.vitals) == (run.id, SAMPLE)
        assert waiting.result().entries == ()
        for cursor in ("nonsense", "x.1"):
            with pytest.raises(RefusedError) as refused:
                await client.vitals(after=cursor)
            assert refused.value.refusal.id == "cursor_invalid"


async def test_events_that_are_not_kept_are_refused_and_never_an_empty_page() -> None:
    megabyte = OutputWritten(stream=OutputStream.HARNESS_STDOUT, data=b"x" * 2**20)
    with tempfile.TemporaryDirectory(prefix="st") as folder:
        root = Path(folder)
        (root / "stanchion.toml").write_text("version = 1\n[broker]\nevents_max_mb = 1\n")
        options = ("--config", str(root / "stanchion.toml"))
        with live_broker(root, *options) as broker:
            async with enrolled(broker, 9) as run:
                await run.supervisor.publish(megabyte)
                async with broker.client() as client:
                    first = (await client.events(run.id)).entries[0].cursor
                await run.supervisor.close()
                view = await broker.close(run.id)
            async with enrolled(broker, 9) as still_open:
                broker.kill()
        with live_broker(root, *options) as broker:
            async with broker.client() as client:
                oldest = await gone(client, run.id)
                with pytest.raises(CursorGoneError) as refused:
                    await client.events(run.id, after=first)
                assert refused.value.oldest == oldest
                with pytest.raises(CursorGoneError) as refused:
                    await client.vitals(after=first)
                page = await client.events(run.id, after=oldest)
                assert (page.entries, page.ended) == ((), True)
                assert (await client.vitals(after=refused.value.oldest)).oldest == oldest
                kept = await client.events(still_open.id, wait_s=30)
                assert isinstance(decode_event(kept.entries[0].event), RunOpened)
                assert (await client.run(run.id)).head == view.head
                assert (await client.bundle(run.id)).count(b"\n") > 3, "receipts are never dropped"


async def gone(client: BrokerClient, run: str) -> str:
    """Until the broker has dropped them, which it does by itself; the oldest cursor there is."""
    async with asyncio.timeout(30):
        while True:
            try:
                await client.events(run)
            except CursorGoneError as error:
                return error.oldest


async def test_the_checkpoint_moves_with_every_receipt(broker: LiveBroker) -> None:
    async with broker.client() as client:
        before = await client.checkpoint()
        async with enrolled(broker, 9) as run:
            after = await client.checkpoint()
            again = await client.checkpoint()
            public_key = broker.paths.public_key_file.read_text().strip()
            assert len(await broker.records(run.id)) == after.records - before.records == 3
    assert checkpoint_holds(before)
    assert checkpoint_holds(after)
    assert after.runs == before.runs + 1
    assert after.heads_sha256 != before.heads_sha256
    assert again.heads_sha256 == after.heads_sha256
    assert after.public_key == public_key


async def test_a_list_by_state(broker: LiveBroker) -> None:
    async with enrolled(broker, 9) as run, broker.client() as client:
        assert run.id in [view.id for view in await client.runs("open")]
        assert run.id not in [view.id for view in await client.runs("closed")]
        with pytest.raises(RefusedError) as refused:
            await client.runs("lost")
        assert refused.value.refusal.id == "state_invalid"
