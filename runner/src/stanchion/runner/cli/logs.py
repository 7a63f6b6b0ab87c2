"""`stanchion logs`: what an agent said and did, from its files or from the broker."""

import asyncio
from pathlib import Path

import click

from stanchion.runner.cli.options import state_dir as state_dir_option
from stanchion.runner.cli.options import state_paths


@click.command
@click.argument("run", metavar="RUN|PATH")
@click.option("--follow", "-f", is_flag=True, help="Go on as it comes, to the attempt's end.")
@click.option("--raw", is_flag=True, help="The harness's own output instead, byte for byte.")
@click.option("--full", is_flag=True, help="All of each tool's arguments and output.")
@click.option("--json", "as_json", is_flag=True, help="One JSON transcript item a line.")
@state_dir_option
def logs(
    run: str, *, follow: bool, raw: bool, full: bool, as_json: bool, state_dir: str | None
) -> None:
    """Show the transcript of an attempt: messages, reasoning, tool calls, stops.

    A PATH, such as a folder that `run` wrote, needs no broker.
    """
    from rich.console import Console

    from stanchion.runner.cli.failures import translated
    from stanchion.runner.live.log_printing import Printer
    from stanchion.runner.live.log_sources import print_files, print_run
    from stanchion.runner.live.targets import as_path

    printer = Printer(Console(soft_wrap=True), raw=raw, full=full, as_json=as_json)
    with translated(as_json=False):
        path = as_path(run)
        if path is not None:
            asyncio.run(print_files(Path(path), printer, follow=follow))
        else:
            asyncio.run(print_run(run, state_paths(state_dir), printer, follow=follow))
