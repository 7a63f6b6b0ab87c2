"""A person at a real terminal: Ctrl-C, one key, and a terminal that goes away."""

from pathlib import Path

import pytest
from tests.fakes.person import CTRL_C, Person
from tests.functional.runner.running import running

from stanchion.broker.client import BrokerClient, StatePaths
from stanchion.runner.keeper.order import Order
from stanchion.runner.launching.interrupts import QUESTION

pytestmark = pytest.mark.timeout(90)


async def test_detaching_by_hand_or_by_a_dropped_line_leaves_the_attempt_to_its_keeper(
    order: Order, paths: StatePaths, tmp_path: Path
) -> None:
    async with running(order, paths, tmp_path) as attempt:
        words = ("attach", attempt.id, "--state-dir", str(paths.root))
        asked = Person.types(*words)
        await asked.sees("stages")
        asked.presses(CTRL_C)
        await asked.sees(QUESTION)
        asked.presses(b"d")
        await asked.sees(f"stanchion attach {attempt.id}")
        assert await asked.waits() == 0
        asked.hangs_up()

        dropped = Person.types(*words)
        await dropped.sees("stages")
        dropped.hangs_up()
        assert await dropped.waits() == 0

        async with BrokerClient(paths.admin_socket) as broker:
            assert (await broker.run(attempt.id)).state == "open"

        impatient = Person.types(*words)
        await impatient.sees("stages")
        impatient.presses(CTRL_C)
        await impatient.sees(QUESTION)
        impatient.presses(CTRL_C)
        await impatient.sees("ENDED  cancelled")
        assert await impatient.waits() == 130
        impatient.hangs_up()
