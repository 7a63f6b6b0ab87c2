"""What `stanchion run` does with its options: prepare, show, run, print, and the exit code."""

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from stanchion.protocol.exit_codes import ExitCode

if TYPE_CHECKING:
    from stanchion.protocol.result import AttemptResult
    from stanchion.runner.jobs.prepare import JobRequest, PreparedJob
    from stanchion.runner.jobs.run_job import JobEnd
    from stanchion.runner.launching.keepers import Keeper
    from stanchion.runner.screen.job_view import JobView
    from stanchion.runner.screen.one_view import OneView


@dataclass(frozen=True, slots=True)
class Ways:
    """How to run and show, beside what to run."""

    print_spec: bool
    dry_run: bool
    as_json: bool
    follow: bool
    timeout_s: int | None

    @property
    def starts(self) -> bool:
        """Whether anything is to be run at all."""
        return not (self.print_spec or self.dry_run)


async def run_flow(request: "JobRequest", ways: Ways) -> int:
    """The whole command; returns its exit code."""
    from stanchion.runner.launching.keepers import Keeper

    # A keeper's process gets ready while everything is decided; both take about half a second.
    keeper = Keeper.spawn() if ways.starts else None
    try:
        prepared, view = await _prepare(request, ways)
    except BaseException:
        if keeper is not None:
            keeper.discard()
        raise
    if keeper is None:
        _print_plan(prepared, ways)
        return ExitCode.OK
    end, stopped = await _run(prepared, view, ways, keeper)
    _print_end(prepared, end, ways)
    return _code(end, stopped)


async def _prepare(request: "JobRequest", ways: Ways) -> "tuple[PreparedJob, JobView | OneView]":
    """Everything decided, room enough, and the screen for it."""
    from rich.console import Console

    from stanchion.runner.jobs.prepare import prepare_job
    from stanchion.runner.jobs.run_job import check_room
    from stanchion.runner.live.screen import attempt_title
    from stanchion.runner.screen.job_view import JobView
    from stanchion.runner.screen.live_view import LiveView
    from stanchion.runner.screen.one_view import OneView

    console, shown = Console(stderr=True), ways.follow and not ways.as_json
    one = LiveView(console, lines=not ways.as_json, spinner=shown)
    with one:
        prepared = await prepare_job(request, one.say)
        if ways.starts:
            check_room(prepared, one.say)
    if prepared.planned > 1:
        lines = not ways.as_json
        return prepared, JobView(console, planned=prepared.planned, lines=lines, on_screen=shown)
    task = prepared.job.tasks[0]
    view = LiveView(console, lines=shown, spinner=shown)
    view.title = attempt_title(f"{task.run}.1", task.spec)
    return prepared, OneView(view)


async def _run(
    prepared: "PreparedJob", view: "JobView | OneView", ways: Ways, keeper: "Keeper"
) -> "tuple[JobEnd, ExitCode | None]":
    """What became of it, and the code of whatever made this command cancel it."""
    from stanchion.runner.jobs.run_job import run_job
    from stanchion.runner.launching.interrupts import cancelling
    from stanchion.runner.launching.terminal_keys import Terminal

    cancel, single = asyncio.Event(), prepared.planned == 1
    run, folder = prepared.job.tasks[0].run, prepared.folder
    with (
        view,
        cancelling(
            cancel,
            timeout_s=ways.timeout_s,
            say=view.say,
            rejoin=f"stanchion attach {run}" if single else f"stanchion run --resume {folder}",
            terminal=Terminal.of_this_process(),
        ) as interrupts,
    ):
        return await run_job(prepared, view, cancel, keeper), interrupts.code


def _print_plan(prepared: "PreparedJob", ways: Ways) -> None:
    from stanchion.protocol.codec import encode
    from stanchion.runner.jobs.document import job_plan, plan_text

    specs = [task.spec for task in prepared.job.tasks]
    if ways.print_spec:
        click.echo(encode(specs[0] if len(specs) == 1 else specs))
    elif ways.as_json:
        click.echo(encode(job_plan(prepared)))
    else:
        click.echo(plan_text(prepared))


def _print_end(prepared: "PreparedJob", end: "JobEnd", ways: Ways) -> None:
    """One attempt as its result, more of them as their sums."""
    from stanchion.protocol.codec import encode
    from stanchion.runner.jobs.document import job_document
    from stanchion.runner.jobs.trip import trip_line
    from stanchion.runner.live.show_sources import text_with_receipts
    from stanchion.runner.results.summary import summary_text

    one = end.finals[0] if prepared.planned == 1 and end.finals else None
    if ways.as_json:
        click.echo(encode(one if one is not None else job_document(prepared, end)))
    elif one is not None:
        click.echo(text_with_receipts(one))
    else:
        click.echo(f"{summary_text(end.summary)}results           {prepared.folder}")
    for (task, number), gave_up in sorted(end.gave_up.items()):
        if end.trip is None:
            click.echo(f"not begun: {task}__{number}: {gave_up.why}", err=True)
    if end.trip is not None:
        line = trip_line(
            end.trip,
            unscored=end.ended_unscored,
            not_started=end.summary.not_started,
            folder=str(prepared.folder),
        )
        click.echo(line, err=True)


def _code(end: "JobEnd", stopped: ExitCode | None) -> ExitCode:
    from stanchion.runner.jobs.ending import exit_code

    waiting = end.summary.not_started + end.summary.running
    return exit_code(end.finals, not_started=waiting, stopped=stopped)


def attempt_exit_code(result: "AttemptResult", stopped: ExitCode | None = None) -> ExitCode:
    """Of a command that watched one attempt."""
    from stanchion.runner.jobs.ending import exit_code

    return exit_code([result], stopped=stopped)
