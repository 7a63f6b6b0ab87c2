"""A keeper and its sandbox through faults; process 1 is a shell in place of the supervisor."""

import asyncio
import os
import secrets
import shutil
import signal
import socket
from collections.abc import AsyncIterator
from pathlib import Path

import msgspec
import psutil
import pytest
import pytest_asyncio
from tests.functional.runner.specs import REHEARSAL_SPEC

from stanchion.broker.client import BrokerClient, BrokerUnreachableError, StatePaths
from stanchion.images.rootfs import BaseImage
from stanchion.images.runsc import RunscInfo
from stanchion.protocol.admin import OpenRun
from stanchion.protocol.codec import PROTOCOL_VERSION
from stanchion.protocol.launch import Deadlines, SandboxSpec, Waits
from stanchion.protocol.result import AttemptResult
from stanchion.runner.demo.key_scan import sandbox_pids
from stanchion.runner.keeper.order import Ended, Failed, Order, Pieces, RehearsalOrder, Report
from stanchion.runner.launching.brokers import ensure_broker
from stanchion.runner.launching.keepers import Keeper
from stanchion.runner.results.job_folder import read_results
from stanchion.runner.sandbox.cgroup import GroupV1
from stanchion.runner.tasks.examples import example_task

pytestmark = [pytest.mark.sandbox, pytest.mark.timeout(90)]
HELLO = example_task("hello")
READY_S = 30


@pytest_asyncio.fixture
async def broker_pid(tmp_path: Path) -> AsyncIterator[int]:
    paths = StatePaths(tmp_path)
    health = await ensure_broker(paths, None, print)
    yield health.pid
    try:
        async with BrokerClient(paths.admin_socket) as broker:
            await broker.stop()
    except BrokerUnreachableError:
        return
    await asyncio.to_thread(psutil.Process(health.pid).wait, 20)


@pytest.fixture
def order(tmp_path: Path, runsc: RunscInfo, base_image: BaseImage, broker_pid: int) -> Order:
    for name in ("result", "empty"):
        (tmp_path / name).mkdir()
    spec = msgspec.structs.replace(
        REHEARSAL_SPEC,
        deadlines=Deadlines(agent_s=60, verifier_s=60),
        waits=Waits(max_wait_s=60),
        sandbox=SandboxSpec(memory_mb=256),
    )
    run = secrets.token_hex(6)
    empty = str(tmp_path / "empty")
    return Order(
        admin_socket=str(StatePaths(tmp_path).admin_socket),
        open_run=OpenRun(protocol=PROTOCOL_VERSION, run=run, attempt=1, spec=spec),
        pieces=Pieces(
            runsc=str(runsc.path),
            rootfs=str(base_image.path),
            bundle=empty,
            harness=empty,
            command=("/bin/sh", "-c", "echo the last words; exit 3"),
        ),
        instruction="Say hello.\n",
        task_folder=str(HELLO),
        result_folder=str(tmp_path / "result"),
        scratch_folder=str(tmp_path / "scratch"),
        sandbox_id=secrets.token_hex(16),
        rehearsal=RehearsalOrder(script=str(HELLO / "rehearsal.toml"), key="sk-rehearsal-x"),
    )


class Guest:
    """Process 1 sleeps on a connection to the test: accepted = it runs, its end = it is gone."""

    def __init__(self, order: Order) -> None:
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(f"{order.pieces.bundle}/s")
        self._listener.listen()
        self._listener.settimeout(READY_S)

    def order(self, order: Order, **changes: object) -> Order:
        code = "import socket; s = socket.socket(socket.AF_UNIX); s.connect('/opt/stanchion/s')"
        command = ("/usr/bin/python3", "-c", f"{code}; s.recv(1)")
        pieces = msgspec.structs.replace(order.pieces, command=command)
        return msgspec.structs.replace(order, pieces=pieces, **changes)

    async def runs(self) -> socket.socket:
        connection, _ = await asyncio.to_thread(self._listener.accept)
        self._listener.close()
        connection.settimeout(READY_S)
        return connection


async def is_gone(connection: socket.socket) -> bool:
    with connection:
        return await asyncio.to_thread(connection.recv, 1) == b""


