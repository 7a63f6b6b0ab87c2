"""`stanchion vitals` of one attempt, of all, and while they run."""

import asyncio
import json
from pathlib import Path

import pytest
from tests.functional.runner.commands import command, told
from tests.functional.runner.running import running

from stanchion.broker.client import StatePaths
from stanchion.runner.keeper.order import Order

pytestmark = pytest.mark.timeout(90)


async def test_what_runs_is_shown_and_followed_to_its_end(
    order: Order, paths: StatePaths, tmp_path: Path
) -> None:
    async with running(order, paths, tmp_path) as attempt:
        _, table, _ = await told(paths, "vitals")
        watcher = await asyncio.create_subprocess_exec(
            *command(paths, "vitals", attempt.id, "--watch", "--json"),
            stdout=asyncio.subprocess.PIPE,
        )
        assert watcher.stdout is not None
        first = json.loads(await watcher.stdout.readline())
        attempt.let_go()
        rest = (await watcher.communicate())[0].splitlines()
    ended, _, why = await told(paths, "vitals", attempt.id)

    assert attempt.id in table
    assert "sandbox" in table
    assert (first["id"], first["state"], first["vitals"]) == (attempt.id, "open", None)
    assert json.loads(rest[-1])["reason"] == "supervisor_lost"
    assert watcher.returncode == 0
    assert ended == 2
    assert f"stanchion show {attempt.id}" in why
