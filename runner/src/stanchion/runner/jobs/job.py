"""`job.json`: what is to be run, frozen before anything starts. Pure.

The digest is over the terms alone (tasks, launch specs, number of attempts), so that the same
command gives the same digest on any day and in any folder. Where the tasks were, which options were
given and which run ids were drawn stand beside it, for those who resume.
"""

import msgspec

from stanchion.protocol.codec import digest
from stanchion.protocol.launch import LaunchSpec
from stanchion.protocol.refusal import RefusedError, refuse
from stanchion.runner.launching.resolve import Options

JOB_VERSION = 2
MAX_SHOWN = 5
"""Differences named in one refusal."""


class PlannedTask(msgspec.Struct, frozen=True, kw_only=True):
    """One task of a job."""

    name: str
    run: str
    """Id of all its attempts; drawn once."""
    folder: str
    spec: LaunchSpec
    untouched_reward: str
    """Decimal text."""


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """What the command was given, as far as a resumed one needs it again."""

    options: Options
    profile: str | None = None
    config: str | None = None
    concurrency: int | None = None
    """Attempts at a time; null = as many as this host has CPUs."""
    retries: int = 0


class Job(msgspec.Struct, frozen=True, kw_only=True):
    """The frozen plan."""

    version: int = JOB_VERSION
    kind: str
    """`run` | `smoke` | `demo`; only a demo's folder is ever replaced."""
    id: str
    """12 lower-case hex digits."""
    sha256: str
    """Digest of the terms."""
    started_at: str
    """UTC, ISO 8601."""
    attempts: int
    """Of each task, retries not counted."""
    tasks: tuple[PlannedTask, ...]
    asked: Asked

    @property
    def planned(self) -> dict[str, int]:
        """Attempts by task."""
        return {task.name: self.attempts for task in self.tasks}

    def task(self, name: str) -> PlannedTask:
        """The one of this name."""
        return next(task for task in self.tasks if task.name == name)


class _TaskTerms(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    spec: LaunchSpec
    untouched_reward: str


class Terms(msgspec.Struct, frozen=True, kw_only=True):
    """What the digest is over."""

    attempts: int
    tasks: tuple[_TaskTerms, ...]


def terms_of(tasks: tuple[PlannedTask, ...], attempts: int) -> Terms:
    """Everything that decides what a job is."""
    return Terms(
        attempts=attempts,
        tasks=tuple(
            _TaskTerms(name=task.name, spec=task.spec, untouched_reward=task.untouched_reward)
            for task in tasks
        ),
    )


def job_digest(tasks: tuple[PlannedTask, ...], attempts: int) -> str:
    """SHA-256 of the canonical terms."""
    return digest(terms_of(tasks, attempts))


def check_names(names: list[str]) -> None:
    """RefusedError where two tasks could not be told apart."""
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise refuse(
            "task_twice",
            field="TASK",
            value=twice[0],
            rule="tasks of one job have different folder names",
            remedy="name each task once; use -k for more attempts of one",
        )


def check_unchanged(frozen: Job, now: Terms) -> None:
    """RefusedError names what differs from the job that is to be resumed."""
    found = differences(terms_of(frozen.tasks, frozen.attempts), now)
    if not found:
        return
    more = f" and {len(found) - MAX_SHOWN} more" if len(found) > MAX_SHOWN else ""
    raise _changed(f"{'; '.join(found[:MAX_SHOWN])}{more}")


def differences(before: Terms, after: Terms) -> list[str]:
    """Each place where two jobs differ, as `hello.spec.effort.word: max -> high`."""
    found: list[str] = []
    if before.attempts != after.attempts:
        found.append(f"-k: {before.attempts} -> {after.attempts}")
    old = {task.name: task for task in before.tasks}
    new = {task.name: task for task in after.tasks}
    found += [f"task {name} is missing" for name in old if name not in new]
    found += [f"task {name} was not part of it" for name in new if name not in old]
    for name in old.keys() & new.keys():
        found += _walk(name, msgspec.to_builtins(old[name]), msgspec.to_builtins(new[name]))
    return sorted(found)


def _walk(path: str, before: object, after: object) -> list[str]:
    if isinstance(before, dict) and isinstance(after, dict):
        names = sorted({*before, *after})
        return [
            line
            for name in names
            for line in _walk(f"{path}.{name}", before.get(name), after.get(name))
        ]
    return [] if before == after else [f"{path}: {_short(before)} -> {_short(after)}"]


def _short(value: object) -> str:
    text = "nothing" if value is None else str(value)
    return text if len(text) <= 40 else f"{text[:12]}…"


def _changed(what: str) -> RefusedError:
    return refuse(
        "job_changed",
        field="--resume",
        value=None,
        rule=f"a job is resumed as it was frozen, and this differs: {what}",
        remedy="undo the change, or start another job with -o and another folder",
    )