async def result_of(keeper: Keeper) -> AttemptResult:
    reports: list[Report] = [report async for report in keeper.reports()]
    assert isinstance(reports[-1], Ended), reports
    (result,) = read_results(Path(reports[-1].result))
    return result


def leftovers(order: Order) -> list[object]:
    """Processes, folders and cgroups of the sandbox."""
    folders = [
        *Path(order.scratch_folder).glob(f"{order.sandbox_id}*"),
        *Path("/sys/fs/cgroup").glob(f"**/stanchion/{order.sandbox_id}"),
    ]
    return [*sandbox_pids(order.sandbox_id), *folders]


async def test_a_process_1_without_a_last_record_is_a_lost_supervisor(order: Order) -> None:
    result = await result_of(await Keeper.start(order))

    assert (result.outcome.reason, result.score) == ("supervisor_lost", None)
    assert "ended with 3" in result.outcome.detail
    assert (result.sandbox.limits_enforced, result.sandbox.oom_kills) == (True, 0)
    log = Path(order.result_folder) / "sandbox.log"
    assert log.read_text() == "the last words\n"
    assert leftovers(order) == []


async def test_the_memory_limit_is_counted_by_the_host(order: Order) -> None:
    eat = ("/usr/bin/python3", "-c", "x = []\nwhile True: x.append(b'x' * 1_000_000)")
    pieces = msgspec.structs.replace(order.pieces, command=eat)
    result = await result_of(await Keeper.start(msgspec.structs.replace(order, pieces=pieces)))

    assert (result.sandbox.oom_kills, result.score) == (1, None)


async def test_a_cancel_that_nobody_inside_obeys_ends_by_the_hosts_hand(order: Order) -> None:
    guest = Guest(order)
    keeper = await Keeper.start(guest.order(order, obey_s=1))
    connection = await guest.runs()
    keeper.cancel()
    result = await result_of(keeper)

    assert (result.outcome.reason, result.score) == ("cancelled", None)
    assert await is_gone(connection)
    assert leftovers(order) == []


async def test_the_hosts_own_deadline_ends_what_nothing_inside_ends(order: Order) -> None:
    guest = Guest(order)
    result = await result_of(await Keeper.start(guest.order(order, deadline_slack_s=-178)))

    assert result.outcome.reason == "supervisor_lost"
    assert "deadline" in result.outcome.detail
    assert await is_gone(await guest.runs())
    assert leftovers(order) == []


async def test_a_broker_that_stays_away_leaves_a_result_without_a_score(
    order: Order, broker_pid: int
) -> None:
    guest = Guest(order)
    keeper = await Keeper.start(guest.order(order, broker_away_s=2))
    connection = await guest.runs()
    os.kill(broker_pid, signal.SIGKILL)
    result = await result_of(keeper)
    await asyncio.to_thread(os.waitpid, broker_pid, 0)

    assert (result.outcome.reason, result.outcome.blame) == ("broker_lost", "us")
    assert (result.score, result.grade) == (None, "not_run")
    assert (result.receipts.bundle, result.limits.output_tokens.observed) == (None, ())
    assert await is_gone(connection)
    assert leftovers(order) == []


async def test_a_sandbox_does_not_outlive_its_keeper(order: Order) -> None:
    guest = Guest(order)
    keeper = await Keeper.start(guest.order(order))
    connection = await guest.runs()
    os.kill(keeper.pid, signal.SIGKILL)
    reports = [report async for report in keeper.reports()]

    assert isinstance(reports[-1], Failed)
    assert await is_gone(connection)
    await _sweep(order)


async def _sweep(order: Order) -> None:
    """What a killed keeper could not remove any more."""
    for group in await asyncio.to_thread(_groups, order.sandbox_id):
        await GroupV1(group, "").remove()
    request = order.open_run
    async with BrokerClient(Path(order.admin_socket)) as broker:
        view = await broker.run(f"{request.run}.{request.attempt}")
    await asyncio.to_thread(shutil.rmtree, view.directory)


def _groups(sandbox_id: str) -> list[Path]:
    return list(Path("/sys/fs/cgroup").glob(f"*/stanchion/{sandbox_id}"))
