"""`stanchion show`: how an attempt ended, or stands; a path needs no broker."""

import asyncio
from typing import TYPE_CHECKING

import click

from stanchion.runner.cli.options import as_json as json_option
from stanchion.runner.cli.options import state_dir as state_dir_option
from stanchion.runner.cli.options import state_paths

if TYPE_CHECKING:
    from stanchion.runner.live.show_sources import Shown


@click.command
@click.argument("run", metavar="RUN|PATH")
@json_option
@state_dir_option
def show(run: str, *, as_json: bool, state_dir: str | None) -> None:
    """Show RUN, open or ended, or the results at or below PATH.

    RUN is the id of a run or an attempt, or the first four or more characters of one. PATH is a
    result folder, one of its attempts or a result.json, and needs no broker. With --json a single
    attempt is printed as an object, several as an array.
    """
    from stanchion.protocol.codec import encode
    from stanchion.runner.cli.failures import translated
    from stanchion.runner.live.show_sources import text_of

    with translated(as_json=as_json):
        found = _found(run, state_dir)
    if as_json:
        documents = [one.result for one in found]
        click.echo(encode(documents[0] if len(documents) == 1 else documents))
    else:
        click.echo(text_of(found))


def _found(run: str, state_dir: str | None) -> "list[Shown]":
    from stanchion.runner.live.show_sources import from_path, from_run
    from stanchion.runner.live.targets import as_path

    path = as_path(run)
    if path is not None:
        return from_path(path)
    return [asyncio.run(from_run(run, state_paths(state_dir)))]
