"""Everything about a job decided before anything starts: its tasks, specs, digest and place.

A job that is resumed is resolved again from what it was asked with, and refused where that gives
another job than the one that was frozen.
"""

import os
import secrets
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from stanchion.protocol.refusal import RefusedError, refuse
from stanchion.runner.jobs.job import (
    Asked,
    Job,
    PlannedTask,
    check_names,
    check_unchanged,
    job_digest,
    terms_of,
)
from stanchion.runner.jobs.on_disk import read_job
from stanchion.runner.jobs.plan import Wanted
from stanchion.runner.launching.brokers import Say
from stanchion.runner.launching.resolve import Options
from stanchion.runner.launching.run_command import (
    Prepared,
    Request,
    find_ground,
    prepare_task,
    read_runnable,
)
from stanchion.runner.results.job_folder import default_folder

MAX_ATTEMPTS = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class JobRequest:
    """One `stanchion run`, as asked for. None = not said; a resumed job knows it."""

    tasks: tuple[Path, ...] = ()
    options: Options | None = None
    profile: str | None = None
    config: str | None = None
    state_dir: str | None = None
    folder: Path | None = None
    attempts: int | None = None
    concurrency: int | None = None
    retries: int | None = None
    resume: Path | None = None
    kind: str = "run"
    """What the result folder is of, as its `job.json` says."""


@dataclass(frozen=True, slots=True)
class PreparedJob:
    """Decided; nothing is started but the broker, nothing is written."""

    request: JobRequest
    job: Job
    folder: Path
    prepared: dict[str, Prepared]
    wanted: Wanted

    @property
    def planned(self) -> int:
        """Attempts, retries not counted."""
        return self.job.attempts * len(self.job.tasks)


async def prepare_job(request: JobRequest, say: Say) -> PreparedJob:
    """RefusedError, ImagesError, BrokerStartError or BrokerUnreachableError say why not."""
    frozen = None if request.resume is None else _frozen(request.resume)
    asked = _asked(request, frozen)
    known = frozen.tasks if frozen else ()
    folders = request.tasks or tuple(Path(task.folder) for task in known)
    one = Request(
        task=folders[0],
        options=asked.options,
        profile=asked.profile,
        config=asked.config,
        state_dir=request.state_dir,
    )
    tasks = [read_runnable(replace(one, task=folder)) for folder in folders]
    check_names([task.name for task in tasks])
    ground = await find_ground(one, say)
    prepared = {task.name: prepare_task(ground, task, say) for task in tasks}
    attempts = request.attempts or (frozen.attempts if frozen else 1)
    runs = {task.name: task.run for task in known}
    planned = tuple(
        PlannedTask(
            name=name,
            run=runs.get(name) or secrets.token_hex(6),
            folder=str(one_task.task.folder),
            spec=one_task.spec,
            untouched_reward=one_task.task.config.untouched_reward,
        )
        for name, one_task in prepared.items()
    )
    if frozen is not None:
        check_unchanged(frozen, terms_of(planned, attempts))
    job = frozen or _new_job(planned, attempts, asked, kind=request.kind)
    return PreparedJob(
        request, job, request.resume or _folder(request, job), prepared, _wanted(job, asked)
    )


def _frozen(folder: Path) -> Job:
    job = read_job(folder)
    if job is None:
        raise refuse(
            "job_missing",
            field="--resume",
            value=folder,
            rule="there is no job.json of a `stanchion run` in this folder",
            remedy="name the folder that the run wrote, or start another job",
        )
    return job


def _asked(request: JobRequest, frozen: Job | None) -> Asked:
    """What this command says, else what the frozen one said."""
    before = frozen.asked if frozen else None
    options = request.options or (before.options if before else None)
    if options is None or not (request.tasks or frozen):
        raise _nothing_asked()
    return Asked(
        options=options,
        profile=request.profile or (before.profile if before else None),
        config=request.config or (before.config if before else None),
        concurrency=request.concurrency or (before.concurrency if before else None),
        retries=(before.retries if before else 0) if request.retries is None else request.retries,
    )


def _nothing_asked() -> RefusedError:
    return refuse(
        "job_unsaid",
        field="TASK",
        value=None,
        rule="a new job names its tasks, its harness and its model",
        remedy="name them, or continue a job with --resume DIR",
    )


def _new_job(planned: tuple[PlannedTask, ...], attempts: int, asked: Asked, *, kind: str) -> Job:
    config = asked.config and str(Path(asked.config).absolute())
    return Job(
        kind=kind,
        id=secrets.token_hex(6),
        sha256=job_digest(planned, attempts),
        started_at=datetime.now(UTC).isoformat(timespec="seconds"),
        attempts=attempts,
        tasks=planned,
        asked=Asked(
            options=asked.options,
            profile=asked.profile,
            config=config,
            concurrency=asked.concurrency,
            retries=asked.retries,
        ),
    )


def _folder(request: JobRequest, job: Job) -> Path:
    if request.folder is not None:
        return request.folder
    name = job.tasks[0].name if len(job.tasks) == 1 else f"{len(job.tasks)}-tasks"
    return default_folder(Path.cwd(), day=f"{datetime.now(UTC):%Y-%m-%d}", name=name)


def _wanted(job: Job, asked: Asked) -> Wanted:
    planned = job.attempts * len(job.tasks)
    concurrency = asked.concurrency or min(planned, os.cpu_count() or 1)
    return Wanted(
        tasks=tuple(task.name for task in job.tasks),
        attempts=job.attempts,
        retries=asked.retries,
        concurrency=concurrency,
    )
