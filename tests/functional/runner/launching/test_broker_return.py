"""A broker that goes away and is started again by the command that watches."""

import asyncio
import os
import signal

import psutil
import pytest

from stanchion.broker.client import StatePaths
from stanchion.protocol.admin import Health
from stanchion.protocol.refusal import refuse
from stanchion.runner.launching.broker_return import MOST_STARTS, BrokerReturn
from stanchion.runner.launching.brokers import ensure_broker

pytestmark = pytest.mark.timeout(60)


async def test_all_who_watch_share_one_start(paths: StatePaths) -> None:
    said: list[str] = []
    first = await ensure_broker(paths, None, said.append)
    os.kill(first.pid, signal.SIGKILL)
    await asyncio.to_thread(psutil.Process(first.pid).wait, 20)
    started: list[Health] = []

    async def start() -> None:
        started.append(await ensure_broker(paths, None, said.append))

    back = BrokerReturn(paths, start, said.append, patience_s=0.1)
    assert await asyncio.gather(*(back.wait() for _ in range(5))) == [True] * 5
    (second,) = started
    assert second.pid != first.pid
    assert "started again" in said[1]
    assert f"pid {second.pid} started" in said[2]
    assert len(said) == 3


async def test_a_broker_that_cannot_stay_is_left_alone(paths: StatePaths) -> None:
    said: list[str] = []
    tries: list[int] = []

    async def start() -> None:
        tries.append(1)
        raise refuse("config_invalid", field="x", value=None, rule="it is right", remedy="Mend it")

    back = BrokerReturn(paths, start, said.append, patience_s=0.0)
    assert [await back.wait() for _ in range(MOST_STARTS + 2)] == [False] * (MOST_STARTS + 2)
    assert len(tries) == MOST_STARTS
    assert "cannot be started again: x: it is right. Mend it" in said[1]
