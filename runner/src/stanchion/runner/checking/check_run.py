"""Runs a task's solution, then nothing at all, in sandboxes like any other attempt's; no model.

Decides nothing: what the two attempts say is judged elsewhere. A task that cannot be run is one
line of the report and does not keep the others from being checked.
"""

import shutil
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from stanchion.harness_adapters.without_model import Noop, Oracle
from stanchion.images.errors import ImagesError
from stanchion.protocol.refusal import RefusedError
from stanchion.protocol.result import AttemptResult
from stanchion.runner.checking.judging import Checked, Report, judge, refused, without_folders
from stanchion.runner.launching.attempt_run import AttemptError, Watch, run_attempt
from stanchion.runner.launching.brokers import Say
from stanchion.runner.launching.interrupts import cancelling
from stanchion.runner.launching.resolve import REHEARSAL, Options
from stanchion.runner.launching.run_command import (
    Request,
    find_ground,
    launch_in,
    prepare_task,
    read_runnable,
)
from stanchion.runner.results.job_folder import Job, JobFolder

KIND = "check"
NO_MODEL = "none"


class InterruptedCheckError(Exception):
    """Ended early; carries the exit code."""

    def __init__(self, code: int) -> None:
        super().__init__("interrupted")
        self.code = code


@dataclass(frozen=True, slots=True)
class CheckRequest:
    """One `stanchion task check`, as asked for."""

    tasks: tuple[Path, ...]
    options: Options
    config: str | None
    state_dir: str | None
    folder: Path | None


def options_of(harness: str, options: Options) -> Options:
    """The launch of one of the two: on the loopback account, which nobody will ask."""
    return replace(options, harness=harness, account=REHEARSAL, model=NO_MODEL)


async def check(
    request: CheckRequest, say: Say, watch: Watch, told: Callable[[Checked], None]
) -> Report:
    """Every task; `told` hears of each as soon as it is judged."""
    place = request.folder or Path(tempfile.mkdtemp(prefix="stanchion-check-"))
    folder = JobFolder.create(place, _job(request.tasks))
    done: list[Checked] = []
    right = False
    try:
        for task in request.tasks:
            done.append(await _check_one(request, task, folder, say, watch))
            told(done[-1])
        right = all(checked.ok for checked in done)
    finally:
        kept = request.folder is not None or not right
        if not kept:
            shutil.rmtree(place, ignore_errors=True)
    if kept:
        return Report(tasks=tuple(done), ok=right, folder=str(place))
    return Report(tasks=tuple(without_folders(checked) for checked in done), ok=True, folder=None)


def name_of(task: Path) -> str:
    """Of its folder, whichever way it was named."""
    return task.resolve().name


def _job(tasks: Sequence[Path]) -> Job:
    return Job(
        kind=KIND,
        started_at=datetime.now(UTC).isoformat(timespec="seconds"),
        tasks=tuple(name_of(task) for task in tasks),
        harness=f"{Oracle.name} and {Noop.name}",
        model=f"{REHEARSAL}/{NO_MODEL}",
        effort=None,
        output_limit=None,
    )


async def _check_one(
    request: CheckRequest, task: Path, folder: JobFolder, say: Say, watch: Watch
) -> Checked:
    name = name_of(task)
    results: list[AttemptResult] = []
    folders: list[Path] = []
    try:
        for harness in (Oracle.name, Noop.name):
            wanted = _wanted(request, task, harness)
            read = read_runnable(wanted)
            ground = await find_ground(wanted, say)
            launch = launch_in(prepare_task(ground, read, say), folder, name=f"{name}.{harness}")
            folders.append(launch.result_folder)
            say(f"check     {name}: {harness}")
            with cancelling(launch.cancel, timeout_s=None, say=say) as interrupts:
                results.append(await run_attempt(launch, watch))
            if interrupts.code is not None:
                raise InterruptedCheckError(interrupts.code)
    except (RefusedError, ImagesError, AttemptError) as error:
        return refused(name, str(error))
    solution, nothing = results
    return judge(
        name,
        solution,
        nothing,
        declared_untouched=float(read.config.untouched_reward),
        folders=(str(folders[0]), str(folders[1])),
    )


def _wanted(request: CheckRequest, task: Path, harness: str) -> Request:
    return Request(
        task=task,
        options=options_of(harness, request.options),
        config=request.config,
        state_dir=request.state_dir,
        kind=KIND,
    )
