"""A job as one JSON document, and the dry run's plan. Pure."""

import msgspec

from stanchion.protocol.launch import LaunchSpec
from stanchion.protocol.result import AttemptResult
from stanchion.runner.jobs.prepare import PreparedJob
from stanchion.runner.jobs.run_job import JobEnd
from stanchion.runner.results.summary import Summary


class NotBegun(msgspec.Struct, frozen=True, kw_only=True):
    """An attempt that could not be started, or explained."""

    task: str
    attempt: int
    why: str


class JobDocument(msgspec.Struct, frozen=True, kw_only=True):
    """`stanchion run --json` of more than one attempt."""

    job: str
    sha256: str
    folder: str
    attempts: tuple[AttemptResult, ...]
    """All there are, retried ones too."""
    summary: Summary
    not_begun: tuple[NotBegun, ...] = ()
    stopped: str | None = None
    """Why nothing new was started; null = all was done that could be."""


class PlannedAttempts(msgspec.Struct, frozen=True, kw_only=True):
    """One task of a plan."""

    task: str
    run: str
    attempts: int
    spec: LaunchSpec


class JobPlan(msgspec.Struct, frozen=True, kw_only=True):
    """`stanchion run --dry-run --json`."""

    sha256: str
    folder: str
    concurrency: int
    retries: int
    tasks: tuple[PlannedAttempts, ...]


def job_document(prepared: PreparedJob, end: JobEnd) -> JobDocument:
    """What there is now."""
    return JobDocument(
        job=prepared.job.id,
        sha256=prepared.job.sha256,
        folder=str(prepared.folder.absolute()),
        attempts=end.results,
        summary=end.summary,
        not_begun=tuple(
            NotBegun(task=key[0], attempt=key[1], why=gave_up.why)
            for key, gave_up in sorted(end.gave_up.items())
        ),
        stopped=None if end.trip is None else end.trip.what,
    )


def job_plan(prepared: PreparedJob) -> JobPlan:
    """What would be run."""
    return JobPlan(
        sha256=prepared.job.sha256,
        folder=str(prepared.folder.absolute()),
        concurrency=prepared.wanted.concurrency,
        retries=prepared.wanted.retries,
        tasks=tuple(
            PlannedAttempts(
                task=task.name, run=task.run, attempts=prepared.job.attempts, spec=task.spec
            )
            for task in prepared.job.tasks
        ),
    )


def plan_text(prepared: PreparedJob) -> str:
    """The same for people."""
    job, wanted = prepared.job, prepared.wanted
    spec = job.tasks[0].spec
    effort = spec.effort.word or "unspecified"
    lines = [
        (
            f"job       {len(job.tasks)} tasks x {job.attempts} = {prepared.planned} attempts, "
            f"{wanted.concurrency} at a time, retries {wanted.retries} · digest {job.sha256[:12]}"
        ),
        f"folder    {prepared.folder}",
        (
            f"harness   {spec.harness.name} {spec.harness.version} · "
            f"{spec.model.account}/{spec.model.id} · profile {spec.profile} · effort {effort}"
        ),
    ]
    width = max(len(task.name) for task in job.tasks)
    lines += [f"{task.name:<{width}}  {_terms(task.spec)}" for task in job.tasks]
    return "\n".join(lines)


def _terms(spec: LaunchSpec) -> str:
    limit, image = spec.limits.output_tokens, spec.image.verified
    shown = "none" if limit is None else f"{limit.source} {limit.value}"
    return (
        f"limit {shown} · agent {spec.deadlines.agent_s} s · tests {spec.deadlines.verifier_s} s · "
        f"{spec.sandbox.memory_mb} MB · task sha256:{spec.task.sha256[:12]} · "
        f"image {f'sha256:{image[:12]}' if image else 'none'}"
    )
