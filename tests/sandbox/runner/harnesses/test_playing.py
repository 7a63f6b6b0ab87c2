"""The real OpenCode in a lab: what was seen is held to the cell, and nothing of the lab is left."""

import dataclasses

import pytest

from stanchion.broker.client import StatePaths
from stanchion.harness_adapters.registry import adapter
from stanchion.protocol.dialects import Dialect
from stanchion.runner.harnesses.cells import Cell, Scenario
from stanchion.runner.harnesses.judging import Verdict, judge
from stanchion.runner.harnesses.playing import lab

pytestmark = [pytest.mark.sandbox, pytest.mark.harness, pytest.mark.timeout(300)]

CELL = Cell("opencode", "1.18.33", Dialect.OPENAI_CHAT, 200_000, "max", Scenario.PLAIN)


async def test_what_the_wire_shows_is_held_to_the_cell_and_nothing_of_the_lab_is_left(
    state: StatePaths,
) -> None:
    async with lab(state, print) as place:
        place.bring("opencode", "1.18.33")
        seen, ended = await place.play(CELL)
        folder = place.folder

    asked_otherwise = dataclasses.replace(CELL, limit=128_000)
    result = judge(asked_otherwise, adapter("opencode"), seen, ended)
    assert (result.verdict, str(result.why).split(";")[0]) == (Verdict.WRONG, "written 200000 max")
    assert not folder.exists()
