"""Jobs on record: the broker's own list counts, whatever the caller names."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from fakes.receipts import ending, frozen_launch, run_open
from stanchion.broker.receipts.job_chain import VerifiedJob, verify_job
from stanchion.broker.receipts.ledger import Ledger
from stanchion.broker.receipts.store import RunRow
from stanchion.protocol.codec import PROTOCOL_VERSION, encode
from stanchion.protocol.job import CloseJob, JobAttempt, OpenJob
from stanchion.protocol.receipt import RunOpen
from stanchion.protocol.refusal import RefusedError

JOB, RUN = "0123456789ab", "7f3a90c41b22"
ORDER = OpenJob(
    protocol=PROTOCOL_VERSION, job=JOB, job_sha256="a" * 64, planned=(f"{RUN}.1", f"{RUN}.2")
)


@pytest.fixture
async def ledger(tmp_path: Path) -> AsyncIterator[Ledger]:
    opened = await Ledger.open(tmp_path)
    yield opened
    await opened.aclose()


async def an_attempt(ledger: Ledger, number: int, *, closed: bool = True) -> str:
    """Opened and perhaps closed; the head of its receipts."""
    name = f"{RUN}.{number}"
    book = await ledger.begin(name)
    await book.append(RunOpen, **run_open())
    row = RunRow(
        attempt_id=name,
        directory="/d",
        launch=encode(frozen_launch()),
        launch_sha256="0" * 64,
        untouched_reward="0",
        opened_at_ms=number,
    )
    await ledger.store.save_run(row)
    if closed:
        await book.close(**ending())
    return book.head


def the_job(data: bytes) -> VerifiedJob:
    found = verify_job(data)
    assert isinstance(found, VerifiedJob), found
    return found


async def test_a_job_is_opened_once_and_answers_the_same_again(ledger: Ledger) -> None:
    first = await ledger.jobs.open(ORDER)

    assert await ledger.jobs.open(ORDER) == first
    found = the_job(first)
    assert (found.opening.planned, found.opening.job_sha256) == (ORDER.planned, "a" * 64)
    assert found.closing is None
    with pytest.raises(RefusedError, match="other terms"):
        await ledger.jobs.open(msgspec.structs.replace(ORDER, job_sha256="b" * 64))


async def test_the_close_lists_what_the_broker_has_and_what_the_caller_names(
    ledger: Ledger,
) -> None:
    await ledger.jobs.open(ORDER)
    head = await an_attempt(ledger, 1)
    open_head = await an_attempt(ledger, 7, closed=False)
    closing = the_job(
        await ledger.jobs.close(JOB, CloseJob(attempts={f"{RUN}.1": head, f"{RUN}.3": None}))
    ).closing

    assert closing is not None
    first, third, seventh = closing.attempts
    assert (first.id, first.head, first.closed) == (f"{RUN}.1", head, True)
    assert (first.reason, first.score) == (ending()["reason"], ending()["score"])
    nothing: dict[str, Any] = {"head": None, "closed": False, "reason": None, "score": None}
    assert third == JobAttempt(id=f"{RUN}.3", **nothing)
    assert (seventh.id, seventh.head, seventh.closed) == (f"{RUN}.7", open_head, False)
    assert closing.not_started == (f"{RUN}.2",)


async def test_it_may_be_closed_again_when_more_has_run(ledger: Ledger) -> None:
    await ledger.jobs.open(ORDER)
    await ledger.jobs.close(JOB, CloseJob(attempts={}))
    await an_attempt(ledger, 2)
    again = the_job(await ledger.jobs.close(JOB, CloseJob(attempts={})))

    assert again.records == 3
    assert again.closing is not None
    assert [one.id for one in again.closing.attempts] == [f"{RUN}.2"]


async def test_a_report_is_signed_with_the_list(ledger: Ledger) -> None:
    await ledger.jobs.open(ORDER)
    reports = {"smoke.json": "c" * 64}
    closing = the_job(await ledger.jobs.close(JOB, CloseJob(attempts={}, reports=reports))).closing

    assert closing is not None
    assert closing.reports == reports
    many = {f"{number}.json": "c" * 64 for number in range(17)}
    for bad in ({"a/b": "c" * 64}, {"smoke.json": "C" * 64}, many):
        with pytest.raises(RefusedError, match="file and its SHA-256"):
            await ledger.jobs.close(JOB, CloseJob(attempts={}, reports=bad))


async def test_a_head_that_the_broker_does_not_have_is_refused(ledger: Ledger) -> None:
    await ledger.jobs.open(ORDER)
    await an_attempt(ledger, 1)

    with pytest.raises(RefusedError, match="digest of the last receipt"):
        await ledger.jobs.close(JOB, CloseJob(attempts={f"{RUN}.1": "0" * 64}))


@pytest.mark.parametrize(
    "changes",
    [
        {"protocol": 99},
        {"job": "x"},
        {"planned": ()},
        {"planned": ("x",)},
        {"planned": (f"{RUN}.1", f"{RUN}.1")},
    ],
)
async def test_a_plan_that_is_none_is_refused(ledger: Ledger, changes: dict[str, Any]) -> None:
    with pytest.raises(RefusedError):
        await ledger.jobs.open(msgspec.structs.replace(ORDER, **changes))


@pytest.mark.parametrize("name", ["x", "000000000000.1"])
async def test_an_attempt_of_another_run_is_refused(ledger: Ledger, name: str) -> None:
    await ledger.jobs.open(ORDER)
    with pytest.raises(RefusedError):
        await ledger.jobs.close(JOB, CloseJob(attempts={name: None}))


async def test_a_job_that_nobody_opened_is_refused(ledger: Ledger) -> None:
    with pytest.raises(RefusedError, match="a job of this broker"):
        await ledger.jobs.close(JOB, CloseJob(attempts={}))
