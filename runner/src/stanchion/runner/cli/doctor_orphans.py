"""`stanchion doctor --orphans [--fix]`: what dead keepers left behind."""

import asyncio
import os

import click

from stanchion.protocol.exit_codes import ExitCode
from stanchion.runner.cli.options import state_paths


def doctor_orphans(*, fix: bool, as_json: bool, state_dir: str | None) -> ExitCode:
    """List them, or take away what is proved dead; whether nothing proved is left."""
    from stanchion.broker.client.paths import runtime_dir
    from stanchion.protocol.codec import encode
    from stanchion.runner.cli.failures import translated
    from stanchion.runner.orphans.looking import Places, look
    from stanchion.runner.orphans.removing import remove_all
    from stanchion.runner.orphans.words import found_lines, removed_lines, unknown_lines

    places = Places(state_paths(state_dir), runtime_dir(os.environ))
    with translated(as_json=as_json):
        found = asyncio.run(look(places))
        proven = [trace for trace in found if trace.proven]
        if not fix:
            click.echo(encode(found) if as_json else "\n".join(found_lines(found)))
            if proven and not as_json:
                click.echo("fix: stanchion doctor --orphans --fix", err=True)
            return ExitCode.FAILED if proven else ExitCode.OK
        done = asyncio.run(remove_all(places, proven, say=lambda text: click.echo(text, err=True)))
    if as_json:
        click.echo(encode(done))
    else:
        lines = [*removed_lines(done), *unknown_lines(found)]
        click.echo("\n".join(lines or ["no orphans"]))
    return ExitCode.OK if all(one.done for one in done) else ExitCode.FAILED
