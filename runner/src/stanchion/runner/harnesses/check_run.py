"""A check of harnesses: every cell played, two sandboxes at a time, judged, held to the record."""

import asyncio
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from importlib import metadata

import msgspec

from stanchion.broker.client import BrokerUnreachableError, StatePaths
from stanchion.harness_adapters.registry import adapter
from stanchion.images.runsc import find_runsc
from stanchion.protocol.refusal import RefusedError
from stanchion.runner.harnesses import records
from stanchion.runner.harnesses.cells import Cell
from stanchion.runner.harnesses.judging import (
    Judged,
    Verdict,
    judge,
    judge_failure,
    judge_refusal,
    shortcomings,
)
from stanchion.runner.harnesses.playing import Lab, lab
from stanchion.runner.launching.attempt_run import AttemptError

AT_ONCE = 2
Say = Callable[[str], None]


class CheckedRelease(msgspec.Struct, frozen=True, kw_only=True):
    """One release, as far as it was looked at."""

    head: records.RecordHead
    cells: tuple[Judged, ...]
    drift: tuple[str, ...]
    """Where it differs from the kept record; of a release without one nothing can."""
    recorded: bool


class CheckReport(msgspec.Struct, frozen=True, kw_only=True):
    """What a check found."""

    releases: tuple[CheckedRelease, ...]
    shortcomings: tuple[str, ...]
    cells: int
    right: int
    refused: int


async def check(
    todo: Sequence[Cell], state: StatePaths, say: Say, *, whole: bool
) -> tuple[CheckReport, list[tuple[Cell, Judged]]]:
    """Play and judge; raises what having the pieces raises, nothing for a cell."""
    async with lab(state, say) as place:
        for name, version in dict.fromkeys((cell.harness, cell.version) for cell in todo):
            await asyncio.to_thread(place.bring, name, version)
        judged = await _play_all(place, todo, say)
        packages = {key: pieces.harness.digest for key, pieces in place.pieces.items()}
    releases = [
        _release(name, version, digest, judged, whole=whole)
        for (name, version), digest in packages.items()
    ]
    wrong = sum(result.verdict is Verdict.WRONG for _, result in judged)
    report = CheckReport(
        releases=tuple(releases),
        shortcomings=tuple(shortcomings(judged, whole=whole)),
        cells=len(judged),
        right=len(judged) - wrong,
        refused=sum(result.verdict is Verdict.REFUSED for _, result in judged),
    )
    return report, judged


def is_good(report: CheckReport) -> bool:
    """Whether nothing is wrong, drifted or missing."""
    drifted = any(release.drift for release in report.releases)
    return report.right == report.cells and not drifted and not report.shortcomings


async def _play_all(place: Lab, todo: Sequence[Cell], say: Say) -> list[tuple[Cell, Judged]]:
    slots = asyncio.Semaphore(AT_ONCE)
    ended = 0

    async def one(cell: Cell) -> tuple[Cell, Judged]:
        nonlocal ended
        async with slots:
            result = await _play(place, cell)
        ended += 1
        words = result.why if result.verdict is Verdict.WRONG else ""
        say(f"{ended}/{len(todo)} {cell.harness} {cell.name} {result.verdict} {words}".rstrip())
        return cell, result

    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(one(cell)) for cell in todo]
    return [task.result() for task in tasks]


async def _play(place: Lab, cell: Cell) -> Judged:
    harness = adapter(cell.harness)
    try:
        seen, ended = await place.play(cell)
    except RefusedError as refused:
        return judge_refusal(cell, harness, refused.refusal.id)
    except (AttemptError, BrokerUnreachableError) as failed:
        return judge_failure(cell, str(failed))
    return judge(cell, harness, seen, ended)


def _release(
    name: str, version: str, digest: str, judged: Sequence[tuple[Cell, Judged]], *, whole: bool
) -> CheckedRelease:
    mine = tuple(
        result for cell, result in judged if (cell.harness, cell.version) == (name, version)
    )
    kept = records.load(name, version)
    runsc = find_runsc()
    head = records.RecordHead(
        harness=name,
        version=version,
        date=f"{datetime.now(UTC):%Y-%m-%d}",
        stanchion=metadata.version("stanchion"),
        runsc="unknown" if runsc is None else str(runsc.version_date),
        package=digest,
    )
    return CheckedRelease(
        head=head,
        cells=mine,
        drift=tuple(records.drift(kept, mine, whole=whole)),
        recorded=kept is not None,
    )
