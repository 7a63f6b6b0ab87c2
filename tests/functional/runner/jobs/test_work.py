"""The actions of a plan at their edges: a keeper that never came so far, a broker that is away."""

import asyncio
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from tests.functional.runner.jobs.conftest import MakeJob

from stanchion.broker.client import StatePaths
from stanchion.protocol.events import Event, Unknown
from stanchion.runner.jobs.on_disk import read_attempt
from stanchion.runner.jobs.plan import Attach, Explain, Key, Start, State
from stanchion.runner.jobs.prepare import PreparedJob
from stanchion.runner.jobs.work import KeeperWork
from stanchion.runner.launching.start_file import StartFile, write_start
from stanchion.runner.results.job_folder import JobFolder

pytestmark = pytest.mark.timeout(60)
KEY = ("hello", 1)


class Calls:
    """Counts how often another broker was asked for."""

    def __init__(self) -> None:
        self.restarts = 0

    async def restart(self) -> None:
        self.restarts += 1

    def show(self, key: Key, event: Event | Unknown) -> None:
        """Nobody looks."""


def work_of(prepared: PreparedJob, calls: Calls) -> KeeperWork:
    folder = JobFolder.create(prepared.folder, prepared.job)
    return KeeperWork(
        job=prepared.job,
        folder=folder,
        prepared=prepared.prepared,
        cancel=asyncio.Event(),
        show=calls.show,
        restart_broker=calls.restart,
    )


def begin(work: KeeperWork) -> Path:
    """As a keeper leaves it that was killed at once."""
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        pass
    folder = work.folder.attempt(*KEY)
    run = work.job.tasks[0].run
    start = StartFile.of(
        process.pid, task="hello", run=run, attempt=1, retry_of=None, sandbox_id="0" * 32
    )
    write_start(folder, start)
    return folder


@pytest.fixture
def calls() -> Calls:
    return Calls()


@pytest.fixture
def work(make_job: MakeJob, broker: StatePaths, calls: Calls) -> KeeperWork:
    return work_of(make_job("hello"), calls)


@pytest.fixture
def begun(work: KeeperWork) -> Path:
    return begin(work)


async def test_one_that_never_came_to_be_opened_is_said_to_be_so(
    work: KeeperWork, begun: Path
) -> None:
    assert read_attempt(begun, KEY).seen.state is State.LOST
    gave_up = await work.explain(Explain(*KEY))

    assert gave_up is not None
    assert "gone before the broker had opened" in gave_up.why
    assert read_attempt(begun, KEY).seen.state is State.NOT_OPENED


async def test_one_whose_keeper_is_gone_is_not_waited_for(work: KeeperWork, begun: Path) -> None:
    assert await work.attach(Attach(*KEY)) is None


async def test_a_folder_without_a_keeper_is_nothing_to_do(work: KeeperWork) -> None:
    assert await work.attach(Attach(*KEY)) is None
    assert await work.explain(Explain(*KEY)) is None


async def test_a_broker_that_is_away_is_asked_for_again_and_then_given_up(
    make_job: MakeJob, calls: Calls, tmp_path: Path
) -> None:
    prepared = make_job("hello")
    one = replace(prepared.prepared["hello"], paths=StatePaths(tmp_path / "elsewhere"))
    work = work_of(replace(prepared, prepared={"hello": one}), calls)

    work.broker_tries = 2
    first, second = [await work.start(Start(*KEY)) for _ in range(2)]

    assert (first, calls.restarts) == (None, 1)
    assert second is not None
    assert second.broker_away
    assert read_attempt(work.folder.attempt(*KEY), KEY).seen.state is State.NOT_OPENED
