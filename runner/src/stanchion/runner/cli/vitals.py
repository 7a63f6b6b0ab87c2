"""`stanchion vitals`: where attempts are, when they last moved on, what they use."""

import asyncio
import time
from collections.abc import Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING

import click

from stanchion.runner.cli.options import as_json as json_option
from stanchion.runner.cli.options import state_dir as state_dir_option
from stanchion.runner.cli.options import state_paths

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from stanchion.broker.client import BrokerClient
    from stanchion.protocol.overview import AttemptVitals

WATCH_WAIT_S = 1.0


@click.command
@click.argument("run", required=False)
@click.option("--watch", "-w", is_flag=True, help="Keep showing them, until interrupted.")
@json_option
@state_dir_option
def vitals(run: str | None, *, watch: bool, as_json: bool, state_dir: str | None) -> None:
    """Show the gauges of RUN, or of all open attempts.

    With --watch and --json: a JSON line for each attempt whenever something was heard of it.
    """
    from stanchion.runner.cli.failures import translated
    from stanchion.runner.live.tables import table_console

    with translated(as_json=as_json):
        asyncio.run(
            _vitals(run, table_console(), watch=watch, as_json=as_json, state_dir=state_dir)
        )


async def _vitals(
    run: str | None,
    console: "Console",
    *,
    watch: bool,
    as_json: bool,
    state_dir: str | None,
) -> None:
    from stanchion.broker.client import BrokerClient

    async with BrokerClient(state_paths(state_dir).admin_socket) as broker:
        only = None if run is None else await _attempt(broker, run)
        if watch:
            await _watch(broker, only, console, as_json=as_json)
            return
        page = await broker.vitals()
        _print(_chosen(page.attempts, only), console, as_json=as_json)


async def _attempt(broker: "BrokerClient", run: str) -> str:
    from stanchion.runner.live.find_run import match_run, unknown_run
    from stanchion.runner.live.targets import run_ended

    view = match_run(run, await broker.runs(), lambda view: view.id)
    if view is None:
        raise unknown_run(run)
    if view.state != "open":
        raise run_ended(view)
    return view.id


async def _watch(
    broker: "BrokerClient", only: str | None, console: "Console", *, as_json: bool
) -> None:
    """On a terminal one table that is drawn again, else what is new; to the end of `only`."""
    from rich.live import Live

    rows: dict[str, AttemptVitals] = {}
    page = await broker.vitals()
    with ExitStack() as stack:
        live = None
        if console.is_terminal and not as_json:
            live = stack.enter_context(Live(console=console, auto_refresh=False))
        while only is None or only not in rows or rows[only].state == "open":
            heard = _chosen(page.attempts, only)
            rows.update({one.id: one for one in heard})
            if live is not None:
                live.update(_table(list(rows.values())), refresh=True)
            else:
                _print(heard, console, as_json=as_json, lines=True)
            page = await broker.vitals(after=page.cursor, wait_s=WATCH_WAIT_S)


def _chosen(attempts: "Sequence[AttemptVitals]", only: str | None) -> "list[AttemptVitals]":
    return [one for one in attempts if only in {None, one.id}]


def _print(
    attempts: "list[AttemptVitals]", console: "Console", *, as_json: bool, lines: bool = False
) -> None:
    from stanchion.protocol.codec import encode, encode_line

    if as_json and lines:
        click.echo(b"".join(encode_line(one) for one in attempts), nl=False)
    elif as_json:
        click.echo(encode(attempts))
    elif attempts:
        console.print(_table(attempts))
    elif not lines:
        click.echo("no open attempts", err=True)


def _table(attempts: "list[AttemptVitals]") -> "Table":
    from stanchion.runner.live.tables import vitals_table

    return vitals_table(attempts, now_ms=time.time_ns() // 1_000_000)
