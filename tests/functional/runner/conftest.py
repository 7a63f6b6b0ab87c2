"""A state folder whose broker, if a test starts one, ends with the test."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import psutil
import pytest
import pytest_asyncio
from tests.functional.runner.specs import REHEARSAL_SPEC

from stanchion.broker.client import BrokerClient, BrokerUnreachableError, StatePaths
from stanchion.protocol.admin import OpenRun
from stanchion.protocol.codec import PROTOCOL_VERSION
from stanchion.runner.keeper.order import Order, Pieces, RehearsalOrder
from stanchion.runner.tasks.examples import example_task

HELLO = example_task("hello")


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


@pytest.fixture
def order(paths: StatePaths, tmp_path: Path) -> Order:
    """A complete order, but for a sandbox runtime that does not exist."""
    (tmp_path / "result").mkdir()
    return Order(
        admin_socket=str(paths.admin_socket),
        open_run=OpenRun(
            protocol=PROTOCOL_VERSION, run="7f3a90c41b22", attempt=1, spec=REHEARSAL_SPEC
        ),
        pieces=Pieces(
            runsc=str(tmp_path / "no-runsc"), rootfs="/r", bundle="/b", harness="/h", command=("x",)
        ),
        instruction="Say hello.\n",
        task_folder=str(HELLO),
        result_folder=str(tmp_path / "result"),
        scratch_folder=str(tmp_path / "scratch"),
        sandbox_id="ab" * 16,
        rehearsal=RehearsalOrder(script=str(HELLO / "rehearsal.toml"), key="sk-rehearsal-x"),
    )
