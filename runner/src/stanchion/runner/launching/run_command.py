"""What `stanchion run` does, in order: task, broker, profile, pieces, spec, attempt, result.

Reads as the story; every step is a module of its own. Nothing is started before the spec is
complete and the result folder is there.
"""

import os
import sys
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from stanchion.broker.client import BrokerClient, BrokerUnreachableError, StatePaths
from stanchion.broker.client.config_file import find_config
from stanchion.harness_adapters.base import Adapter
from stanchion.harness_adapters.without_model import Oracle
from stanchion.protocol.admin import ProfileView
from stanchion.protocol.launch import LaunchSpec, SandboxKind
from stanchion.protocol.refusal import RefusedError, refuse
from stanchion.protocol.result import AttemptResult
from stanchion.runner.launching.attempt_run import Launch, Watch, run_attempt
from stanchion.runner.launching.brokers import Say, ensure_broker
from stanchion.runner.launching.command_option import check_folder
from stanchion.runner.launching.image_option import check_image, check_no_image, read_image
from stanchion.runner.launching.image_users import read_passwd
from stanchion.runner.launching.keepers import Keeper
from stanchion.runner.launching.pieces import OwnProgram, ReadyPieces, make_ready
from stanchion.runner.launching.process_mode import (
    check_workdir,
    private_places,
    process_network,
)
from stanchion.runner.launching.resolve import (
    REHEARSAL,
    Options,
    Pinned,
    harness_version,
    resolve,
    resolve_terms,
)
from stanchion.runner.launching.staleness import stale_words
from stanchion.runner.results.job_folder import Job, JobFolder, default_folder
from stanchion.runner.tasks.task import Task, read_task


@dataclass(frozen=True, slots=True)
class Request:
    """One `stanchion run`, as asked for."""

    task: Path
    options: Options
    profile: str | None = None
    config: str | None = None
    state_dir: str | None = None
    folder: Path | None = None
    kind: str = "run"


@dataclass(frozen=True, slots=True)
class Prepared:
    """Everything decided, nothing started but the broker."""

    request: Request
    task: Task
    spec: LaunchSpec
    pieces: ReadyPieces
    paths: StatePaths
    broker_pid: int
    private: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Ground:
    """What all tasks of one command share."""

    request: Request
    profile: ProfileView
    harness: Adapter
    version: str
    paths: StatePaths
    broker_pid: int
    private: tuple[str, ...] = ()
    """Places of keys and state on this host."""


async def prepare(request: Request, say: Say) -> Prepared:
    """RefusedError, ImagesError, BrokerStartError or BrokerUnreachableError say why not."""
    task = read_runnable(request)
    return prepare_task(await find_ground(request, say), task, say)


def read_runnable(request: Request) -> Task:
    """The task, with what the model of this request needs of it."""
    options = request.options
    harness = options.adapter()
    solving = harness.name == Oracle.name
    task = read_task(request.task, image_given=options.image is not None, solving=solving)
    if solving and not task.solution.is_file():
        raise refuse(
            "solution_missing",
            field="--harness",
            value=harness.name,
            rule=f"it runs {task.solution}, which does not exist",
            remedy="write the solution, or use another harness",
        )
    script_needed = options.account == REHEARSAL and harness.asks_model
    if script_needed and not task.rehearsal_script.is_file():
        raise refuse(
            "rehearsal_missing",
            field="--model",
            value=f"{options.account}/{options.model}",
            rule=f"a rehearsal plays {task.rehearsal_script}, which does not exist",
            remedy="write the script, or use a model of another account",
        )
    return task


async def find_ground(request: Request, say: Say) -> Ground:
    """A live broker, the profile that pays and the version of the harness."""
    harness = request.options.adapter()
    paths = StatePaths.resolve(request.state_dir, os.environ)
    config = find_config(request.config, os.environ, folder=Path.cwd(), home=Path.home())
    health = await ensure_broker(paths, config, say)
    async with BrokerClient(paths.admin_socket) as broker:
        profile = await _profile(broker, request)
        if request.options.account != REHEARSAL:
            for words in await stale_words(broker, health, os.environ):
                sys.stderr.write(f"warning: {words}\n")  # also where nothing else is shown
    resolve_terms(request.options, profile, harness)  # before anything is fetched
    if request.options.account in profile.unready:
        raise RefusedError(profile.unready[request.options.account])
    version = harness_version(request.options, profile, harness)
    private = private_places(paths, config.path if config else None)
    return Ground(request, profile, harness, version, paths, health.pid, private)


