"""`stanchion demo`: everything on this machine, no key needed."""

import asyncio
from pathlib import Path

import click

from stanchion.protocol.exit_codes import ExitCode

FOLDER = Path("stanchion-runs") / "demo"


@click.command
@click.option("--state-dir", metavar="DIR", help="Where broker and cached pieces live.")
@click.option(
    "-o",
    "folder",
    type=click.Path(path_type=Path),
    default=FOLDER,
    show_default=True,
    help="Result folder; an earlier demo there is replaced.",
)
@click.pass_context
def demo(context: click.Context, *, folder: Path, state_dir: str | None) -> None:
    """Run a coding agent against a scripted provider, show the evidence, then kill it half-way.

    Exits 0 only if everything was as it must be.
    """
    from rich.console import Console

    from stanchion.runner.cli.failures import translated
    from stanchion.runner.demo.demo_run import run_demo
    from stanchion.runner.screen.live_view import LiveView

    console = Console()

    def say(text: str) -> None:
        console.print(text, markup=False, highlight=False, soft_wrap=True)

    with translated(as_json=False), LiveView(console, lines=False, spinner=True) as view:
        failed = asyncio.run(run_demo(folder, state_dir, say, view.show))
    for what in failed:
        click.echo(f"error: expected, but did not hold: {what}", err=True)
    context.exit(ExitCode.FAILED if failed else ExitCode.OK)
