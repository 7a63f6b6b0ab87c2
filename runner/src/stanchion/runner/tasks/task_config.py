"""`task.toml`: the fields that are obeyed, checked one by one. Pure.

A field is obeyed, harmless (descriptions and build settings), or refused with the reason. One that
is in no list is refused too: to ignore it could change what the task means.
"""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass

from stanchion.protocol.refusal import RefusedError, refuse

Table = Mapping[str, object]

NO_NETWORK = ("none", "no-network")
HARMLESS = frozenset({
    "schema_version", "version", "source", "task",
    "environment.build_timeout_sec", "environment.storage_mb", "environment.storage",
    "environment.os", "solution",
})  # fmt: skip
OBEYED = frozenset({
    "agent.timeout_sec", "agent.network_mode", "verifier.timeout_sec", "verifier.env",
    "verifier.environment_mode", "environment.cpus", "environment.memory_mb", "environment.memory",
    "environment.workdir", "environment.network_mode", "environment.allow_internet",
    "environment.env",
})  # fmt: skip
REFUSED = {
    "steps": "tasks of several steps are not run",
    "artifacts": "artifacts of Harbor's form are not collected; declare answers in "
    "[metadata.stanchion]",
    "agent.user": "the agent runs as root of the sandbox",
    "agent.allowed_hosts": "sandboxes have no network",
    "verifier.user": "the tests run as root of the sandbox",
    "verifier.environment": "the tests run in the agent's sandbox",
    "verifier.collect": "nothing is collected beside the declared answers",
    "environment.docker_image": "container images are not pulled; name a base in "
    "[metadata.stanchion]",
    "environment.gpus": "sandboxes have no GPU",
    "environment.gpu_types": "sandboxes have no GPU",
    "environment.allowed_hosts": "sandboxes have no network",
    "environment.skills_dir": "skills are not mounted",
    "environment.healthcheck": "there is no service to wait for",
    "environment.mcp_servers": "there is no way out of the sandbox for them",
}
_SIZE = re.compile(r"(?P<number>\d+(\.\d+)?)\s*(?P<unit>[KMGT])i?B?\Z", re.IGNORECASE)
_UNIT_MB = {"K": 1 / 1024, "M": 1, "G": 1024, "T": 1024 * 1024}


def parse_size_mb(text: str) -> int | None:
    """Megabytes of a size such as 2G or 512M, rounded up; None where it is no size."""
    match = _SIZE.match(text.strip())
    return match and math.ceil(float(match["number"]) * _UNIT_MB[match["unit"].upper()])


@dataclass(frozen=True, slots=True)
class TaskConfig:
    """What a task asks for. None = it does not say."""

    base: str
    answers: tuple[str, ...] | None
    untouched_reward: str
    agent_s: int
    verifier_s: int
    cpu_milli: int | None
    memory_mb: int | None
    workdir: str
    env: Mapping[str, str]
    verifier_env: Mapping[str, str]


def read_config(data: Table, *, where: str) -> TaskConfig:
    """The checked configuration; RefusedError names file and field."""
    check = _Check(where)
    check.fields(data)
    agent, verifier = check.table(data, "agent"), check.table(data, "verifier")
    environment = check.table(data, "environment")
    ours = check.table(check.table(data, "metadata"), "stanchion", prefix="metadata.")
    check.known(ours, "metadata.stanchion", ("base", "answer", "untouched_reward"))
    check.network(agent, environment)
    if verifier.get("environment_mode", "shared") != "shared":
        raise check.refuse(
            "verifier.environment_mode", verifier["environment_mode"], "must be shared"
        )
    return TaskConfig(
        base=check.text(ours.get("base", "debian"), "metadata.stanchion.base"),
        answers=check.answers(ours.get("answer")),
        untouched_reward=check.reward(ours.get("untouched_reward", "0")),
        agent_s=check.seconds(agent.get("timeout_sec", 600), "agent.timeout_sec"),
        verifier_s=check.seconds(verifier.get("timeout_sec", 600), "verifier.timeout_sec"),
        cpu_milli=check.cpus(environment.get("cpus")),
        memory_mb=check.memory(environment),
        workdir=check.path(environment.get("workdir", "/work"), "environment.workdir"),
        env=check.variables(environment.get("env", {}), "environment.env"),
        verifier_env=check.variables(verifier.get("env", {}), "verifier.env"),
    )


