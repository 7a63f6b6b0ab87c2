"""The list of a job's attempts against what lies below its folder."""

import pytest
from tests.unit.broker.receipts.test_job_chain import FIRST, JOB, SECOND, a_file, an_attempt

from fakes.receipts import KEY
from stanchion.broker.auditing.job_judging import judge_job
from stanchion.broker.auditing.judging import Report
from stanchion.broker.receipts.job_chain import verify_job
from stanchion.protocol.job import JobAttempt

HEAD = "a" * 64
BOTH = (an_attempt(FIRST), an_attempt(SECOND))
NEVER = an_attempt(SECOND, head=None, closed=False, reason=None, score=None)
OPEN = an_attempt(SECOND, closed=False)


def report(
    *attempts: JobAttempt, trusted: bool = True, heads: dict[str, str] | None = None
) -> Report:
    there = {FIRST: HEAD, SECOND: HEAD} if heads is None else heads
    keys = [KEY.public_key] if trusted else []
    data = a_file(attempts) if attempts else a_file()
    return judge_job(verify_job(data), path="job.receipts", trusted_keys=keys, heads=there)


def test_a_whole_job_verifies_and_says_what_it_proves() -> None:
    seen = report(*BOTH)

    assert (seen.verdict, seen.exit_code, seen.job, seen.run) == ("verified", 0, JOB, None)
    assert "2 attempts were planned before any started; 2 were opened" in seen.proven[0]
    assert seen.not_proven == ("that other jobs of the same tasks do not exist",)


def test_a_planned_attempt_that_never_was_is_no_missing_evidence() -> None:
    for listed in ((an_attempt(FIRST),), (an_attempt(FIRST), NEVER)):
        seen = report(*listed, heads={FIRST: HEAD})
        assert (seen.verdict, seen.why) == ("verified", None)


@pytest.mark.parametrize(
    ("listed", "heads", "verdict", "why"),
    [
        (BOTH, {FIRST: HEAD}, "incomplete", f"attempt {SECOND} is listed"),
        (BOTH, {}, "incomplete", f"attempts {FIRST}, {SECOND} are listed"),
        (BOTH, {FIRST: HEAD, SECOND: "b" * 64}, "tampered", f"attempt {SECOND} is not the"),
        ((an_attempt(FIRST), OPEN), None, "incomplete", f"attempt {SECOND} is not closed"),
        ((an_attempt(FIRST),), None, "incomplete", f"attempt {SECOND} is not on the list"),
        ((), None, "incomplete", "not closed: 2 were planned"),
    ],
)
def test_what_is_missing_or_swapped_is_named(
    listed: tuple[JobAttempt, ...], heads: dict[str, str] | None, verdict: str, why: str
) -> None:
    seen = report(*listed, heads=heads)

    assert seen.verdict == verdict
    assert why in (seen.why or "")


REPORT = {"smoke.json": "c" * 64}


@pytest.mark.parametrize(
    ("beside", "verdict", "why"),
    [
        (REPORT, "verified", None),
        ({}, "incomplete", "smoke.json was signed with the list, and is not here"),
        ({"smoke.json": "d" * 64}, "tampered", "smoke.json is not the one that the list was"),
    ],
)
def test_a_report_is_held_to_the_signed_digest(
    beside: dict[str, str], verdict: str, why: str | None
) -> None:
    seen = judge_job(
        verify_job(a_file(BOTH, reports=REPORT)),
        path="job.receipts",
        trusted_keys=[KEY.public_key],
        heads={FIRST: HEAD, SECOND: HEAD},
        reports=beside,
    )

    assert seen.verdict == verdict
    assert (why or "") in (seen.why or "")
    if verdict == "verified":
        assert "smoke.json is the file that was signed with them" in seen.proven
        assert any("smoke.json says" in what for what in seen.not_proven)


def test_many_missing_ones_are_counted() -> None:
    many = [an_attempt(f"7f3a90c41b22.{number}") for number in range(1, 9)]

    assert "and 3 more are listed" in (report(*many, heads={}).why or "")


def test_a_stranger_s_signature_is_no_proof() -> None:
    seen = report(*BOTH, trusted=False)

    assert (seen.verdict, seen.exit_code) == ("signer unknown", 3)
    assert any("who holds key" in what for what in seen.not_proven)


def test_a_file_with_a_fault_proves_nothing() -> None:
    seen = judge_job(verify_job(b"x\n"), path="p", trusted_keys=[], heads={})

    assert (seen.verdict, seen.exit_code, seen.line) == ("tampered", 4, 1)
    assert seen.not_proven == ("anything",)
