"""From a task, options, a profile and an adapter to the LaunchSpec of an attempt. Pure.

Every value is decided here, before anything starts, with its source; nothing is left for the
sandbox to guess. Refuses what the dialect or the harness would misread.
"""

from dataclasses import dataclass

from stanchion.harness_adapters.base import Adapter, Settings, all_corrections
from stanchion.harness_adapters.limits import resolve_context, resolve_output
from stanchion.harness_adapters.registry import adapter
from stanchion.harness_adapters.thinking import check_budget
from stanchion.protocol.admin import ModelView, ProfileView
from stanchion.protocol.codec import PROTOCOL_VERSION
from stanchion.protocol.dialects import EFFORT_WORDS, Dialect, knows_effort
from stanchion.protocol.launch import (
    Budget,
    Command,
    Deadlines,
    Effort,
    HarnessRef,
    ImageRef,
    Isolation,
    LaunchSpec,
    Limit,
    Limits,
    ModelRef,
    SandboxKind,
    SandboxSpec,
    TaskRef,
    Waits,
    WatchdogLimits,
    Workspace,
)
from stanchion.protocol.refusal import refuse
from stanchion.runner.sandbox.oci import harness_place
from stanchion.runner.tasks.task import Task
from stanchion.runner.tasks.users import User, number_of

REHEARSAL = "rehearsal"
"""The built-in profile and its account, which speaks whichever dialect the harness does."""
DEFAULT_MEMORY_MB = 2048
MAX_EFFORT_WORD = 64
HOME = "/root"
ANY_PORT_URL = "http://127.0.0.1:1"
"""Stands for the relay's address, which is chosen inside the sandbox."""


@dataclass(frozen=True, slots=True)
class Options:
    """What the launch says. None = it does not."""

    harness: str
    account: str
    model: str
    harness_version: str | None = None
    effort: str | None = None
    effort_raw: str | None = None
    output_limit: int | None = None
    context: int | None = None
    answers: tuple[str, ...] | None = None
    memory_mb: int | None = None
    sandbox: SandboxKind = SandboxKind.RUNSC
    dialect: Dialect | None = None
    thinking_budget: int | None = None
    image: str | None = None
    """An unpacked root file system in place of the task's base, as it was named."""
    command: Command | None = None
    """The program of the harness `command`."""
    program: str | None = None
    """Absolute path of the folder with that program's files."""

    def adapter(self) -> Adapter:
        """That of the harness."""
        return adapter(self.harness, self.command)


@dataclass(frozen=True, slots=True)
class Pinned:
    """Digests of the pieces on this host, and what its sandbox can do."""

    base_sha256: str | None
    """None for a sandbox that has no image of its own."""
    harness_sha256: str
    network: str = "none"
    passwd: str | None = None
    """The image's users, in the form of /etc/passwd; None = it has none."""


def harness_version(options: Options, profile: ProfileView, adapter: Adapter) -> str:
    """The version of the launch, else the profile's, else the newest that was measured."""
    pinned = profile.harnesses.get(adapter.name)
    version = options.harness_version or pinned or adapter.versions[-1]
    if version not in adapter.versions:
        raise refuse(
            "harness_version_unknown",
            field="--harness",
            value=f"{adapter.name}@{version}",
            rule=f"versions whose behaviour was measured: {', '.join(adapter.versions)}",
            remedy=f"use --harness {adapter.name}@{adapter.versions[-1]}",
        )
    if pinned is not None and version != pinned:
        raise refuse(
            "harness_version_differs",
            field="--harness",
            value=f"{adapter.name}@{version}",
            rule=f"profile {profile.name} allows {adapter.name} {pinned} only",
            remedy=f"use --harness {adapter.name}@{pinned}, or change the profile",
        )
    return version


