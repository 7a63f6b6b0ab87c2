"""`stanchion cancel`: ask for the end of a running attempt and wait for it."""

import asyncio

import click

from stanchion.runner.cli.options import state_dir as state_dir_option
from stanchion.runner.cli.options import state_paths


@click.command
@click.argument("run")
@click.option("--no-wait", is_flag=True, help="Return once it was asked for.")
@state_dir_option
def cancel(run: str, *, no_wait: bool, state_dir: str | None) -> None:
    """Cancel RUN: the agent is stopped, its tests do not count, the score is withheld."""
    from stanchion.runner.cli.failures import translated

    with translated(as_json=False):
        click.echo(asyncio.run(_cancel(run, wait=not no_wait, state_dir=state_dir)))


async def _cancel(run: str, *, wait: bool, state_dir: str | None) -> str:
    from stanchion.broker.client import BrokerClient
    from stanchion.runner.live.following import read_events
    from stanchion.runner.live.targets import find_open
    from stanchion.runner.live.watching import order_cancel

    paths = state_paths(state_dir)
    target = await find_open(run, paths)
    async with BrokerClient(paths.admin_socket) as broker:
        await order_cancel(broker, target)
        if not wait:
            return f"{target.id} is being cancelled"
        await read_events(broker, target.id, lambda _: None, follow=True)
        outcome = (await broker.run(target.id)).outcome
    return f"{target.id} ended {outcome.reason if outcome else 'unknown'}"
