"""A smoke run: two example tasks, one after the other, then their receipts audited offline.

Judges nothing by itself and believes nothing but the audit.
"""

import asyncio
import os
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from stanchion.broker.client import StatePaths
from stanchion.runner.demo.audit_call import call_audit
from stanchion.runner.launching.attempt_run import Watch
from stanchion.runner.launching.brokers import Say
from stanchion.runner.launching.interrupts import cancelling
from stanchion.runner.launching.run_command import (
    Prepared,
    Request,
    launch_in,
    prepare,
    run_and_record,
)
from stanchion.runner.results.job_folder import Job, JobFolder, default_folder
from stanchion.runner.smoke.properties import Audited
from stanchion.runner.smoke.report import SmokeReport, report
from stanchion.runner.tasks.examples import example_task

TASKS = ("hello", "long-think")
KIND = "smoke"


@dataclass(frozen=True, slots=True)
class SmokeEnd:
    """What came of it."""

    report: SmokeReport | None
    interrupted: int | None = None
    """The exit code where an interrupt ended it early."""


async def run_smoke(request: Request, say: Say, watch: Watch) -> SmokeEnd:
    """Both tasks; raises what `stanchion run` raises."""
    folder: JobFolder | None = None
    bundles: list[tuple[str, str | None]] = []
    for name in TASKS:
        prepared = await prepare(replace(request, task=example_task(name), kind=KIND), say)
        folder = folder or _open_folder(prepared)
        launch = launch_in(prepared, folder)
        say(f"smoke     {name}")
        with cancelling(launch.cancel, timeout_s=None, say=say) as interrupts:
            result = await run_and_record(launch, folder, watch)
        if interrupts.code is not None:
            return SmokeEnd(report=None, interrupted=interrupts.code)
        bundles.append((name, result.receipts.bundle))
    harness = f"{prepared.spec.harness.name}@{prepared.spec.harness.version}"
    state = StatePaths.resolve(request.state_dir, os.environ).root
    audited = [(name, await asyncio.to_thread(_audited, bundle, state)) for name, bundle in bundles]
    model = f"{request.options.account}/{request.options.model}"
    return SmokeEnd(report=report(harness, model, audited))


def _open_folder(prepared: Prepared) -> JobFolder:
    options, now = prepared.request.options, datetime.now(UTC)
    path = prepared.request.folder or default_folder(Path.cwd(), day=f"{now:%Y-%m-%d}", name=KIND)
    job = Job(
        kind=KIND,
        started_at=now.isoformat(timespec="seconds"),
        tasks=TASKS,
        harness=f"{prepared.spec.harness.name}@{prepared.spec.harness.version}",
        model=f"{options.account}/{options.model}",
        effort=options.effort or options.effort_raw,
        output_limit=options.output_limit,
    )
    return JobFolder.create(path, job)


def _audited(bundle: str | None, state: Path) -> Audited:
    if bundle is None:
        return Audited(path="none", verdict="missing", why="the attempt left no receipts")
    answer = call_audit(bundle, state, Audited)
    return answer.report or Audited(path=bundle, verdict="unreadable", why=answer.words)
