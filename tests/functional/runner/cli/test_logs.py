"""`stanchion logs`, and `show` after the end."""

from pathlib import Path

import pytest
from tests.functional.runner.commands import told
from tests.functional.runner.running import running

from stanchion.broker.client import BrokerClient, StatePaths
from stanchion.runner.keeper.order import Order

pytestmark = pytest.mark.timeout(90)


async def test_after_its_end_its_name_still_leads_to_everything(
    order: Order, paths: StatePaths, tmp_path: Path
) -> None:
    async with running(order, paths, tmp_path) as attempt:
        attempt.let_go()
        code, _, _ = await told(paths, "logs", "-f", attempt.id)
    _, text, _ = await told(paths, "show", attempt.id)
    _, listed, _ = await told(paths, "ps")
    async with BrokerClient(paths.admin_socket) as broker:
        await broker.stop()
    _, without_broker, _ = await told(paths, "show", attempt.id)

    assert code == 0
    assert "ENDED  supervisor_lost" in text
    assert "stanchion rerun" in text
    assert "supervisor_lost" in listed
    assert without_broker == text
