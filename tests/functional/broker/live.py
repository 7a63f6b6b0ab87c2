"""A real broker process in a state folder of its own, and enrolled attempts of it."""

import contextlib
import os
import secrets
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path

from fakes.launches import order
from fakes.supervisor import Supervisor
from stanchion.broker.client import BrokerClient, StatePaths
from stanchion.broker.receipts.bundle import Verified, verify
from stanchion.protocol.admin import RunOpenedReply, RunView
from stanchion.protocol.control import Enrolled
from stanchion.protocol.evidence import HostFacts
from stanchion.protocol.receipt import Record


@dataclass
class LiveBroker:
    """The process and its folders."""

    process: subprocess.Popen[bytes]
    paths: StatePaths
    output: Path

    def client(self) -> BrokerClient:
        return BrokerClient(self.paths.admin_socket)

    def kill(self) -> None:
        """As a crash: nothing is said, nothing is tidied up."""
        self.process.kill()
        self.process.wait(20)

    async def records(self, run: str) -> tuple[Record, ...]:
        """The attempt's receipts so far, verified."""
        async with self.client() as client:
            found = verify(await client.bundle(run))
        assert isinstance(found, Verified), found
        return tuple(found.records)

    async def close(self, run: str, **facts: object) -> RunView:
        """The launcher's last word."""
        async with self.client() as client:
            return await client.host_facts(run, HostFacts(**{"sandbox_exit": 0, **facts}))


@contextlib.contextmanager
def live_broker(
    root: Path, *arguments: str, env: dict[str, str] | None = None
) -> Iterator[LiveBroker]:
    """Start it, wait for its ready line, end it."""
    paths, output = StatePaths(root / "state"), root / "output.txt"
    read_fd, write_fd = os.pipe()
    with output.open("wb") as sink:
        process = subprocess.Popen(
            [
                sys.executable,
                *("-m", "stanchion.broker", "serve", "--state-dir", str(paths.root)),
                *("--runtime-dir", str(root / "run"), "--ready-fd", str(write_fd), *arguments),
            ],
            pass_fds=(write_fd,),
            stdout=sink,
            stderr=sink,
            env={**os.environ, **(env or {})},
        )
    os.close(write_fd)
    ready = os.read(read_fd, 4096)
    os.close(read_fd)
    assert ready, output.read_text()
    try:
        yield LiveBroker(process, paths, output)
    finally:
        process.terminate()
        process.wait(20)


def command(root: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [
            sys.executable,
            *("-m", "stanchion.broker", *arguments, "--state-dir", str(root / "state")),
        ],
        capture_output=True,
        text=True,
        timeout=40,
        check=False,
    )


@dataclass
class Enrolment:
    """An open attempt whose supervisor holds the lease."""

    id: str
    directory: Path
    opened: RunOpenedReply
    supervisor: Supervisor

    @property
    def lease(self) -> str:
        return self.supervisor.lease


@contextlib.asynccontextmanager
async def enrolled(
    broker: LiveBroker, port: int | None, **changes: object
) -> AsyncIterator[Enrolment]:
    """An attempt with its provider on this port."""
    async with broker.client() as client:
        opened = await client.open_run(order(port, run=secrets.token_hex(6), **changes))
        ticket = await client.enrol(opened.id)
    supervisor = Supervisor(Path(opened.directory))
    answer = await supervisor.enrol(ticket.token, opened.launch_sha256)
    assert isinstance(answer, Enrolled), answer
    run = Enrolment(opened.id, Path(opened.directory), opened, supervisor)
    try:
        yield run
    finally:
        for connection in (supervisor, run.supervisor):
            with contextlib.suppress(ConnectionError):
                await connection.close()
