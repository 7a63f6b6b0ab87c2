"""`task.toml`: each field obeyed, taken down or refused, by the table in `task_fields`. Pure.

A field in no row is refused: to ignore it could change what the task means.
"""

import math
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field

from stanchion.protocol.launch import Artifact
from stanchion.protocol.refusal import refuse
from stanchion.runner.tasks.task_fields import BY_NAME, TABLES, Fate
from stanchion.runner.tasks.task_values import Table, Values
from stanchion.runner.tasks.toml_lines import TomlLines
from stanchion.runner.tasks.users import User

NO_NETWORK = ("none", "no-network")
BASES = ("debian",)
DEFAULT_AGENT_S = 3600
DEFAULT_VERIFIER_S = 600
NO_NETWORK_NAMED = (
    "the task names no network_mode: Harbor would open a public network, here there is none"
)


@dataclass(frozen=True, slots=True)
class TaskConfig:
    """What a task asks for. None = it does not say."""

    base: str
    base_named: bool
    answers: tuple[str, ...] | None
    untouched_reward: str
    agent_s: int
    verifier_s: int
    agent_user: User | None
    verifier_user: User | None
    cpu_milli: int | None
    memory_mb: int | None
    storage_mb: int | None
    workdir: str
    env: Mapping[str, str]
    verifier_env: Mapping[str, str]
    solution_env: Mapping[str, str]
    """Empty unless the solution is to be run."""
    artifacts: tuple[Artifact, ...]
    notes: dict[str, str] = field(default_factory=dict)
    """What is done otherwise than Harbor would, or taken from this host, by field."""


def read_config(
    text: str,
    *,
    where: str,
    host: Mapping[str, str],
    image_given: bool = False,
    solving: bool = False,
) -> TaskConfig:
    """The checked configuration; RefusedError names file, line and field."""
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        rule = f"is not TOML ({error})"
        raise refuse(
            "task_refused", field=where, value=None, rule=rule, remedy="correct it there"
        ) from error
    values = Values(where, TomlLines(text), host)
    agent, verifier, environment, solution = (
        values.table(data, name) for name in ("agent", "verifier", "environment", "solution")
    )
    ours = values.table(values.table(data, "metadata"), "metadata.stanchion")
    _check_fields(values, data, ours, stood_in=image_given or "base" in ours)
    _check_words(values, data, ours)
    _check_network(values, agent, verifier, environment)
    return TaskConfig(
        base=str(ours.get("base", BASES[0])),
        base_named="base" in ours,
        answers=values.answers(ours.get("answer"), "metadata.stanchion.answer"),
        untouched_reward=values.reward(
            ours.get("untouched_reward", "0"), "metadata.stanchion.untouched_reward"
        ),
        agent_s=_agent_s(values, agent),
        verifier_s=values.seconds(
            verifier.get("timeout_sec", DEFAULT_VERIFIER_S), "verifier.timeout_sec"
        ),
        agent_user=values.user(agent.get("user"), "agent.user"),
        verifier_user=values.user(verifier.get("user"), "verifier.user"),
        cpu_milli=_cpu_milli(values, environment),
        memory_mb=values.size_mb(environment, "memory"),
        storage_mb=_storage_mb(values, environment),
        workdir=values.path(environment.get("workdir", "/work"), "environment.workdir"),
        env=values.variables(environment.get("env", {}), "environment.env"),
        verifier_env=values.variables(verifier.get("env", {}), "verifier.env"),
        solution_env=values.variables(solution.get("env", {}), "solution.env") if solving else {},
        artifacts=values.artifacts(data.get("artifacts", [])),
        notes=values.notes,
    )


def _check_fields(values: Values, data: Table, ours: Table, *, stood_in: bool) -> None:
    """Every field has a row, and none that is refused asks for anything."""
    named: list[tuple[str, object]] = []
    for name, value in data.items():
        if name in TABLES:
            named += [(f"{name}.{inner}", content) for inner, content in value.items()]  # type: ignore[attr-defined]
        else:
            named.append((name, value))
    named += [(f"metadata.stanchion.{inner}", content) for inner, content in ours.items()]
    for name, value in named:
        row = BY_NAME.get(name)
        if row is None:
            raise values.refuse(name, _shown(value), _unknown(name))
        if row.fate is not Fate.REFUSED or not value:
            continue
        if name == "environment.docker_image" and stood_in:
            note = f"{value} is not pulled; another file system stands in for it"
            values.notes["image.verified"] = note
        else:
            raise values.refuse(name, _shown(value), row.what, row.remedy)


def _unknown(name: str) -> str:
    table = name.rpartition(".")[0]
    known = [row.rpartition(".")[2] for row in BY_NAME if row.rpartition(".")[0] == table]
    return f"is not a field that this version knows; there are {', '.join(known)}"


def _shown(value: object) -> object:
    """A table or list would not fit into a sentence."""
    return value if isinstance(value, (str, int, float)) else None


def _check_words(values: Values, data: Table, ours: Table) -> None:
    """Texts of which only some are known."""
    version = data.get("schema_version", data.get("version", "1.4"))
    if str(version).partition(".")[0] != "1":
        name = "schema_version" if "schema_version" in data else "version"
        raise values.refuse(name, version, "must be 1.x")
    base = ours.get("base", BASES[0])
    if base not in BASES:
        remedy = f'write base = "{BASES[0]}", or pass --image DIR'
        raise values.refuse(
            "metadata.stanchion.base", base, f"must be one of {', '.join(BASES)}", remedy
        )
    system = values.table(data, "environment").get("os", "linux")
    if str(system).lower() != "linux":
        raise values.refuse("environment.os", system, "must be linux")
    mode = values.table(data, "verifier").get("environment_mode", "shared")
    if mode != "shared":
        raise values.refuse("verifier.environment_mode", mode, "must be shared")


def _check_network(values: Values, agent: Table, verifier: Table, environment: Table) -> None:
    remedy = "sandboxes have no network; only a task that needs none can run"
    named = "allow_internet" in environment
    for name, table in (("agent", agent), ("verifier", verifier), ("environment", environment)):
        mode = table.get("network_mode")
        named = named or mode is not None
        if mode is not None and mode not in NO_NETWORK:
            rule = f"must be {' or '.join(NO_NETWORK)}"
            raise values.refuse(f"{name}.network_mode", mode, rule, remedy)
    if environment.get("allow_internet", False) is not False:
        raise values.refuse("environment.allow_internet", True, "must be false", remedy)
    if not named:
        values.notes["sandbox.network"] = NO_NETWORK_NAMED


def _agent_s(values: Values, agent: Table) -> int:
    if "timeout_sec" in agent:
        return values.seconds(agent["timeout_sec"], "agent.timeout_sec")
    values.notes["agent.timeout_sec"] = (
        f"the task names none: Harbor would wait for ever, here it is {DEFAULT_AGENT_S} s"
    )
    return DEFAULT_AGENT_S


def _cpu_milli(values: Values, environment: Table) -> int | None:
    cpus = environment.get("cpus")
    if cpus is None:
        return None
    rule = "must be a number of CPUs above 0"
    return math.ceil(1000 * values.number(cpus, "environment.cpus", rule))


def _storage_mb(values: Values, environment: Table) -> int | None:
    storage_mb = values.size_mb(environment, "storage")
    if storage_mb is not None:
        values.notes["sandbox.storage_mb"] = (
            f"the task asks for {storage_mb} MB; what a sandbox writes is not limited"
        )
    return storage_mb
