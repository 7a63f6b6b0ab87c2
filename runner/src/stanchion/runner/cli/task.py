"""`stanchion task`: whether a task can tell a solution from nothing, and a new one that can."""

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

import click

from stanchion.protocol.exit_codes import ExitCode
from stanchion.runner.cli.options import as_json, state_dir

if TYPE_CHECKING:
    from stanchion.runner.checking.judging import Report


@click.group
def task() -> None:
    """Tasks of your own: check them, start a new one."""


@task.command
@click.argument(
    "tasks",
    nargs=-1,
    required=True,
    metavar="TASK…",
    type=click.Path(path_type=Path, exists=True),
)
@click.option("-o", "folder", type=click.Path(path_type=Path), help="Keep the attempts here.")
@click.option("--image", metavar="DIR[@sha256:…]", help="An unpacked root file system to run in.")
@click.option(
    "--sandbox",
    type=click.Choice(["runsc", "process"]),
    default="runsc",
    show_default=True,
    help="process: namespaces of this kernel alone, for hosts without gVisor or root.",
)
@as_json
@click.option("--config", metavar="FILE", help="stanchion.toml; default: searched upwards.")
@state_dir
@click.pass_context
def check(
    context: click.Context,
    *,
    tasks: tuple[Path, ...],
    folder: Path | None,
    image: str | None,
    sandbox: str,
    as_json: bool,
    config: str | None,
    state_dir: str | None,
) -> None:
    """The solution of each TASK must earn the reward, and doing nothing must not.

    Two attempts a task, with the harnesses `oracle` and `noop`; no model is asked. One line a task;
    exits 0 if all are right, else 1 and keeps the attempts.
    """
    from stanchion.protocol.launch import SandboxKind
    from stanchion.runner.checking.check_run import CheckRequest, options_of
    from stanchion.runner.cli.failures import translated
    from stanchion.runner.launching.resolve import Options
    from stanchion.runner.tasks.folders import task_folders

    options = Options(harness="", account="", model="", sandbox=SandboxKind(sandbox), image=image)
    with translated(as_json=as_json):
        folders, files = task_folders(tasks)
        for file in files:
            click.echo(f"{file} is a file, no task: passed over", err=True)
        request = CheckRequest(
            tasks=tuple(folders),
            options=options_of("oracle", options),
            config=config,
            state_dir=state_dir,
            folder=folder,
        )
        report, code = _check(request, as_json=as_json)
    if report is not None:
        _print_end(report, as_json=as_json)
    context.exit(code)


def _check(request: object, *, as_json: bool) -> "tuple[Report | None, int]":
    from rich.console import Console

    from stanchion.runner.checking.check_run import CheckRequest, InterruptedCheckError, check
    from stanchion.runner.checking.judging import Checked, line
    from stanchion.runner.screen.live_view import LiveView

    assert isinstance(request, CheckRequest)
    view = LiveView(Console(stderr=True), lines=False, spinner=not as_json)

    def told(checked: Checked) -> None:
        if not as_json:
            click.echo(line(checked))

    with view:
        try:
            report = asyncio.run(check(request, view.say, view.show, told))
        except InterruptedCheckError as ended:
            return None, ended.code
    return report, ExitCode.OK if report.ok else ExitCode.FAILED


def _print_end(report: "Report", *, as_json: bool) -> None:
    from stanchion.protocol.codec import encode
    from stanchion.runner.checking.judging import last_line

    click.echo(encode(report) if as_json else last_line(report))


@task.command
@click.argument("name")
@click.option(
    "--dir",
    "parent",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path(),
    help="Folder to make it in; default: this one.",
)
def new(name: str, parent: Path) -> None:
    """Write a small task NAME that passes `task check`, with comments on what to change."""
    from stanchion.protocol.refusal import refuse
    from stanchion.runner.checking.skeleton import NAME, files
    from stanchion.runner.cli.failures import translated

    folder = parent / name
    with translated(as_json=False):
        if not NAME.fullmatch(name):
            raise refuse(
                "task_refused",
                field="NAME",
                value=name,
                rule="a task's name has letters, digits and . _ -, and begins with one of the "
                "first two",
                remedy="choose such a name, as stanchion task new my-task",
            )
        if folder.exists():
            raise refuse(
                "folder_taken",
                field="NAME",
                value=folder,
                rule="there is something of this name already",
                remedy="choose another name, or another folder with --dir",
            )
        for file in files(name):
            path = folder / file.path
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(file.text, encoding="utf-8")
            path.chmod(0o755 if file.executable else 0o644)
    click.echo(f"{folder} written; next: stanchion task check {folder}")
