"""A keeper that was killed leaves things; only they are found, named and taken away."""

import asyncio
import os
import secrets
from pathlib import Path

import pytest
from tests.functional.runner.running import Running, kill, running

from stanchion.broker.client import BrokerClient, StatePaths
from stanchion.protocol.admin import RunView
from stanchion.runner.keeper.notes import NOTES, read_notes
from stanchion.runner.keeper.order import Order
from stanchion.runner.orphans.looking import Places, look
from stanchion.runner.orphans.removing import Removed, remove_all
from stanchion.runner.orphans.traces import Trace, TraceKind
from stanchion.runner.results.job_folder import read_results

pytestmark = pytest.mark.timeout(90)
PROVEN = {TraceKind.RUN, TraceKind.DIRECTORY, TraceKind.SCRATCH}


def places(paths: StatePaths, folder: Path) -> Places:
    return Places(paths, folder / "nothing-else-here")


def of(attempt: Running, found: list[Trace]) -> dict[TraceKind, Trace]:
    return {trace.kind: trace for trace in found if trace.attempt == attempt.id}


async def view_of(paths: StatePaths, attempt: Running) -> RunView:
    async with BrokerClient(paths.admin_socket) as broker:
        return await broker.run(attempt.id)


async def test_what_a_living_keeper_holds_is_no_orphan(
    fresh: Order, paths: StatePaths, tmp_path: Path
) -> None:
    async with running(fresh, paths, tmp_path) as attempt:
        assert of(attempt, await look(places(paths, tmp_path))) == {}


async def test_a_killed_keepers_attempt_gets_an_ending_by_name(
    fresh: Order, paths: StatePaths, tmp_path: Path
) -> None:
    async with running(fresh, paths, tmp_path) as attempt:
        directory = (await view_of(paths, attempt)).directory
        await kill(attempt)
        found = await look(places(paths, tmp_path))
        done = await remove_all(places(paths, tmp_path), found, say=print)

        assert set(of(attempt, found)) >= PROVEN
        assert all(trace.proven for trace in of(attempt, found).values())
        assert [one.words for one in done if not one.done] == []
        closed = await view_of(paths, attempt)
        assert closed.outcome is not None
        assert (closed.state, closed.outcome.reason) == ("closed", "sandbox_lost")
        assert f"keeper (pid {attempt.keeper.pid}) was ended from outside" in closed.outcome.detail
        scratch = str(Path(fresh.scratch_folder) / fresh.sandbox_id)
        assert [os.path.exists(path) for path in (directory, scratch)] == [False, False]  # noqa: ASYNC240, PTH110
        (result,) = read_results(attempt.folder)
        assert (result.outcome.reason, result.score) == ("sandbox_lost", None)
        assert b'"run.close"' in (attempt.folder / "receipts.bundle").read_bytes()
        assert of(attempt, await look(places(paths, tmp_path))) == {}
        (note,) = read_notes(paths.root / NOTES)
        assert not note.is_orphan


async def test_what_nobody_knows_is_named_and_stays(paths: StatePaths, tmp_path: Path) -> None:
    foreign = paths.root / "sandboxes" / secrets.token_hex(16)
    foreign.mkdir(parents=True)
    (tmp_path / "run" / "0a1b2c3d").mkdir(parents=True)
    found = await look(Places(paths, tmp_path / "run"))
    done = await remove_all(Places(paths, tmp_path / "run"), found, say=print)

    named = {trace.what: trace for trace in found}
    assert not named[str(foreign)].proven
    assert not named[str(tmp_path / "run" / "0a1b2c3d")].proven
    assert done == list[Removed]()
    assert foreign.exists()


async def test_an_attempt_that_its_broker_lost_too_is_a_lost_broker(
    fresh: Order, paths: StatePaths, tmp_path: Path
) -> None:
    async with running(fresh, paths, tmp_path) as attempt:
        await kill(attempt)
        other = StatePaths(tmp_path / "other")
        notes = other.root / NOTES
        notes.parent.mkdir()
        await asyncio.to_thread((paths.root / NOTES).rename, notes)
        elsewhere = places(other, tmp_path)
        done = await remove_all(elsewhere, await look(elsewhere), say=print)
        async with BrokerClient(other.admin_socket) as broker:
            await broker.stop()

        words = {one.trace.kind: one.words for one in done}
        assert words[TraceKind.RUN] == "ended broker_lost"
        (result,) = read_results(attempt.folder)
        assert "does not know it any more" in result.outcome.detail
