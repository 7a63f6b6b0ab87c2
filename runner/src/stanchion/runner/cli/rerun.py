"""`stanchion rerun`: another attempt of the same frozen spec."""

import asyncio
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from stanchion.protocol.exit_codes import ExitCode
from stanchion.runner.cli.options import as_json as json_option
from stanchion.runner.cli.options import state_dir as state_dir_option
from stanchion.runner.cli.options import state_paths

if TYPE_CHECKING:
    from stanchion.broker.client import StatePaths
    from stanchion.protocol.result import AttemptResult
    from stanchion.runner.launching.again import Again
    from stanchion.runner.screen.live_view import LiveView


@click.command
@click.argument("run", metavar="RUN|PATH")
@click.option("-o", "folder", type=click.Path(path_type=Path), help="Result folder; a fresh one.")
@click.option("--config", metavar="FILE", help="stanchion.toml; default: searched upwards.")
@json_option
@state_dir_option
def rerun(
    run: str, *, folder: Path | None, config: str | None, as_json: bool, state_dir: str | None
) -> None:
    """Make another attempt of the same frozen spec as RUN's, or as the attempt in PATH.

    Refused where the task, the base or the harness is not what was frozen then. The results go
    into a folder of their own; the first attempt stays as it is. Exits as `run` does.
    """
    from stanchion.runner.cli.failures import translated

    with translated(as_json=as_json):
        code = asyncio.run(
            _rerun(run, folder, config, as_json=as_json, paths=state_paths(state_dir))
        )
    click.get_current_context().exit(code)


async def _rerun(
    run: str, folder: Path | None, config: str | None, *, as_json: bool, paths: "StatePaths"
) -> int:
    from rich.console import Console

    from stanchion.protocol.codec import encode
    from stanchion.runner.cli.run_flow import attempt_exit_code
    from stanchion.runner.launching.again import prepare_again, read_terms
    from stanchion.runner.live.show_sources import from_path, text_of
    from stanchion.runner.screen.live_view import LiveView

    terms = read_terms(await _attempt_folder(run, paths))
    view = LiveView(Console(stderr=True), lines=not as_json, spinner=not as_json)
    with view:
        again = await prepare_again(terms, paths, config, view.say)
        result, stopped, where = await _attempt(again, folder, view)
    click.echo(encode(result) if as_json else text_of(from_path(where)))
    return attempt_exit_code(result, stopped)


async def _attempt_folder(run: str, paths: "StatePaths") -> Path:
    from stanchion.runner.live.targets import as_path, find_target

    path = as_path(run)
    if path is not None:
        return path.parent if path.suffix == ".json" else path
    target = await find_target(run, paths)
    return target.folder or Path(target.note.result_folder if target.note else run)


async def _attempt(
    again: "Again", folder: Path | None, view: "LiveView"
) -> "tuple[AttemptResult, ExitCode | None, Path]":
    from stanchion.runner.keeper.notes import read_attempt_file
    from stanchion.runner.launching.again import RerunJob, other_account
    from stanchion.runner.launching.interrupts import cancelling
    from stanchion.runner.launching.run_command import run_and_record
    from stanchion.runner.launching.terminal_keys import Terminal
    from stanchion.runner.live.screen import attempt_title
    from stanchion.runner.results.job_folder import JobFolder, default_folder

    terms, now = again.terms, datetime.now(UTC)
    place = folder or default_folder(
        Path(os.curdir), day=f"{now:%Y-%m-%d}", name=f"{again.task.name}-again"
    )
    job = RerunJob(
        started_at=now.isoformat(timespec="seconds"),
        of=f"{terms.run}.{terms.attempt}",
        run=terms.run,
        attempt=again.attempt,
        task=again.task.name,
        launch_sha256=terms.launch_sha256,
    )
    job_folder = JobFolder.create(place, job)
    launch = again.launch(job_folder.attempt(again.task.name, again.attempt))
    name = f"{launch.run}.{launch.attempt}"
    view.title = attempt_title(name, launch.spec)
    view.say(f"attempt   {name}, results in {job_folder.path}")
    with cancelling(
        launch.cancel,
        timeout_s=None,
        say=view.say,
        rejoin=f"stanchion attach {name}",
        terminal=Terminal.of_this_process(),
    ) as interrupts:
        result = await run_and_record(launch, job_folder, view.show)
    frozen = read_attempt_file(launch.result_folder)
    if frozen is not None and (other := other_account(terms.launch.account, frozen.launch.account)):
        view.say(f"warning   {other}")
    return result, interrupts.code, launch.result_folder
