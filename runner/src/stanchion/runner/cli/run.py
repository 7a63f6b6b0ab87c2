"""`stanchion run`: one task, one harness, one attempt, graded."""

import asyncio
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from stanchion.protocol.dialects import Dialect
from stanchion.protocol.exit_codes import ExitCode

if TYPE_CHECKING:
    from stanchion.protocol.launch import LaunchSpec
    from stanchion.protocol.result import AttemptResult
    from stanchion.runner.launching.keepers import Keeper
    from stanchion.runner.launching.run_command import Prepared, Request
    from stanchion.runner.results.job_folder import JobFolder
    from stanchion.runner.screen.live_view import LiveView

TOKENS = click.IntRange(1, 100_000_000)


@dataclass(frozen=True, slots=True)
class Ways:
    """How to run and show, beside what to run."""

    print_spec: bool
    as_json: bool
    follow: bool
    timeout_s: int | None


@click.command
@click.argument("task", type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.option("--harness", required=True, metavar="NAME[@VERSION]", help="Which agent program.")
@click.option("--model", required=True, metavar="ACCOUNT/MODEL", help="Whose model; which one.")
@click.option("--profile", help="Who pays; may be left out where only one has the account.")
@click.option("--effort", metavar="WORD", help="Reasoning effort, a word the provider's API knows.")
@click.option("--effort-raw", metavar="WORD", help="The same, unchecked.")
@click.option("--output-limit", type=TOKENS, help="Most tokens one response may have.")
@click.option("--context", type=TOKENS, help="Context window of the model, in tokens.")
@click.option("-o", "folder", type=click.Path(path_type=Path), help="Result folder; a fresh one.")
@click.option("--image", metavar="DIR[@sha256:…]", help="An unpacked root file system to run in.")
@click.option("--answer", multiple=True, metavar="PATH", help="File a clean run must leave behind.")
@click.option(
    "--dialect",
    type=click.Choice([dialect.value for dialect in Dialect]),
    help="API to speak; default: the account's. Chooses it where the account is the rehearsal's.",
)
@click.option("--timeout", "timeout_s", type=click.IntRange(1), help="Cancel after these seconds.")
@click.option("--memory", metavar="SIZE", help="Memory limit of the sandbox, such as 4G.")
@click.option(
    "--sandbox",
    type=click.Choice(["runsc", "process"]),
    default="runsc",
    show_default=True,
    help="process: namespaces of this kernel alone, for hosts without gVisor or root.",
)
@click.option("--print-spec", is_flag=True, help="Print the launch spec and start nothing.")
@click.option("--json", "as_json", is_flag=True, help="One JSON document on standard output.")
@click.option("--follow/--no-follow", default=True, help="Show the stages as they come.")
@click.option("--config", metavar="FILE", help="stanchion.toml; default: searched upwards.")
@click.option("--state-dir", metavar="DIR", help="Where broker and cached pieces live.")
def run(
    task: Path,
    *,
    harness: str,
    model: str,
    profile: str | None,
    effort: str | None,
    effort_raw: str | None,
    output_limit: int | None,
    folder: Path | None,
    image: str | None,
    answer: tuple[str, ...],
    dialect: str | None,
    timeout_s: int | None,
    memory: str | None,
    sandbox: str,
    print_spec: bool,
    as_json: bool,
    follow: bool,
    config: str | None,
    state_dir: str | None,
    context: int | None,
) -> None:
    """Run TASK in a sandbox with a coding-agent harness, watch it, grade it.

    Exits 0 if the attempt was graded, whatever its score; 1 if its score is withheld; 78 if the
    gate refused it.
    """
    from stanchion.protocol.launch import SandboxKind
    from stanchion.runner.cli.failures import translated
    from stanchion.runner.launching.resolve import Options
    from stanchion.runner.launching.run_command import Request

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
        context=context,
        answers=answer_paths(answer),
        memory_mb=memory_mb(memory),
        image=image,
        sandbox=SandboxKind(sandbox),
        dialect=None if dialect is None else Dialect(dialect),
    )
    request = Request(
        task=task, options=options, profile=profile, config=config, state_dir=state_dir,
        folder=folder,
    )  # fmt: skip
    ways = Ways(print_spec=print_spec, as_json=as_json, follow=follow, timeout_s=timeout_s)
    with translated(as_json=as_json):
        code = asyncio.run(_run(request, ways))
    click.get_current_context().exit(code)


