"""A state folder whose broker, if a test starts one, ends with the test."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import psutil
import pytest_asyncio

from stanchion.broker.client import BrokerClient, BrokerUnreachableError, StatePaths


@pytest_asyncio.fixture
async def paths(tmp_path: Path) -> AsyncIterator[StatePaths]:
    found = StatePaths(tmp_path / "state")
    yield found
    try:
        async with BrokerClient(found.admin_socket) as broker:
            process = psutil.Process((await broker.health()).pid)
            await broker.stop()
        await asyncio.to_thread(process.wait, 20)
    except BrokerUnreachableError:
        pass
