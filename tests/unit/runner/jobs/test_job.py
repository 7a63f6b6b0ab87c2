"""The frozen plan: one digest for one job, and each difference named."""

import msgspec
import pytest
from tests.functional.runner.specs import REHEARSAL_SPEC

from stanchion.protocol.codec import decode, encode
from stanchion.protocol.launch import Effort
from stanchion.protocol.refusal import RefusedError
from stanchion.runner.jobs.job import (
    Asked,
    Job,
    PlannedTask,
    check_names,
    check_unchanged,
    differences,
    job_digest,
    terms_of,
)
from stanchion.runner.launching.resolve import Options

TASK = PlannedTask(
    name="hello",
    run="7f3a90c41b22",
    folder="/tasks/hello",
    spec=REHEARSAL_SPEC,
    untouched_reward="0",
)
OTHER = msgspec.structs.replace(TASK, name="fix-bug", run="0" * 12)


def a_job(*tasks: PlannedTask, attempts: int = 3) -> Job:
    planned = tasks or (TASK, OTHER)
    return Job(
        kind="run",
        id="0123456789ab",
        sha256=job_digest(planned, attempts),
        started_at="2026-01-01T00:00:00+00:00",
        attempts=attempts,
        tasks=planned,
        asked=Asked(options=Options(harness="opencode", account="rehearsal", model="scripted-1")),
    )


def changed(**changes: object) -> PlannedTask:
    return msgspec.structs.replace(TASK, spec=msgspec.structs.replace(REHEARSAL_SPEC, **changes))


def test_a_job_reads_back_as_it_was_written() -> None:
    job = a_job()

    assert decode(encode(job), Job) == job
    assert (job.planned, job.task("hello")) == ({"hello": 3, "fix-bug": 3}, TASK)


def test_the_digest_is_of_the_terms_and_not_of_the_day_or_the_place() -> None:
    elsewhere = msgspec.structs.replace(TASK, run="f" * 12, folder="/other/hello")

    assert job_digest((TASK,), 3) == job_digest((elsewhere,), 3)
    assert job_digest((TASK,), 3) != job_digest((TASK,), 2)
    assert job_digest((TASK,), 3) != job_digest((changed(effort=Effort(word="low")),), 3)


def test_a_job_that_changed_is_refused_with_the_place_named() -> None:
    job = a_job(TASK)
    check_unchanged(job, terms_of((TASK,), 3))

    with pytest.raises(RefusedError, match=r"hello\.spec\.effort\.word: max -> low"):
        check_unchanged(job, terms_of((changed(effort=Effort(word="low")),), 3))


def test_many_differences_are_counted() -> None:
    other = changed(
        effort=Effort(word="low", raw=True), profile="p", protocol=9, dialect="anthropic_messages"
    )
    with pytest.raises(RefusedError, match="and 1 more"):
        check_unchanged(a_job(TASK), terms_of((other,), 5))


def test_tasks_that_came_or_went_are_named() -> None:
    found = differences(terms_of((TASK,), 3), terms_of((OTHER,), 2))

    assert found == [
        "-k: 3 -> 2",
        "task fix-bug was not part of it",
        "task hello is missing",
    ]


def test_a_long_value_is_shortened_and_a_missing_one_is_nothing() -> None:
    before, after = terms_of((TASK,), 3), terms_of((changed(effort=Effort()),), 3)

    assert differences(before, after) == ["hello.spec.effort.word: max -> nothing"]
    task = msgspec.structs.replace(REHEARSAL_SPEC.task, sha256="f" * 64)
    (line,) = differences(before, terms_of((changed(task=task),), 3))
    assert line == "hello.spec.task.sha256: aaaaaaaaaaaa… -> ffffffffffff…"


def test_two_tasks_of_one_name_are_refused() -> None:
    check_names(["a", "b"])
    with pytest.raises(RefusedError, match="-k for more attempts"):
        check_names(["a", "b", "a"])