def split_model(text: str) -> tuple[str, str]:
    """Account and model id: MODEL is all after the first slash."""
    account, slash, model = text.partition("/")
    if not (account and slash and model):
        raise click.BadParameter(
            f"{text!r} is not ACCOUNT/MODEL, as in anthropic/ID", param_hint="--model"
        )
    return account, model


def answer_paths(paths: tuple[str, ...]) -> tuple[str, ...] | None:
    """The declared answers, if any was given."""
    for path in paths:
        if not path.startswith("/") or ".." in path.split("/"):
            raise click.BadParameter(
                f"{path!r} must be an absolute path without ..", param_hint="--answer"
            )
    return paths or None


def memory_mb(text: str | None) -> int | None:
    """Megabytes of a size; a bare number is megabytes."""
    from stanchion.runner.tasks.task_values import parse_size_mb

    if text is None:
        return None
    size_mb = int(text) if text.isdecimal() else parse_size_mb(text)
    if not size_mb:
        raise click.BadParameter(f"{text!r} is no size, such as 4G or 3000", param_hint="--memory")
    return size_mb


async def _run(request: "Request", ways: Ways) -> int:
    from stanchion.runner.launching.keepers import Keeper

    # The keeper's process gets ready while everything is decided; both take about half a second.
    keeper = None if ways.print_spec else Keeper.spawn()
    try:
        prepared, folder, view = await _prepare(request, ways)
    except BaseException:
        if keeper is not None:
            keeper.discard()
        raise
    if keeper is None or folder is None:
        _print(prepared.spec)
        return ExitCode.OK
    with view:
        result, stopped = await _attempt(prepared, folder, ways, view, keeper)
    _print(result, as_text=not ways.as_json)
    return exit_code(result, stopped)


async def _prepare(request: "Request", ways: Ways) -> "tuple[Prepared, JobFolder | None, LiveView]":
    """Everything decided, and the result folder if there is to be a result."""
    from rich.console import Console

    from stanchion.runner.launching.run_command import open_folder, prepare
    from stanchion.runner.screen.live_view import LiveView

    shown = ways.follow and not ways.as_json
    view = LiveView(Console(stderr=True), lines=shown, spinner=shown)
    with view:
        prepared = await prepare(request, view.say)
    return prepared, None if ways.print_spec else open_folder(prepared), view


async def _attempt(
    prepared: "Prepared", folder: "JobFolder", ways: Ways, view: "LiveView", keeper: "Keeper"
) -> "tuple[AttemptResult, ExitCode | None]":
    """The result, and the code of whatever made this command cancel it."""
    from stanchion.runner.launching.interrupts import cancelling
    from stanchion.runner.launching.run_command import launch_in, run_and_record
    from stanchion.runner.launching.terminal_keys import Terminal
    from stanchion.runner.live.screen import attempt_title

    launch = launch_in(prepared, folder)
    view.title = attempt_title(f"{launch.run}.1", prepared.spec)
    with cancelling(
        launch.cancel,
        timeout_s=ways.timeout_s,
        say=view.say,
        rejoin=f"stanchion attach {launch.run}",
        terminal=Terminal.of_this_process(),
    ) as interrupts:
        return await run_and_record(launch, folder, view.show, keeper), interrupts.code


def _print(document: "AttemptResult | LaunchSpec", *, as_text: bool = False) -> None:
    from stanchion.protocol.codec import encode
    from stanchion.protocol.result import AttemptResult
    from stanchion.runner.results.result_text import result_text

    if as_text and isinstance(document, AttemptResult):
        click.echo(result_text(document))
    else:
        click.echo(encode(document))


def exit_code(result: "AttemptResult", stopped: ExitCode | None = None) -> ExitCode:
    """0 graded, 1 withheld, 78 refused by the gate in the sandbox; `stopped` if it was cancelled.

    An attempt that was over before the cancel reached it keeps its own code.
    """
    from stanchion.protocol.outcome import EndReason

    if stopped is not None and result.outcome.reason is EndReason.CANCELLED:
        return stopped

    if result.outcome.reason is EndReason.REFUSED:
        return ExitCode.REFUSED
    return ExitCode.FAILED if result.score is None else ExitCode.OK
