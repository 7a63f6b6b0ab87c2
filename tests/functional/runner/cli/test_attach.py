"""`stanchion attach`: watchers come and go, the attempt is its keeper's."""

from pathlib import Path

import msgspec
import pytest
from tests.functional.runner.commands import lines_until, seen_from_outside, started
from tests.functional.runner.running import running

from stanchion.broker.client import StatePaths
from stanchion.runner.keeper.order import Order

pytestmark = pytest.mark.timeout(90)


async def test_attach_shows_it_to_its_end_even_if_an_earlier_watcher_was_killed(
    order: Order, paths: StatePaths, tmp_path: Path
) -> None:
    async with running(order, paths, tmp_path) as attempt:
        killed = await started(paths, "attach", attempt.id)
        await seen_from_outside(attempt, paths)
        await lines_until(killed.stderr, "rootfs    FAILED a sign")
        killed.kill()
        await killed.wait()
        watcher = await started(paths, "attach", attempt.id)
        await lines_until(watcher.stderr, "rootfs    FAILED a sign")
        attempt.let_go()
        output, _ = await watcher.communicate()

    assert watcher.returncode == 1  # its score is withheld
    assert b"ENDED  supervisor_lost" in output


async def test_off_a_terminal_an_interrupt_of_the_watcher_cancels(
    order: Order, paths: StatePaths, tmp_path: Path
) -> None:
    async with running(order, paths, tmp_path) as attempt:
        watcher = await started(paths, "attach", str(tmp_path))
        await seen_from_outside(attempt, paths)
        await lines_until(watcher.stderr, "a sign")
        watcher.terminate()
        output, errors = await watcher.communicate()

    assert watcher.returncode == 130
    assert b"cancelling" in errors
    assert b"ENDED  cancelled" in output


async def test_a_second_attempt_below_the_folder_is_watched_too(
    order: Order, paths: StatePaths, tmp_path: Path
) -> None:
    (tmp_path / "second" / "result").mkdir(parents=True)
    request = msgspec.structs.replace(order.open_run, run="1" * 12)
    other = msgspec.structs.replace(
        order,
        open_run=request,
        result_folder=str(tmp_path / "second" / "result"),
        sandbox_id="cd" * 16,
    )
    async with (
        running(order, paths, tmp_path) as one,
        running(other, paths, tmp_path / "second") as two,
    ):
        watcher = await started(paths, "attach", str(tmp_path))
        await lines_until(watcher.stderr, "2 attempts run below")
        one.let_go()
        two.let_go()
        _, errors = await watcher.communicate()

    assert watcher.returncode == 1
    assert f"{one.id} ended supervisor_lost" in errors.decode()
    assert f"{two.id} ended supervisor_lost" in errors.decode()
