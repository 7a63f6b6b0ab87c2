"""`stanchion doctor`: what this host can do. Changes nothing unless it is asked to."""

import asyncio
import os

import click

from stanchion.protocol.exit_codes import ExitCode


@click.command
@click.option("--fix", is_flag=True, help="Install and fetch what is missing first.")
@click.option(
    "--orphans", is_flag=True, help="Instead: what dead keepers left; --fix takes it away."
)
@click.option("--json", "as_json", is_flag=True, help="One JSON document on standard output.")
@click.option("--state-dir", metavar="DIR", help="Where broker and cached pieces live.")
@click.pass_context
def doctor(
    context: click.Context, *, fix: bool, orphans: bool, as_json: bool, state_dir: str | None
) -> None:
    """Say what this host can do, and the one command for each missing thing.

    Exits 0 if a run can start here, else 1. With --orphans: 0 if nothing of a dead keeper is left.
    With --orphans --fix only what is proved dead is removed, and each of its attempts gets an
    ending by name.
    """
    if orphans:
        from stanchion.runner.cli.doctor_orphans import doctor_orphans

        context.exit(doctor_orphans(fix=fix, as_json=as_json, state_dir=state_dir))
    from stanchion.protocol.codec import encode
    from stanchion.runner.cli.failures import translated
    from stanchion.runner.host.host_checks import check_host
    from stanchion.runner.launching.pieces import fetch_missing

    if fix:
        with translated(as_json=as_json):
            fetch_missing(state_dir, os.environ, say=lambda text: click.echo(text, err=True))
    checks = asyncio.run(check_host(state_dir, os.environ))
    if as_json:
        click.echo(encode(checks))
    else:
        for check in checks:
            word = "ok" if check.ok else ("MISSING" if check.required else "note")
            click.echo(f"{check.name:<12}{word:<9}{check.found}")
            if check.fix:
                click.echo(f"{'':<12}{'':<9}fix: {check.fix}")
    fine = all(check.ok for check in checks if check.required)
    context.exit(ExitCode.OK if fine else ExitCode.FAILED)
