"""`stanchion doctor --orphans`."""

import asyncio
import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.functional.runner.running import kill, running

from stanchion.broker.client import StatePaths
from stanchion.runner.cli.doctor import doctor
from stanchion.runner.keeper.order import Order

pytestmark = pytest.mark.timeout(90)


async def test_the_command_lists_fixes_and_says_so_by_its_exit_code(
    order: Order, paths: StatePaths, tmp_path: Path
) -> None:
    arguments = ["--orphans", "--json", "--state-dir", str(paths.root)]
    async with running(order, paths, tmp_path) as attempt:
        await kill(attempt)
        listed = await asyncio.to_thread(CliRunner().invoke, doctor, arguments)
        fixed = await asyncio.to_thread(CliRunner().invoke, doctor, [*arguments, "--fix"])
        again = await asyncio.to_thread(CliRunner().invoke, doctor, arguments)

    mine = [trace for trace in json.loads(listed.stdout) if trace["attempt"] == attempt.id]
    assert {trace["kind"] for trace in mine} >= {"run", "directory", "scratch"}
    assert (listed.exit_code, fixed.exit_code, again.exit_code) == (1, 0, 0)
    assert {one["words"] for one in json.loads(fixed.stdout)} >= {"ended sandbox_lost", "removed"}
