"""From the arguments of `stanchion harness check` to its cells, its output and its exit code."""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass

import click

from stanchion.broker.client import StatePaths
from stanchion.harness_adapters.registry import NAMES, adapter
from stanchion.images import harness_store
from stanchion.images.host import architecture
from stanchion.protocol.codec import encode
from stanchion.protocol.dialects import Dialect
from stanchion.protocol.exit_codes import ExitCode
from stanchion.runner.harnesses import records
from stanchion.runner.harnesses.cells import Cell, cells
from stanchion.runner.harnesses.check_run import CheckReport, check, is_good
from stanchion.runner.harnesses.check_table import closing, table
from stanchion.runner.harnesses.listing import release_of


@dataclass(frozen=True, slots=True)
class Wanted:
    """What to check and how."""

    releases: tuple[str, ...]
    """NAME or NAME@VERSION; () = the newest of each harness that asks a model."""
    dialects: tuple[Dialect, ...] = ()
    quick: bool = False
    record: bool = False
    as_json: bool = False


def run_check(wanted: Wanted, state: StatePaths) -> int:
    """Check, print, keep the record if asked to; the exit code."""
    todo = chosen(wanted)
    whole = not (wanted.quick or wanted.dialects)
    started = time.monotonic()

    def say(text: str) -> None:
        if not wanted.as_json:
            click.echo(f"[{time.monotonic() - started:6.0f} s] {text}", err=True)

    report, judged = asyncio.run(check(todo, state, say, whole=whole))
    if wanted.record:
        keep(report, whole=whole)
    if wanted.as_json:
        click.echo(encode(report))
    else:
        beside = findings(report, recording=wanted.record)
        click.echo("\n".join([*table(judged), *beside, closing(judged)]))
    return ExitCode.OK if is_good(report) else ExitCode.FAILED


def chosen(wanted: Wanted) -> list[Cell]:
    """The cells, harness by harness."""
    releases = [release_of(text) for text in wanted.releases or checkable()]
    return [
        cell
        for name, version in releases
        for cell in cells(adapter(name), version, dialects=wanted.dialects, quick=wanted.quick)
    ]


def checkable() -> Sequence[str]:
    """Harnesses that ask a model and of which a release is pinned for this machine."""
    known, processor = harness_store.lock(), architecture().npm
    return [
        name
        for name in NAMES
        if adapter(name).asks_model
        and processor in known.get(name, {}).get(adapter(name).versions[-1], {})
    ]


def findings(report: CheckReport, *, recording: bool) -> list[str]:
    """What is beside the rows."""
    lines = [f"short: {text}" for text in report.shortcomings]
    for release in report.releases:
        name = f"{release.head.harness} {release.head.version}"
        lines += [f"drift: {name} {text}" for text in release.drift]
        if not release.recorded and not recording:
            lines.append(f"note: {name} has no record yet; --record keeps this one")
    return lines


def keep(report: CheckReport, *, whole: bool) -> None:
    """Write the records; only of whole checks in which nothing was wrong."""
    if not whole or report.right != report.cells:
        raise click.UsageError("--record keeps whole checks in which every cell is right")
    for release in report.releases:
        records.save(records.ConformanceRecord(head=release.head, cells=release.cells))
