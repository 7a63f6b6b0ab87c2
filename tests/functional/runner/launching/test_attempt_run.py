"""One attempt as a command sees it, with a sandbox runtime that does not exist."""

from dataclasses import replace
from pathlib import Path

import msgspec
import pytest
from tests.functional.runner.specs import REHEARSAL_SPEC

from stanchion.broker.client import BrokerUnreachableError, StatePaths
from stanchion.images.bundle import Bundle
from stanchion.images.harness_store import HarnessPackage
from stanchion.images.rootfs import BaseImage
from stanchion.images.runsc import RunscInfo
from stanchion.protocol.events import Event, RunClosed, Unknown
from stanchion.protocol.refusal import RefusedError
from stanchion.runner.launching.attempt_run import Launch, run_attempt
from stanchion.runner.launching.brokers import ensure_broker
from stanchion.runner.launching.pieces import ReadyPieces
from stanchion.runner.tasks.examples import example_task
from stanchion.runner.tasks.task import read_task

pytestmark = pytest.mark.timeout(60)


@pytest.fixture
def launch(paths: StatePaths, tmp_path: Path) -> Launch:
    (tmp_path / "result").mkdir()
    task = read_task(example_task("hello"))
    nowhere = tmp_path / "nowhere"
    return Launch(
        task=task,
        spec=REHEARSAL_SPEC,
        pieces=ReadyPieces(
            runsc=RunscInfo(nowhere, 20240729),
            bundle=Bundle(nowhere, "b", 1, cached=True),
            base=BaseImage(nowhere, "c", "debian", 1, cached=True),
            harness=HarnessPackage(nowhere, "d", "opencode", "1", "bin", 1, cached=True),
        ),
        paths=paths,
        result_folder=tmp_path / "result",
        rehearsal_script=task.rehearsal_script,
    )


async def test_the_result_comes_back_and_every_event_is_seen(
    launch: Launch, paths: StatePaths
) -> None:
    await ensure_broker(paths, None, print)
    seen: list[Event | Unknown] = []
    result = await run_attempt(launch, seen.append)

    assert (result.run, result.outcome.reason) == (launch.run, "sandbox_lost")
    assert isinstance(seen[-1], RunClosed)


async def test_a_refusal_of_the_broker_is_raised(launch: Launch, paths: StatePaths) -> None:
    await ensure_broker(paths, None, print)
    launch = replace(launch, spec=msgspec.structs.replace(REHEARSAL_SPEC, profile="nobody"))

    with pytest.raises(RefusedError, match="profile"):
        await run_attempt(launch, lambda _: None)


async def test_a_broker_that_is_away_is_raised(launch: Launch) -> None:
    with pytest.raises(BrokerUnreachableError):
        await run_attempt(launch, lambda _: None)


def test_the_key_is_not_shown(launch: Launch) -> None:
    assert launch.rehearsal_key.startswith("sk-rehearsal-")
    assert launch.rehearsal_key not in repr(launch)
