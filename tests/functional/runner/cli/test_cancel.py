"""`stanchion cancel`."""

from pathlib import Path

import pytest
from tests.functional.runner.commands import told
from tests.functional.runner.running import running

from stanchion.broker.client import StatePaths
from stanchion.runner.keeper.order import Order
from stanchion.runner.results.job_folder import read_results

pytestmark = pytest.mark.timeout(90)


async def test_cancel_ends_it_by_its_keepers_hand_and_waits(
    order: Order, paths: StatePaths, tmp_path: Path
) -> None:
    async with running(order, paths, tmp_path) as attempt:
        cancelled = await told(paths, "cancel", attempt.id)
        again = await told(paths, "cancel", attempt.id)

    assert cancelled == (0, f"{attempt.id} ended cancelled\n", "")
    assert again[0] == 2
    assert "it has ended (cancelled)" in again[2]
    (result,) = read_results(attempt.folder)
    assert result.outcome.reason == "cancelled"