def resolve(
    task: Task, options: Options, profile: ProfileView, adapter: Adapter, pinned: Pinned
) -> LaunchSpec:
    """The complete spec; RefusedError says what keeps it from being one."""
    dialect, effort, output, context = resolve_terms(options, profile, adapter)
    with_runsc = options.sandbox is SandboxKind.RUNSC
    version = harness_version(options, profile, adapter)
    config = task.config
    env = {**config.env, **config.solution_env}
    uid = _uid(config.agent_user, pinned, options)
    settings = Settings(
        model=options.model,
        base_url=ANY_PORT_URL,
        dialect=dialect,
        output_limit=output.value,
        context=None if context is None else context.value,
        effort=effort.word,
        instruction=task.instruction,
        home=HOME if uid == 0 else f"/home/agent-{uid}",
        workdir=config.workdir,
        package_dir=harness_place(adapter.name, version),
        env=env,
        thinking_budget=effort.thinking_budget,
    )
    check_budget(adapter.name, settings)
    adapter.check(settings)
    return LaunchSpec(
        protocol=PROTOCOL_VERSION,
        profile=profile.name,
        task=TaskRef(
            name=task.name, sha256=task.sha256, instruction_sha256=task.instruction_sha256
        ),
        image=ImageRef(
            requested=options.image,
            base=config.base if pinned.base_sha256 and options.image is None else None,
            verified=pinned.base_sha256,
        ),
        harness=HarnessRef(name=adapter.name, version=version, sha256=pinned.harness_sha256),
        model=ModelRef(account=options.account, id=options.model),
        dialect=dialect,
        limits=Limits(output_tokens=output, context=context),
        effort=effort,
        deadlines=Deadlines(agent_s=config.agent_s, verifier_s=config.verifier_s),
        corrections=all_corrections(adapter, dialect, output.value, effort.word),
        side_requests=adapter.side_requests(dialect),
        waits=Waits(header_wait_s=adapter.header_wait_s, max_wait_s=profile.max_wait_s),
        watchdog=WatchdogLimits(failing_s=profile.failing_s, silent_s=profile.silent_s),
        budget=_budget(profile, adapter),
        sandbox=SandboxSpec(
            kind=options.sandbox,
            isolation=profile.isolation if with_runsc else Isolation.NONE,
            network=pinned.network,
            allow_weak=profile.allow_weak,
            memory_mb=resolve_memory(options.memory_mb, config.memory_mb, adapter.min_memory_mb),
            cpu_milli=config.cpu_milli,
        ),
        workspace=Workspace(
            workdir=config.workdir,
            uid=uid,
            env=env,
            answers=config.answers if options.answers is None else options.answers,
            verifier_env=dict(config.verifier_env),
            verifier_uid=_uid(config.verifier_user, pinned, options),
            artifacts=config.artifacts,
        ),
        command=options.command,
    )


def _budget(profile: ProfileView, adapter: Adapter) -> Budget:
    """A harness that asks no model may make no request at all."""
    requests = profile.budget_requests if adapter.asks_model else 0
    return Budget(requests=requests, output_tokens=profile.budget_output_tokens)


def _uid(user: User | None, pinned: Pinned, options: Options) -> int:
    uid = number_of(user, pinned.passwd)
    if user is not None and uid != 0 and options.sandbox is not SandboxKind.RUNSC:
        raise refuse(
            "task_refused",
            field=user.where,
            value=user.name,
            rule=f"--sandbox {options.sandbox} has one user, who is root inside",
            remedy="use --sandbox runsc, or remove the user from the task",
        )
    return uid


def resolve_terms(
    options: Options, profile: ProfileView, adapter: Adapter
) -> tuple[Dialect, Effort, Limit, Limit | None]:
    """API, effort, output limit and context window: all that no task and no piece has a say in."""
    dialect = _dialect(options, profile, adapter)
    effort = resolve_effort(options, dialect)
    operator = profile.models.get(f"{options.account}/{options.model}", ModelView())
    output = resolve_output(
        launch=options.output_limit, operator=operator.output_limit, model=options.model
    )
    context = resolve_context(
        launch=options.context, operator=operator.context, model=options.model
    )
    check_within(output, context)
    return dialect, effort, output, context


