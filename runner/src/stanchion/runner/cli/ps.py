"""`stanchion ps`: the attempts of this broker, open ones first of all."""

import asyncio
import time

import click

from stanchion.runner.cli.options import as_json as json_option
from stanchion.runner.cli.options import state_dir as state_dir_option
from stanchion.runner.cli.options import state_paths

RECENT = 20


@click.command
@click.option("--all", "-a", "show_all", is_flag=True, help="Every attempt that is on record.")
@click.option("--quiet", "-q", is_flag=True, help="Ids only.")
@json_option
@state_dir_option
def ps(*, show_all: bool, quiet: bool, as_json: bool, state_dir: str | None) -> None:
    """List the attempts of this broker: all open ones and the last 20 that ended."""
    from stanchion.broker.client import BrokerClient
    from stanchion.protocol.admin import RunView
    from stanchion.protocol.codec import encode
    from stanchion.runner.cli.failures import translated
    from stanchion.runner.live.tables import runs_table, table_console

    async def ask() -> list[RunView]:
        async with BrokerClient(state_paths(state_dir).admin_socket) as broker:
            return await broker.runs()

    with translated(as_json=as_json):
        views = asyncio.run(ask())
    is_open = [view for view in views if view.state == "open"]
    ended = [view for view in views if view.state != "open"]
    chosen = [*(ended if show_all else ended[-RECENT:]), *is_open]
    if as_json:
        click.echo(encode(chosen))
    elif quiet:
        click.echo("".join(f"{view.id}\n" for view in chosen), nl=False)
    elif not chosen:
        click.echo("no attempts", err=True)
    else:
        table_console().print(runs_table(chosen, now_ms=time.time_ns() // 1_000_000))
