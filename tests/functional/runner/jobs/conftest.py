"""Prepared jobs whose sandbox runtime does not exist: every attempt ends quickly, by name."""

import asyncio
import secrets
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import psutil
import pytest
from tests.functional.runner.specs import REHEARSAL_SPEC

from stanchion.broker.client import BrokerClient, StatePaths
from stanchion.images.bundle import Bundle
from stanchion.images.harness_store import HarnessPackage
from stanchion.images.rootfs import BaseImage
from stanchion.images.runsc import RunscInfo
from stanchion.runner.jobs.job import Asked, Job, PlannedTask, job_digest
from stanchion.runner.jobs.plan import Wanted
from stanchion.runner.jobs.prepare import JobRequest, PreparedJob
from stanchion.runner.launching.brokers import ensure_broker
from stanchion.runner.launching.pieces import ReadyPieces
from stanchion.runner.launching.resolve import Options
from stanchion.runner.launching.run_command import Prepared, Request
from stanchion.runner.tasks.examples import example_task
from stanchion.runner.tasks.task import read_task

OPTIONS = Options(harness="opencode", account="rehearsal", model="scripted-1")
MakeJob = Callable[..., PreparedJob]


@pytest.fixture(scope="module")
def paths(tmp_path_factory: pytest.TempPathFactory) -> StatePaths:
    """A state folder for the whole module."""
    return StatePaths(tmp_path_factory.mktemp("state"))


@pytest.fixture(scope="module")
def broker(paths: StatePaths) -> Iterator[StatePaths]:
    """The same with a broker, which ends with the module."""
    process = psutil.Process(asyncio.run(ensure_broker(paths, None, lambda _: None)).pid)
    yield paths
    asyncio.run(_stop(paths))
    process.wait(20)


async def _stop(paths: StatePaths) -> None:
    async with BrokerClient(paths.admin_socket) as client:
        await client.stop()


@pytest.fixture
def make_job(paths: StatePaths, tmp_path: Path) -> MakeJob:
    """A job of these example tasks, with ids that no other test has."""

    def make(*names: str, attempts: int = 1, **changes: Any) -> PreparedJob:
        prepared = {name: _prepared(name, paths, tmp_path / "nowhere") for name in names}
        planned = tuple(
            PlannedTask(
                name=name,
                run=secrets.token_hex(6),
                folder=str(example_task(name)),
                spec=one.spec,
                untouched_reward="0",
            )
            for name, one in prepared.items()
        )
        job = Job(
            kind="run",
            id=secrets.token_hex(6),
            sha256=job_digest(planned, attempts),
            started_at="2026-01-01T00:00:00+00:00",
            attempts=attempts,
            tasks=planned,
            asked=Asked(options=OPTIONS),
        )
        wanted = Wanted(tasks=names, attempts=attempts, retries=0, concurrency=2)
        return PreparedJob(
            JobRequest(), job, tmp_path / "out", prepared, replace(wanted, **changes)
        )

    return make


def _prepared(name: str, paths: StatePaths, nowhere: Path) -> Prepared:
    task = read_task(example_task(name))
    spec = msgspec.structs.replace(
        REHEARSAL_SPEC, task=msgspec.structs.replace(REHEARSAL_SPEC.task, name=name)
    )
    return Prepared(
        request=Request(task=task.folder, options=OPTIONS),
        task=task,
        spec=spec,
        pieces=ReadyPieces(
            runsc=RunscInfo(nowhere, 20240729),
            bundle=Bundle(nowhere, "b", 1, cached=True),
            base=BaseImage(nowhere, "c", "debian", 1, cached=True),
            harness=HarnessPackage(nowhere, "d", "opencode", "1", "bin", 1, cached=True),
        ),
        paths=paths,
        broker_pid=0,
    )