def check_within(output: Limit, context: Limit | None) -> None:
    """A provider refuses a response that may be longer than the model's whole window."""
    if context is not None and output.value > context.value:
        raise refuse(
            "limit_above_context",
            field="--output-limit",
            value=f"{output.value} ({output.source})",
            rule=f"one response is no longer than the context window, {context.value} tokens "
            f"({context.source})",
            remedy=f"Pass --output-limit N up to {context.value}, or the true window as --context",
        )


def _dialect(options: Options, profile: ProfileView, adapter: Adapter) -> Dialect:
    dialect = profile.accounts.get(options.account)
    if dialect is None:
        raise refuse(
            "account_missing",
            field="--model",
            value=f"{options.account}/{options.model}",
            rule=f"profile {profile.name} has no account {options.account}; "
            f"it has {', '.join(sorted(profile.accounts)) or 'none'}",
            remedy=f"add [profiles.{profile.name}.accounts.{options.account}] to stanchion.toml",
        )
    if profile.name == REHEARSAL:
        dialect = options.dialect or adapter.dialects[0]
    if options.dialect not in {None, dialect}:
        raise refuse(
            "dialect_differs",
            field="--dialect",
            value=options.dialect,
            rule=f"account {options.account} speaks {dialect}",
            remedy=f"use --dialect {dialect} or leave it out, or use another account",
        )
    if dialect not in adapter.dialects:
        known = " or ".join(adapter.dialects)
        rehearsed = profile.name == REHEARSAL
        raise refuse(
            "dialect_unknown",
            field="--dialect" if rehearsed else "--model",
            value=dialect if rehearsed else f"{options.account}/{options.model}",
            rule=f"{adapter.name} does not speak {dialect}"
            + ("" if rehearsed else ", the API of this account"),
            remedy=f"use --dialect {known}" if rehearsed else f"use an account of {known}",
        )
    return dialect


def resolve_effort(options: Options, dialect: Dialect) -> Effort:
    """The effort, its word checked against the dialect's vocabulary unless it is raw."""
    if options.effort is not None and options.effort_raw is not None:
        raise refuse(
            "effort_twice",
            field="--effort-raw",
            value=options.effort_raw,
            rule="--effort and --effort-raw exclude each other",
            remedy="keep one of them",
        )
    if options.effort_raw is not None:
        check_raw_word(options.effort_raw)
        return Effort(word=options.effort_raw, raw=True, thinking_budget=options.thinking_budget)
    if options.effort is not None and not knows_effort(dialect, options.effort):
        raise refuse(
            "effort_unknown",
            field="--effort",
            value=options.effort,
            rule=f"{dialect} knows {', '.join(EFFORT_WORDS[dialect])}",
            remedy="use one of these words, or pass yours unchecked with --effort-raw",
        )
    return Effort(word=options.effort, thinking_budget=options.thinking_budget)


def check_raw_word(word: str) -> None:
    """Raw is unchecked against the vocabulary alone: it must still be one word that can be seen."""
    if not word or len(word) > MAX_EFFORT_WORD or not word.isprintable() or word != word.strip():
        raise refuse(
            "effort_unwritable",
            field="--effort-raw",
            value=word,
            rule=f"a raw effort is 1 to {MAX_EFFORT_WORD} printable characters, without space at "
            "its ends, for it must be seen on the wire exactly as it was given",
            remedy="give one such word",
        )


def resolve_memory(launch_mb: int | None, task_mb: int | None, harness_mb: int) -> int:
    """The launch decides; else the task's wish, but never less than the harness needs."""
    if launch_mb is None:
        return max(task_mb or 0, harness_mb, DEFAULT_MEMORY_MB)
    if launch_mb < harness_mb:
        raise refuse(
            "memory_too_small",
            field="--memory",
            value=f"{launch_mb} MB",
            rule=f"the harness alone needs {harness_mb} MB",
            remedy=f"use --memory {harness_mb} or more",
        )
    return launch_mb
