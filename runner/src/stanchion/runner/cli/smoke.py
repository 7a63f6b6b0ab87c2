"""`stanchion smoke`: two tasks, and whether effort, limit and reasoning were as asked."""

import asyncio
from pathlib import Path

import click


@click.command
@click.option("--harness", required=True, metavar="NAME[@VERSION]", help="Which agent program.")
@click.option("--model", required=True, metavar="ACCOUNT/MODEL", help="Whose model; which one.")
@click.option("--profile", help="Who pays; may be left out where only one has the account.")
@click.option("--effort", metavar="WORD", help="Reasoning effort, a word the provider's API knows.")
@click.option("--effort-raw", metavar="WORD", help="The same, unchecked.")
@click.option(
    "--output-limit",
    type=click.IntRange(1, 100_000_000),
    help="Most tokens one response may have.",
)
@click.option("-o", "folder", type=click.Path(path_type=Path), help="Result folder; a fresh one.")
@click.option(
    "--sandbox",
    type=click.Choice(["runsc", "process"]),
    default="runsc",
    show_default=True,
    help="process: namespaces of this kernel alone, for hosts without gVisor or root.",
)
@click.option("--json", "as_json", is_flag=True, help="One JSON document on standard output.")
@click.option("--config", metavar="FILE", help="stanchion.toml; default: searched upwards.")
@click.option("--state-dir", metavar="DIR", help="Where broker and cached pieces live.")
@click.pass_context
def smoke(
    context: click.Context,
    *,
    harness: str,
    model: str,
    profile: str | None,
    effort: str | None,
    effort_raw: str | None,
    output_limit: int | None,
    folder: Path | None,
    sandbox: str,
    as_json: bool,
    config: str | None,
    state_dir: str | None,
) -> None:
    """Run two short tasks and read back from the receipts what reached the provider.

    Four properties: the effort and the output limit on every request, reasoning in the responses,
    no response cut at its limit. Each is passed, failed or undetermined; exits 0 if all passed.
    """
    from rich.console import Console

    from stanchion.protocol.codec import encode
    from stanchion.protocol.launch import SandboxKind
    from stanchion.runner.cli.failures import translated
    from stanchion.runner.cli.run import split_model
    from stanchion.runner.launching.resolve import Options
    from stanchion.runner.launching.run_command import Request
    from stanchion.runner.screen.live_view import LiveView
    from stanchion.runner.smoke.report import exit_code, report_lines
    from stanchion.runner.smoke.smoke_run import run_smoke

    name, _, version = harness.partition("@")
    account, model_id = split_model(model)
    options = Options(
        harness=name,
        harness_version=version or None,
        account=account,
        model=model_id,
        effort=effort,
        effort_raw=effort_raw,
        output_limit=output_limit,
        sandbox=SandboxKind(sandbox),
    )
    request = Request(
        task=Path(), options=options, profile=profile, config=config, state_dir=state_dir,
        folder=folder,
    )  # fmt: skip
    view = LiveView(Console(stderr=True), lines=False, spinner=not as_json)
    with translated(as_json=as_json), view:
        end = asyncio.run(run_smoke(request, view.say, view.show))
    if end.report is None:
        context.exit(end.interrupted or 1)
    if as_json:
        click.echo(encode(end.report))
    else:
        for line in report_lines(end.report):
            click.echo(line)
    context.exit(exit_code(end.report))
