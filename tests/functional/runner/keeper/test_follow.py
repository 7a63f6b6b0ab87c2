"""Following a real broker's stream through its absence."""

import asyncio

import msgspec
import pytest
from tests.functional.runner.specs import REHEARSAL_SPEC

from stanchion.broker.client import BrokerClient, StatePaths
from stanchion.protocol.admin import HostReport, OpenRun, Rehearsal
from stanchion.protocol.codec import PROTOCOL_VERSION
from stanchion.protocol.events import RunClosed, StreamEntry, decode_event
from stanchion.protocol.evidence import HostFacts
from stanchion.runner.keeper.follow import BrokerLostError, Follower
from stanchion.runner.launching.brokers import ensure_broker

pytestmark = pytest.mark.timeout(60)
OPEN = OpenRun(
    protocol=PROTOCOL_VERSION,
    run="7f3a90c41b22",
    attempt=1,
    spec=REHEARSAL_SPEC,
    rehearsal=Rehearsal(port=9, key="sk-x"),
)


async def test_every_event_comes_once_and_in_order_to_the_end(paths: StatePaths) -> None:
    await ensure_broker(paths, None, print)
    taken: list[StreamEntry] = []
    async with BrokerClient(paths.admin_socket) as broker:
        opened = await broker.open_run(OPEN)
        follower = Follower(broker, opened.id, taken.append, away_limit_s=30)
        await broker.events(opened.id, wait_s=30)
        await follower.catch_up()
        before = len(taken)
        async with asyncio.TaskGroup() as group:
            group.create_task(follower.follow())
            facts = HostFacts(sandbox_started=False, start_error="on purpose")
            await broker.host_facts(opened.id, HostReport(host=facts))

    assert before >= 1
    cursors = [entry.cursor for entry in taken]
    assert cursors == list(dict.fromkeys(cursors))
    assert isinstance(decode_event(taken[-1].event), RunClosed)


async def test_a_broker_that_stays_away_is_lost(paths: StatePaths) -> None:
    await ensure_broker(paths, None, print)
    async with BrokerClient(paths.admin_socket) as broker:
        opened = await broker.open_run(msgspec.structs.replace(OPEN, run="0" * 12))
        follower = Follower(broker, opened.id, lambda _: None, away_limit_s=0.2)
        await follower.catch_up()
        async with asyncio.TaskGroup() as group:
            following = group.create_task(_lost(follower))
            await broker.stop()
        assert following.result()


async def _lost(follower: Follower) -> bool:
    try:
        await follower.follow()
    except BrokerLostError:
        return True
    return False


async def test_a_call_is_tried_again_until_the_broker_is_back(paths: StatePaths) -> None:
    tried = asyncio.Event()
    async with BrokerClient(paths.admin_socket) as broker:
        follower = Follower(broker, "7f3a90c41b22.1", lambda _: None, away_limit_s=30)

        async def health() -> int:
            tried.set()
            return (await broker.health()).pid

        async with asyncio.TaskGroup() as group:
            asking = group.create_task(follower.insist(health))
            await tried.wait()
            started = await ensure_broker(paths, None, print)
        assert asking.result() == started.pid