@dataclass(frozen=True, slots=True)
class _Check:
    where: str

    def refuse(self, field: str, value: object, rule: str, remedy: str = "") -> RefusedError:
        return refuse(
            "task_refused",
            field=f"{self.where}, {field}",
            value=value,
            rule=rule,
            remedy=remedy or f"change or remove {field}",
        )

    def fields(self, data: Table) -> None:
        for name, value in data.items():
            if name in REFUSED and value:
                raise self.refuse(name, None, REFUSED[name])
            if name in {"agent", "verifier", "environment"}:
                for inner, content in self.table(data, name).items():
                    self._field(f"{name}.{inner}", content)
            elif name != "metadata" and name not in REFUSED:
                self._field(name, value)

    def _field(self, name: str, value: object) -> None:
        if name in REFUSED:
            if value:  # an empty list or a zero asks for nothing
                raise self.refuse(name, value, REFUSED[name])
        elif name not in OBEYED and name not in HARMLESS:
            raise self.refuse(name, value, "is not a field that this version knows")

    def table(self, data: Table, name: str, prefix: str = "") -> Table:
        value = data.get(name, {})
        if not isinstance(value, dict):
            raise self.refuse(f"{prefix}{name}", value, "must be a table")
        return value

    def known(self, data: Table, name: str, fields: tuple[str, ...]) -> None:
        for field, value in data.items():
            if field not in fields:
                rule = f"is not a field of [{name}]; it has {', '.join(fields)}"
                raise self.refuse(f"{name}.{field}", value, rule)

    def text(self, value: object, field: str) -> str:
        if not isinstance(value, str) or not value:
            raise self.refuse(field, value, "must be text")
        return value

    def path(self, value: object, field: str) -> str:
        if not isinstance(value, str) or not value.startswith("/") or ".." in value.split("/"):
            raise self.refuse(field, value, "must be an absolute path without ..")
        return value

    def seconds(self, value: object, field: str) -> int:
        number = self._number(value, field, "must be a number of seconds above 0")
        if number > 7 * 24 * 3600:
            raise self.refuse(field, value, "must be at most a week of seconds")
        return math.ceil(number)

    def cpus(self, value: object) -> int | None:
        if value is None:
            return None
        return math.ceil(
            1000 * self._number(value, "environment.cpus", "must be a number of CPUs above 0")
        )

    def memory(self, environment: Table) -> int | None:
        if (value := environment.get("memory_mb")) is not None:
            rule = "must be a number of megabytes above 0"
            return math.ceil(self._number(value, "environment.memory_mb", rule))
        if (legacy := environment.get("memory")) is None:
            return None
        size_mb = parse_size_mb(legacy) if isinstance(legacy, str) else None
        if not size_mb:
            raise self.refuse("environment.memory", legacy, "must be a size, such as 2G")
        return size_mb

    def network(self, agent: Table, environment: Table) -> None:
        remedy = "sandboxes have no network; only a task that needs none can run"
        for name, table in (("agent", agent), ("environment", environment)):
            mode = table.get("network_mode")
            if mode is not None and mode not in NO_NETWORK:
                raise self.refuse(
                    f"{name}.network_mode", mode, f"must be {' or '.join(NO_NETWORK)}", remedy
                )
        if environment.get("allow_internet", False) is not False:
            raise self.refuse("environment.allow_internet", True, "must be false", remedy)

    def answers(self, value: object) -> tuple[str, ...] | None:
        if value is None:
            return None
        if not isinstance(value, list) or not value:
            raise self.refuse("metadata.stanchion.answer", value, "must be a list of paths")
        return tuple(self.path(path, "metadata.stanchion.answer") for path in value)

    def reward(self, value: object) -> str:
        field, rule = "metadata.stanchion.untouched_reward", "must be a decimal number"
        if isinstance(value, bool) or not isinstance(value, (int, float, str)):
            raise self.refuse(field, value, rule)
        try:
            finite = math.isfinite(float(value))
        except ValueError:
            finite = False
        if not finite:
            raise self.refuse(field, value, rule)
        return str(value)

    def variables(self, value: object, field: str) -> Mapping[str, str]:
        if not isinstance(value, dict):
            raise self.refuse(field, value, "must be a table of texts")
        for name, text in value.items():
            if not isinstance(text, str):
                raise self.refuse(f"{field}.{name}", text, "must be text")
            if "${" in text:
                raise self.refuse(
                    f"{field}.{name}",
                    text,
                    "may not ask for the host's environment, which never enters a sandbox",
                    "write the value itself",
                )
        return dict(value)

    def _number(self, value: object, field: str, rule: str) -> float:
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise self.refuse(field, value, rule)
        if not math.isfinite(value) or value <= 0:
            raise self.refuse(field, value, rule)
        return float(value)
