"""A job's file: what an honest broker writes verifies, and nothing else does."""

import json
from typing import Any

import pytest

from fakes.receipts import KEY, OTHER_KEY, TestKey
from stanchion.broker.receipts.bundle import Broken
from stanchion.broker.receipts.chain import line_digest
from stanchion.broker.receipts.job_chain import (
    VerifiedJob,
    build_job_close,
    build_job_header,
    build_job_open,
    verify_job,
)
from stanchion.protocol.codec import encode
from stanchion.protocol.job import JobAttempt

JOB = "0123456789ab"
FIRST, SECOND = "7f3a90c41b22.1", "7f3a90c41b22.2"


def an_attempt(name: str, **changes: Any) -> JobAttempt:
    known = {"head": "a" * 64, "closed": True, "reason": "completed", "score": "1"}
    return JobAttempt(id=name, **(known | changes))


def a_file(
    *closes: tuple[JobAttempt, ...],
    signer: TestKey = KEY,
    reports: dict[str, str] | None = None,
) -> bytes:
    lines = [build_job_header(JOB, signer)]
    planned = (FIRST, SECOND)
    lines.append(
        build_job_open(lines, at_ms=1, job_sha256="b" * 64, planned=planned, broker_version="0")
    )
    for attempts in closes:
        lines.append(
            build_job_close(
                lines,
                at_ms=2,
                attempts=attempts,
                planned=planned,
                signer=signer,
                reports=reports,
            )
        )
    return b"".join(line + b"\n" for line in lines)


def altered(data: bytes, at: int, *, relink: bool = True, **fields: Any) -> bytes:
    """A file with other words in one line; what follows is chained to it again."""
    lines = [json.loads(line) for line in data.splitlines()]
    lines[at] |= fields
    for number in range(1, len(lines)):
        if relink:
            lines[number]["prev"] = line_digest(encode(lines[number - 1]))
    return b"".join(encode(line) + b"\n" for line in lines)


def why(data: bytes) -> str:
    found = verify_job(data)
    assert isinstance(found, Broken)
    return found.why


def test_an_honest_file_verifies_and_the_last_close_holds() -> None:
    found = verify_job(a_file((an_attempt(FIRST),), (an_attempt(FIRST), an_attempt(SECOND))))

    assert isinstance(found, VerifiedJob)
    assert (found.header.job, found.opening.planned) == (JOB, (FIRST, SECOND))
    assert found.closing is not None
    assert [one.id for one in found.closing.attempts] == [FIRST, SECOND]
    assert (found.closing.not_started, found.records) == ((), 3)


def test_planned_attempts_that_never_were_are_listed() -> None:
    found = verify_job(a_file((an_attempt(FIRST),)))

    assert isinstance(found, VerifiedJob)
    assert found.closing is not None
    assert found.closing.not_started == (SECOND,)


def test_without_a_close_it_is_whole_but_open() -> None:
    found = verify_job(a_file())

    assert isinstance(found, VerifiedJob)
    assert found.closing is None


CLOSED = a_file((an_attempt(FIRST), an_attempt(SECOND)))


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "line end"),
        (CLOSED[:-1], "line end"),
        (CLOSED.splitlines(keepends=True)[0], "no opening"),
        (altered(CLOSED, 0, job="elsewhere"), "job id"),
        (altered(CLOSED, 0, version=2), "only one known here"),
        (altered(CLOSED, 0, job="ba9876543210"), "header's signature"),
        (altered(CLOSED, 0, public_key=OTHER_KEY.public_key), "header's signature"),
        (altered(CLOSED, 1, planned=[FIRST]), "close's signature"),
        (altered(CLOSED, 1, seq=2), "says it is record 2"),
        (altered(CLOSED, 1, prev="0" * 64, relink=False), "does not follow"),
        (altered(CLOSED, 2, attempts=[]), "close's signature"),
        (altered(CLOSED, 1, planned=["x"]), "RUN.NUMBER"),
        (altered(CLOSED, 1, planned=[FIRST, FIRST]), "listed twice"),
        (altered(CLOSED, 1, more=1), "not a record"),
        (CLOSED.replace(b'"seq":1', b'"seq": 1'), "canonical"),
    ],
)
def test_what_is_not_as_it_was_signed_is_named(data: bytes, said: str) -> None:
    assert said in why(data)


def test_a_close_that_was_signed_before_there_were_reports_verifies() -> None:
    lines = [json.loads(line) for line in CLOSED.splitlines()]
    del lines[2]["reports"]
    lines[2]["signature"] = KEY.sign(encode({**lines[2], "signature": ""}))
    found = verify_job(b"".join(encode(line) + b"\n" for line in lines))

    assert isinstance(found, VerifiedJob), found
    assert found.closing is not None
    assert found.closing.reports == {}


def test_a_report_is_a_file_beside_the_list() -> None:
    for name, digest in (("../smoke.json", "a" * 64), ("smoke.json", "a"), ("", "a" * 64)):
        assert "a report is" in why(a_file((an_attempt(FIRST),), reports={name: digest}))


def test_the_opening_stands_first_and_once() -> None:
    lines = CLOSED.splitlines(keepends=True)

    assert "first record" in why(altered(lines[0] + lines[2], 1, seq=1))
    assert "first record" in why(altered(lines[0] + lines[1] + lines[1], 2, seq=2))
