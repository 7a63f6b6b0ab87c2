"""The look for the key in the sandbox of a real agent, with a control that must be found."""

import asyncio
from pathlib import Path

import psutil
import pytest

from stanchion.broker.client import BrokerClient, StatePaths
from stanchion.images.bundle import Bundle
from stanchion.images.harness_store import HarnessPackage
from stanchion.images.rootfs import BaseImage
from stanchion.images.runsc import RunscInfo
from stanchion.protocol.events import Event, ExchangeEnded, HarnessEnded, Unknown
from stanchion.runner.demo.key_scan import Scan, scan_sandbox
from stanchion.runner.launching.resolve import Options
from stanchion.runner.launching.run_command import (
    Request,
    launch_in,
    open_folder,
    prepare,
    run_and_record,
)
from stanchion.runner.tasks.examples import example_task

pytestmark = [pytest.mark.sandbox, pytest.mark.harness, pytest.mark.timeout(180)]
WRITTEN_BY_THE_AGENT = b"Hello from inside the sandbox."


async def test_what_the_agent_wrote_is_found_and_the_key_is_not(
    cache_dir: Path,
    bundle: Bundle,
    base_image: BaseImage,
    opencode: HarnessPackage,
    runsc: RunscInfo,
    tmp_path: Path,
) -> None:
    paths = StatePaths(tmp_path / "state")
    paths.root.mkdir()
    paths.cache_dir.symlink_to(cache_dir)
    request = Request(
        task=example_task("hello"),
        options=Options(harness="opencode", account="rehearsal", model="scripted-1"),
        state_dir=str(paths.root),
        folder=tmp_path / "out",
    )
    prepared = await prepare(request, print)
    folder = open_folder(prepared)
    launch = launch_in(prepared, folder)
    written: list[Scan] = []
    keys: list[Scan] = []

    def watch(event: Event | Unknown) -> None:
        if isinstance(event, ExchangeEnded | HarnessEnded):
            keys.append(scan_sandbox(launch.sandbox_id, launch.rehearsal_key.encode()))
            written.append(scan_sandbox(launch.sandbox_id, WRITTEN_BY_THE_AGENT))

    result = await run_and_record(launch, folder, watch)
    async with BrokerClient(paths.admin_socket) as broker:
        await broker.stop()
    await asyncio.to_thread(psutil.Process(prepared.broker_pid).wait, 20)

    assert result.score == 1.0
    # The last look may come when the sandbox has gone already; the first met the agent alive.
    assert any(scan.places for scan in written)
    assert (keys[0].places, keys[0].why) == (0, None)
    assert not any(scan.places for scan in keys)
    assert keys[0].scanned_bytes > 100_000_000  # the harness is in memory
