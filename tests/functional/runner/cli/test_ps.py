"""`stanchion ps` and `show` of what runs."""

import json
import os
from pathlib import Path

import pytest
from tests.functional.runner.commands import told
from tests.functional.runner.running import running

from stanchion.broker.client import StatePaths
from stanchion.runner.keeper.order import Order

pytestmark = pytest.mark.timeout(90)


async def test_ps_and_show_tell_of_what_runs(
    order: Order, paths: StatePaths, tmp_path: Path
) -> None:
    async with running(order, paths, tmp_path) as attempt:
        run = attempt.id.partition(".")[0]
        _, listed, _ = await told(paths, "ps")
        _, ids, _ = await told(paths, "ps", "-q")
        code, text, _ = await told(paths, "show", run[:6])
        _, document, _ = await told(paths, "show", run, "--json")
        nothing_there = await told(paths, "attach", order.task_folder)

    assert nothing_there[0] == 1
    assert "no attempt that writes its results there is running" in nothing_there[2]
    assert attempt.id in listed
    assert "running" in listed
    assert ids == f"{attempt.id}\n"
    assert code == 0
    assert "RUNS   sandbox" in text
    assert f"stanchion attach {attempt.id}" in text
    shown = json.loads(document)
    assert (shown["state"], shown["score"], shown["outcome"]) == ("open", None, None)


async def test_a_name_that_names_nothing_is_one_sentence(paths: StatePaths, tmp_path: Path) -> None:
    code, output, errors = await told(paths, "show", "not-a-run", "--json")

    assert code == 2
    assert "Traceback" not in errors
    assert json.loads(output)["error"]["id"] == "run_unknown"
    assert os.listdir(tmp_path) == []  # noqa: PTH208 - nothing was made, not even the state folder
