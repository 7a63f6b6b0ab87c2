"""`stanchion smoke`: two tasks, and whether effort, limit and reasoning were as asked."""

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

import click

from stanchion.protocol.dialects import Dialect
from stanchion.runner.cli.run_options import Tokens

if TYPE_CHECKING:
    from stanchion.runner.smoke.matrix import Combination
    from stanchion.runner.smoke.smoke_run import SmokeEnd, SmokeRequest

TOKENS = Tokens()


@click.command
@click.option("--harness", multiple=True, metavar="NAME[@VERSION]", help="Which agent program.")
@click.option(
    "--command",
    multiple=True,
    metavar="FILE",
    type=click.Path(exists=True, dir_okay=False),
    help="Describes a program of your own; --harness command.",
)
@click.option("--model", multiple=True, metavar="ACCOUNT/MODEL", help="Whose model; which one.")
@click.option("--profile", help="Who pays; may be left out where only one has the account.")
@click.option("--effort", multiple=True, metavar="WORD", help="A word the provider's API knows.")
@click.option("--effort-raw", multiple=True, metavar="WORD", help="The same, unchecked.")
@click.option(
    "--thinking-budget",
    type=Tokens(0),
    help="Tokens to think with, where the API has such a number.",
)
@click.option(
    "--output-limit", multiple=True, type=TOKENS, help="Most tokens one response may have."
)
@click.option("--context", type=TOKENS, help="Context window of the model, in tokens.")
@click.option(
    "--dialect",
    type=click.Choice([dialect.value for dialect in Dialect]),
    help="API to speak, where the account is the rehearsal's.",
)
@click.option(
    "--matrix",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="Combinations of these from a TOML file, in place of options.",
)
@click.option(
    "--waive",
    multiple=True,
    metavar="PROPERTY=REASON",
    help="Let this property fail: effort, output_limit, reasoning or no_length_stop.",
)
@click.option("--junit", type=click.Path(path_type=Path), help="Also write the report for CI here.")
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
    click_context: click.Context,
    /,
    *,
    waive: tuple[str, ...],
    matrix: Path | None,
    junit: Path | None,
    folder: Path | None,
    sandbox: str,
    as_json: bool,
    config: str | None,
    state_dir: str | None,
    **choices: object,
) -> None:
    """Run two short tasks and read back from the receipts what reached the provider.

    Four properties: effort and output limit on every request, reasoning in the responses, no
    response cut at its limit. Each is passed, failed, undetermined or unexercised, and only one
    that failed blocks. Another model id in the responses and missing usage are flags. Options that
    are given more than once multiply: each combination is run, and all are one table.

    Exits 0 if nothing failed, or all that did was waived; 1 if something failed or nothing was
    tested; 3 or 4 if the receipts do not hold.
    """
    from stanchion.protocol.launch import SandboxKind
    from stanchion.runner.cli.failures import translated
    from stanchion.runner.smoke.smoke_run import SmokeRequest

    with translated(as_json=as_json):
        request = SmokeRequest(
            combinations=_combinations(matrix, waive, choices),
            sandbox=SandboxKind(sandbox),
            config=config,
            state_dir=state_dir,
            folder=folder,
        )
        end = _run(request, as_json=as_json)
        if junit is not None and end.reports:
            _write_junit(junit, end)
    click_context.exit(_print(end, as_json=as_json))


def _combinations(
    matrix: Path | None, waive: tuple[str, ...], choices: dict[str, object]
) -> "list[Combination]":
    from stanchion.runner.smoke.matrix import checked, multiplied, read_matrix
    from stanchion.runner.smoke.waiving import parse_waivers

    given = {name: value for name, value in choices.items() if value not in {None, ()}}
    waived = parse_waivers(waive)
    if matrix is not None:
        if given or waived:
            name = next(iter((*given, "waive"))).replace("_", "-")
            raise click.UsageError(f"--matrix says it all: leave out --{name}, or the file")
        return read_matrix(matrix.read_text(encoding="utf-8"), file=str(matrix))
    if "command" in given:
        given.setdefault("harness", "command")
    for name in ("harness", "model"):
        if name not in given:
            raise click.MissingParameter(param_hint=f"'--{name}'", param_type="option")
    if "dialect" in given:
        given["dialect"] = Dialect(str(given["dialect"]))
    several = {
        name: value if isinstance(value, tuple) else (value,) for name, value in given.items()
    }
    return checked(multiplied(**several, waived=(waived,)), source="options")


def _run(request: "SmokeRequest", *, as_json: bool) -> "SmokeEnd":
    from rich.console import Console

    from stanchion.runner.screen.job_view import JobView
    from stanchion.runner.smoke.smoke_run import run_smoke
    from stanchion.runner.smoke.two_tasks import TASKS

    planned = len(request.combinations) * len(TASKS)
    view = JobView(Console(stderr=True), planned=planned, lines=True, on_screen=not as_json)
    with view:
        return asyncio.run(run_smoke(request, view))


def _write_junit(file: Path, end: "SmokeEnd") -> None:
    from stanchion.runner.results.job_folder import write_whole
    from stanchion.runner.smoke.junit import junit

    file.parent.mkdir(parents=True, exist_ok=True)
    write_whole(file, junit(end.reports))


def _print(end: "SmokeEnd", *, as_json: bool) -> int:
    """The exit code, too."""
    from stanchion.protocol.codec import encode
    from stanchion.runner.smoke.report import worst
    from stanchion.runner.smoke.table import report_lines

    if end.interrupted is not None or not end.reports:
        return end.interrupted or 1
    if as_json:
        click.echo(encode(end.reports[0] if len(end.reports) == 1 else end.reports))
    else:
        click.echo("\n".join(report_lines(end.reports)))
    return worst(end.reports)
