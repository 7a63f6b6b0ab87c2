"""A real broker process in a fresh state folder, and an enrolled attempt of it."""

import asyncio
import contextlib
import os
import sys
import tempfile
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from fakes.launches import order
from fakes.supervisor import Supervisor

from stanchion.broker.client import BrokerClient, StatePaths
from stanchion.protocol.admin import RunOpenedReply
from stanchion.protocol.control import Enrolled


@dataclass
class LiveBroker:
    """The process and its folders."""

    process: asyncio.subprocess.Process
    paths: StatePaths
    runtime: Path
    output: Path

    def client(self) -> BrokerClient:
        return BrokerClient(self.paths.admin_socket)


@dataclass
class Enrolment:
    """An open attempt whose supervisor holds the lease."""

    id: str
    directory: Path
    opened: RunOpenedReply
    supervisor: Supervisor


@contextlib.asynccontextmanager
async def live_broker(root: Path, *arguments: str) -> AsyncIterator[LiveBroker]:
    """Start it, wait for its ready line, end it."""
    paths, runtime, output = StatePaths(root / "state"), root / "run", root / "output.txt"
    read_fd, write_fd = os.pipe()
    with output.open("wb") as sink:
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            *("-m", "stanchion.broker", "serve", "--state-dir", str(paths.root)),
            *("--runtime-dir", str(runtime), "--ready-fd", str(write_fd), *arguments),
            pass_fds=(write_fd,),
            stdout=sink,
            stderr=sink,
        )
    os.close(write_fd)
    ready = await asyncio.to_thread(os.read, read_fd, 4096)
    os.close(read_fd)
    assert ready, output.read_text()
    try:
        yield LiveBroker(process, paths, runtime, output)
    finally:
        if process.returncode is None:
            process.terminate()
            await asyncio.wait_for(process.wait(), 20)


@pytest.fixture
async def broker() -> AsyncIterator[LiveBroker]:
    """In a folder with a short path: Unix socket paths are short."""
    with tempfile.TemporaryDirectory(prefix="st") as folder:
        async with live_broker(Path(folder)) as broker:
            yield broker


@contextlib.asynccontextmanager
async def enrolled(
    broker: LiveBroker, port: int, **changes: object
) -> AsyncIterator[Enrolment]:
    """An attempt with its provider on this port."""
    async with broker.client() as client:
        opened = await client.open_run(order(port, **changes))
        ticket = await client.enrol(opened.id)
    supervisor = Supervisor(Path(opened.directory))
    answer = await supervisor.enrol(ticket.token, opened.launch_sha256)
    assert isinstance(answer, Enrolled), answer
    try:
        yield Enrolment(opened.id, Path(opened.directory), opened, supervisor)
    finally:
        await supervisor.close()
