"""Another attempt of the same frozen spec: what has to be as it was, or it would be another run.

Reads the terms from `attempt.json`; refuses, naming it, each piece that is not what was frozen:
the task's folder, the base, the harness. Starts nothing.
"""

import os
from dataclasses import dataclass
from pathlib import Path

import msgspec

from stanchion.broker.client import BrokerClient, StatePaths
from stanchion.broker.client.config_file import find_config
from stanchion.protocol.launch import AccountRef, LaunchSpec
from stanchion.protocol.refusal import RefusedError, refuse
from stanchion.runner.keeper.notes import ATTEMPT_FILE, AttemptFile, read_attempt_file
from stanchion.runner.launching.attempt_run import Launch
from stanchion.runner.launching.brokers import Say, ensure_broker
from stanchion.runner.launching.pieces import OwnProgram, ReadyPieces, make_ready
from stanchion.runner.launching.process_mode import private_places
from stanchion.runner.tasks.task import Task, read_task

REHEARSAL = "rehearsal"


class RerunJob(msgspec.Struct, frozen=True, kw_only=True):
    """`job.json` of a rerun's folder."""

    version: int = 1
    kind: str = "rerun"
    started_at: str
    """UTC, ISO 8601."""
    of: str
    """Id of the attempt whose terms these are."""
    run: str
    attempt: int
    task: str
    launch_sha256: str
    """Of the launch that was frozen then."""


@dataclass(frozen=True, slots=True)
class Again:
    """Everything that the next attempt needs."""

    terms: AttemptFile
    task: Task
    pieces: ReadyPieces
    paths: StatePaths
    attempt: int
    """The next free number."""
    hidden: tuple[str, ...]

    def launch(self, result_folder: Path) -> Launch:
        """The attempt, with its place."""
        script = self.terms.rehearsal_script
        return Launch(
            task=self.task,
            spec=self.terms.launch.spec,
            pieces=self.pieces,
            paths=self.paths,
            result_folder=result_folder,
            rehearsal_script=None if script is None else Path(script),
            run=self.terms.run,
            attempt=self.attempt,
            retry_of=self.terms.attempt,
            hidden=self.hidden,
        )


def read_terms(folder: Path) -> AttemptFile:
    """The terms of the attempt in this result folder."""
    terms = read_attempt_file(folder)
    if terms is None:
        raise refuse(
            "rerun_impossible",
            field="RUN|PATH",
            value=folder,
            rule=f"there is no {ATTEMPT_FILE}, which a keeper leaves beside an attempt's results",
            remedy="Name an attempt's folder below attempts/, or run the task anew",
        )
    return terms


async def prepare_again(
    terms: AttemptFile, paths: StatePaths, config: str | None, say: Say
) -> Again:
    """RefusedError names the first piece that differs."""
    spec = terms.launch.spec
    task = _same_task(terms)
    config_file = find_config(config, os.environ, folder=Path.cwd(), home=Path.home())
    await ensure_broker(paths, config_file, say)
    pieces = make_ready(
        paths.cache_dir,
        base=spec.image.base or task.config.base,
        harness=harness_piece(spec),
        say=say,
        is_root=os.geteuid() == 0,
        kind=spec.sandbox.kind,
    )
    _check_pieces(spec, pieces)
    return Again(
        terms=terms,
        task=task,
        pieces=pieces,
        paths=paths,
        attempt=await _next_number(paths, terms),
        hidden=private_places(paths, config_file.path if config_file else None),
    )


def harness_piece(spec: LaunchSpec) -> tuple[str, str] | OwnProgram:
    """What is needed of the harness store; a user's program as it was stored for that launch."""
    harness = spec.harness
    if spec.command is None:
        return harness.name, harness.version
    return OwnProgram(harness.version, sha256=harness.sha256)


def _same_task(terms: AttemptFile) -> Task:
    spec = terms.launch.spec
    task = read_task(Path(terms.task_folder))
    if task.sha256 != spec.task.sha256:
        raise _differs("its task's folder", terms.task_folder, spec.task.sha256, task.sha256)
    if task.instruction_sha256 != spec.task.instruction_sha256:
        raise _differs(
            "its instruction", spec.task.name, spec.task.instruction_sha256, task.instruction_sha256
        )
    return task


def _check_pieces(spec: LaunchSpec, pieces: ReadyPieces) -> None:
    base = None if pieces.base is None else pieces.base.digest
    if spec.image.verified != base:
        raise _differs("the root file system", spec.image.base, spec.image.verified, base)
    if spec.harness.sha256 != pieces.harness.digest:
        raise _differs("the harness", spec.harness.name, spec.harness.sha256, pieces.harness.digest)


def _differs(what: str, value: str | None, then: str | None, now: str | None) -> RefusedError:
    was, has = (digest[:12] if digest else "none" for digest in (then, now))
    return refuse(
        "rerun_differs",
        field=f"rerun, {what}",
        value=value,
        rule=f"it is not what was frozen then (sha256 {was}…, now {has}…), so this would be "
        "another run",
        remedy="Restore it, or start a run of its own with stanchion run",
    )


async def _next_number(paths: StatePaths, terms: AttemptFile) -> int:
    """After every attempt of the run that the broker or this attempt's file knows."""
    async with BrokerClient(paths.admin_socket) as broker:
        ids = [view.id for view in await broker.runs()]
    numbers = [int(name.partition(".")[2]) for name in ids if name.startswith(f"{terms.run}.")]
    return max([*numbers, terms.attempt]) + 1


def other_account(then: AccountRef, now: AccountRef) -> str | None:
    """What of the paying account is not as it was; a rehearsal's port and key never are."""
    if then.name == REHEARSAL == now.name:
        return None
    if then.base_url != now.base_url:
        return f"account {now.name} is now at {now.base_url}, then at {then.base_url}"
    if then.fingerprint != now.fingerprint:
        return f"account {now.name} has another key now than then"
    return None
