"""A smoke run: for each combination a job of two example tasks, whose receipts are then audited.

Judges nothing by itself and believes nothing but the audit. What was found is written beside the
receipts and signed with their list, so that `stanchion audit` tells a report that was edited.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from stanchion.images.errors import ImagesError
from stanchion.protocol.exit_codes import ExitCode
from stanchion.protocol.launch import SandboxKind
from stanchion.protocol.refusal import RefusedError
from stanchion.protocol.result import AttemptResult
from stanchion.runner.demo.audit_call import call_audit
from stanchion.runner.jobs.job_receipts import sign_reports
from stanchion.runner.jobs.prepare import JobRequest, PreparedJob, prepare_job
from stanchion.runner.jobs.run_job import JobEnd, Screen, check_room, paths_of, run_job
from stanchion.runner.launching.attempt_run import AttemptError
from stanchion.runner.launching.command_option import read_command
from stanchion.runner.launching.interrupts import cancelling
from stanchion.runner.launching.resolve import Options
from stanchion.runner.launching.terminal_keys import Terminal
from stanchion.runner.results.job_folder import default_folder, write_json
from stanchion.runner.smoke.audited import Audited
from stanchion.runner.smoke.matrix import Combination
from stanchion.runner.smoke.report import SmokeReport, not_run, report
from stanchion.runner.smoke.two_tasks import TASKS, SmokeTask
from stanchion.runner.tasks.examples import example_task

KIND = "smoke"
REPORT = "smoke.json"
MATRIX = "matrix.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class SmokeRequest:
    """One `stanchion smoke`, as asked for."""

    combinations: Sequence[Combination]
    sandbox: SandboxKind = SandboxKind.RUNSC
    config: str | None = None
    state_dir: str | None = None
    folder: Path | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SmokeEnd:
    """What came of it."""

    folder: Path
    reports: tuple[SmokeReport, ...]
    interrupted: ExitCode | None = None
    """The exit code where an interrupt ended it early."""


async def run_smoke(request: SmokeRequest, screen: Screen) -> SmokeEnd:
    """All combinations, one after the other.

    A single one raises what `stanchion run` raises; of several, one that is refused is a row.
    """
    day = f"{datetime.now(UTC):%Y-%m-%d}"
    top = (request.folder or default_folder(Path.cwd(), day=day, name=KIND)).absolute()
    reports: list[SmokeReport] = []
    several = len(request.combinations) > 1
    for number, one in enumerate(request.combinations, 1):
        folder = top / f"{number:02d}-{one.label}" if several else top
        screen.say(f"smoke     {' '.join((one.harness, one.model, *one.asked.values()))}")
        try:
            found = await _run_one(request, one, folder, screen)
        except (RefusedError, ImagesError, AttemptError) as error:
            if not several:
                raise
            found = not_run(one.harness, one.model, _one_line(error), asked=one.asked)
        if isinstance(found, ExitCode):
            return SmokeEnd(folder=top, reports=tuple(reports), interrupted=found)
        reports.append(found)
    if several:
        top.mkdir(parents=True, exist_ok=True)
        write_json(top / MATRIX, reports)
    return SmokeEnd(folder=top, reports=tuple(reports))


async def _run_one(
    request: SmokeRequest, one: Combination, folder: Path, screen: Screen
) -> SmokeReport | ExitCode:
    job_request = JobRequest(
        tasks=tuple(example_task(task.name) for task in TASKS),
        options=_options(one, request.sandbox),
        profile=one.profile,
        config=request.config,
        state_dir=request.state_dir,
        folder=folder,
        attempts=1,
        concurrency=1,
        retries=0,
        kind=KIND,
    )
    prepared = await prepare_job(job_request, screen.say)
    check_room(prepared, screen.say)
    cancel = asyncio.Event()
    with cancelling(
        cancel,
        timeout_s=None,
        say=screen.say,
        rejoin=f"stanchion status {folder}",
        terminal=Terminal.of_this_process(),
    ) as interrupts:
        end = await run_job(prepared, screen, cancel)
    if interrupts.code is not None:
        return interrupts.code
    found = await asyncio.to_thread(_judged, prepared, one, end)
    write_json(folder / REPORT, found)
    await sign_reports(prepared.job, folder, paths_of(prepared), end.results, names=(REPORT,))
    return found


def _options(one: Combination, sandbox: SandboxKind) -> Options:
    name, _, version = one.harness.partition("@")
    account, _, model = one.model.partition("/")
    own = None if one.command is None else read_command(Path(one.command))
    return Options(
        harness=name,
        harness_version=version or None,
        account=account,
        model=model,
        effort=one.effort,
        effort_raw=one.effort_raw,
        thinking_budget=one.thinking_budget,
        output_limit=one.output_limit,
        context=one.context,
        dialect=one.dialect,
        sandbox=sandbox,
        command=None if own is None else own.command,
        program=None if own is None else own.folder,
    )


def _judged(prepared: PreparedJob, one: Combination, end: JobEnd) -> SmokeReport:
    harness = next(iter(prepared.prepared.values())).spec.harness
    state = paths_of(prepared).root
    audited = [(task, _audited(task, end.finals, state)) for task in TASKS]
    return report(
        f"{harness.name}@{harness.version}",
        one.model,
        audited,
        asked=one.asked,
        waived=one.waived,
    )


def _audited(task: SmokeTask, results: Sequence[AttemptResult], state: Path) -> Audited:
    result = next((one for one in results if one.task == task.name), None)
    if result is None:
        return Audited(path="none", verdict="missing", why="the task was not started")
    bundle = result.receipts.bundle
    if bundle is None:
        return Audited(path="none", verdict="missing", why="the attempt left no receipts")
    answer = call_audit(bundle, state, Audited)
    return answer.report or Audited(path=bundle, verdict="unreadable", why=answer.words)


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())