def prepare_task(ground: Ground, task: Task, say: Say) -> Prepared:
    """The pieces on this host and the complete spec of one task."""
    options = ground.request.options
    image = None if options.image is None else read_image(options.image)
    network = "none"
    if options.sandbox is SandboxKind.PROCESS:
        check_workdir(task.config.workdir)
        network = process_network()
        check_no_image(options.image)
    elif image is not None:
        check_image(image)
    pieces = make_ready(
        ground.paths.cache_dir,
        base=task.config.base,
        harness=_harness_piece(ground),
        say=say,
        is_root=os.geteuid() == 0,
        kind=options.sandbox,
        image=None if image is None else image.folder,
    )
    pinned = Pinned(
        base_sha256=None if pieces.base is None else pieces.base.digest,
        harness_sha256=pieces.harness.digest,
        network=network,
        passwd=None if pieces.base is None else read_passwd(pieces.base.path),
    )
    spec = resolve(task, options, ground.profile, ground.harness, pinned)
    for field, note in task.config.notes.items():
        say(f"note      {task.name}, {field}: {note}")
    return Prepared(
        ground.request, task, spec, pieces, ground.paths, ground.broker_pid, ground.private
    )


def _harness_piece(ground: Ground) -> tuple[str, str] | OwnProgram:
    options = ground.request.options
    if options.command is None:
        return ground.harness.name, ground.version
    folder = None if options.program is None else Path(options.program)
    if folder is not None:
        check_folder(folder, ground.private)
    return OwnProgram(ground.version, folder)


async def _profile(broker: BrokerClient, request: Request) -> ProfileView:
    """The named one, else the only one that has the account."""
    account = request.options.account
    if account == REHEARSAL and request.profile is None:
        return await broker.profile(REHEARSAL)
    if request.profile is not None:
        return await broker.profile(request.profile)
    having = [profile for profile in await broker.profiles() if account in profile.accounts]
    if len(having) == 1:
        return having[0]
    names = ", ".join(profile.name for profile in having)
    raise refuse(
        "profile_unclear" if having else "account_missing",
        field="--profile" if having else "--model",
        value=None if having else f"{account}/{request.options.model}",
        rule=f"several profiles have an account {account}: {names}"
        if having
        else f"no profile has an account {account}",
        remedy="name one of them with --profile"
        if having
        else f"add [profiles.NAME.accounts.{account}] to stanchion.toml",
    )


def open_folder(prepared: Prepared) -> JobFolder:
    """The fresh result folder."""
    request, options = prepared.request, prepared.request.options
    now = datetime.now(UTC)
    folder = request.folder or default_folder(
        Path.cwd(), day=f"{now:%Y-%m-%d}", name=prepared.task.name
    )
    job = Job(
        kind=request.kind,
        started_at=now.isoformat(timespec="seconds"),
        tasks=(prepared.task.name,),
        harness=f"{prepared.spec.harness.name}@{prepared.spec.harness.version}",
        model=f"{options.account}/{options.model}",
        effort=options.effort or options.effort_raw,
        output_limit=options.output_limit,
    )
    return JobFolder.create(folder, job)


def launch_in(
    prepared: Prepared,
    folder: JobFolder,
    *,
    name: str | None = None,
    number: int = 1,
    script: Path | None = None,
) -> Launch:
    """One attempt of what was prepared, with its place in the folder."""
    options = prepared.request.options
    rehearses = options.account == REHEARSAL and options.adapter().asks_model
    return Launch(
        task=prepared.task,
        spec=prepared.spec,
        pieces=prepared.pieces,
        paths=prepared.paths,
        hidden=prepared.private,
        attempt=number,
        result_folder=folder.attempt(name or prepared.task.name, number),
        rehearsal_script=(script or prepared.task.rehearsal_script) if rehearses else None,
    )


async def run_and_record(
    launch: Launch, folder: JobFolder, watch: Watch, keeper: Keeper | None = None
) -> AttemptResult:
    """The attempt, with its line in the job's results and summary."""
    try:
        result = await run_attempt(launch, watch, keeper)
    except (RefusedError, BrokerUnreachableError):
        folder.discard()
        raise
    folder.add(result)
    return result
