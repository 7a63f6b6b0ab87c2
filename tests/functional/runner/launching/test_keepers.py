"""Starting a keeper: its session, its log, and a keeper that dies."""

import os
import signal
from pathlib import Path

import msgspec
import pytest
from tests.fakes.samples import sample

from stanchion.runner.keeper.order import Failed, Order
from stanchion.runner.launching.keepers import Keeper

pytestmark = pytest.mark.timeout(60)


@pytest.fixture
def order(tmp_path: Path) -> Order:
    """One whose rehearsal never starts, so that the keeper waits for nothing else."""
    return msgspec.structs.replace(sample(Order), result_folder=str(tmp_path))


async def test_a_keeper_lives_in_a_session_of_its_own(order: Order, tmp_path: Path) -> None:
    keeper = await Keeper.start(order)

    assert os.getsid(keeper.pid) == keeper.pid
    reports = [report async for report in keeper.reports()]
    assert isinstance(reports[-1], Failed)
    assert (tmp_path / "keeper.log").is_file()
    keeper.cancel()  # one that is gone needs none


async def test_a_keeper_that_dies_without_a_word_has_failed(order: Order) -> None:
    keeper = await Keeper.start(order)
    os.kill(keeper.pid, signal.SIGKILL)
    (report,) = [report async for report in keeper.reports()]

    assert isinstance(report, Failed)
    assert "-9" in report.why


def test_one_that_is_not_needed_is_gone_without_a_trace() -> None:
    keeper = Keeper.spawn()
    keeper.discard()

    assert not Path(f"/proc/{keeper.pid}").exists()


async def test_one_that_never_gets_an_order_ends_by_itself() -> None:
    keeper = Keeper.spawn()
    os.close(keeper._stdin)
    (report,) = [report async for report in keeper.reports()]

    assert isinstance(report, Failed)
    assert "exit code 0" in report.why
