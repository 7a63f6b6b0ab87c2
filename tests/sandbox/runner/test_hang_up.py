"""A line that drops under `stanchion run`: its keeper finishes and writes everything."""

import asyncio
import os
import select
from pathlib import Path

import psutil
import pytest
from tests.fakes.person import Person

from stanchion.broker.client import BrokerClient, StatePaths
from stanchion.images.bundle import Bundle
from stanchion.images.rootfs import BaseImage
from stanchion.images.runsc import RunscInfo
from stanchion.runner.keeper.notes import NOTES, read_notes
from stanchion.runner.results.job_folder import read_results
from stanchion.runner.tasks.examples import example_task

pytestmark = [pytest.mark.sandbox, pytest.mark.timeout(150)]


async def test_the_keeper_finishes_and_writes_everything_when_the_line_drops(
    tmp_path: Path, runsc: RunscInfo, bundle: Bundle, base_image: BaseImage, cache_dir: Path
) -> None:
    paths = StatePaths(tmp_path / "state")
    paths.root.mkdir()
    paths.cache_dir.symlink_to(cache_dir)
    task, out = str(example_task("hello")), tmp_path / "out"
    words = ("--harness", "oracle", "--model", "rehearsal/none", "-o", str(out))
    person = Person.types("run", task, *words, "--state-dir", str(paths.root))
    try:
        await person.sees("sandbox")
        (note,) = read_notes(paths.root / NOTES)
        keeper = os.pidfd_open(note.pid)
        person.hangs_up()
        assert await person.waits() == 0

        ended, _, _ = await asyncio.to_thread(select.select, [keeper], [], [], 90)
        os.close(keeper)
        assert ended
        (result,) = read_results(out)
        assert (result.outcome.reason, result.score) == ("completed", 1.0)
        assert not Path(str(note.directory)).exists()  # noqa: ASYNC240
    finally:
        async with BrokerClient(paths.admin_socket) as broker:
            process = psutil.Process((await broker.health()).pid)
            await broker.stop()
        await asyncio.to_thread(process.wait, 20)
