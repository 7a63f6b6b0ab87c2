"""Jobs on record: opened once, closed with what the broker itself has of every attempt.

It never takes the caller's word where it has its own: an attempt of one of the job's runs that the
caller does not name is listed all the same, and a head that differs is refused.
"""

import asyncio
from collections.abc import Callable
from importlib import metadata

import msgspec

from stanchion.broker.receipts.bundle import Broken
from stanchion.broker.receipts.chain import line_digest
from stanchion.broker.receipts.ed25519 import Signer
from stanchion.broker.receipts.job_chain import (
    VerifiedJob,
    build_job_close,
    build_job_header,
    build_job_open,
    is_report,
    verify_job,
)
from stanchion.broker.receipts.store import RunStore
from stanchion.broker.receipts.writer import LedgerError
from stanchion.protocol.codec import PROTOCOL_VERSION
from stanchion.protocol.ids import parse_attempt_id, run_id, split_attempt_id
from stanchion.protocol.job import CloseJob, JobAttempt, OpenJob
from stanchion.protocol.receipt import RunClose
from stanchion.protocol.refusal import RefusedError, refuse

MAX_PLANNED = 100_000
MAX_REPORTS = 16

_close_decoder = msgspec.json.Decoder(RunClose)


class JobLedger:
    """All jobs of one state folder."""

    def __init__(self, *, store: RunStore, signer: Signer, now_ms: Callable[[], int]) -> None:
        self._store = store
        self._signer = signer
        self._now_ms = now_ms
        self._lock = asyncio.Lock()

    async def open(self, order: OpenJob) -> bytes:
        """Put the plan on record, or find it there; the file as it is now."""
        _check(order)
        async with self._lock:
            lines = self._lines(order.job)
            if lines:
                known = self._verified(order.job, lines).opening
                if (known.job_sha256, known.planned) != (order.job_sha256, order.planned):
                    raise refuse(
                        "job_exists",
                        field="job",
                        value=order.job,
                        rule="a job is on record once, and this one was opened on other terms",
                        remedy="Start another job",
                    )
                return _file(lines)
            header = build_job_header(order.job, self._signer)
            opening = build_job_open(
                [header],
                at_ms=self._now_ms(),
                job_sha256=order.job_sha256,
                planned=order.planned,
                broker_version=metadata.version("stanchion"),
            )
            await self._store.begin_receipts(_key(order.job), header)
            await self._store.append_receipt(_key(order.job), 1, opening)
            return _file([header, opening])

    async def close(self, job: str, order: CloseJob) -> bytes:
        """Sign what there is of every attempt; the file with it. May be said again later."""
        _check_reports(order)
        async with self._lock:
            lines = self._lines(job)
            if not lines:
                raise refuse(
                    "job_unknown",
                    field="ID",
                    value=job[:40],
                    rule="it names a job of this broker",
                    remedy="Open it first",
                )
            planned = self._verified(job, lines).opening.planned
            closing = build_job_close(
                lines,
                at_ms=self._now_ms(),
                attempts=self._attempts(planned, order),
                planned=planned,
                signer=self._signer,
                reports=order.reports,
            )
            await self._store.append_receipt(_key(job), len(lines), closing)
            return _file([*lines, closing])

    def _lines(self, job: str) -> list[bytes]:
        return self._store.receipt_lines(_key(job))

    def _verified(self, job: str, lines: list[bytes]) -> VerifiedJob:
        found = verify_job(_file(lines))
        if isinstance(found, Broken):
            raise LedgerError(
                f"receipts of job {job} do not verify, line {found.line}: {found.why}"
            )
        return found

    def _attempts(self, planned: tuple[str, ...], order: CloseJob) -> tuple[JobAttempt, ...]:
        runs = {name.partition(".")[0] for name in planned}
        own = {
            row.attempt_id: self._on_record(row.attempt_id)
            for row in self._store.runs()
            if row.attempt_id.partition(".")[0] in runs
        }
        for name, head in order.attempts.items():
            _check_named(name, runs)
            if name in own and head not in {None, own[name].head}:
                raise refuse(
                    "job_head_differs",
                    field="attempts",
                    value=name,
                    rule="a head is the digest of the last receipt that this broker has",
                    remedy="Fetch the attempt's bundle again",
                )
        names = sorted({*own, *order.attempts}, key=split_attempt)
        return tuple(own.get(name) or _unknown(name) for name in names)

    def _on_record(self, name: str) -> JobAttempt:
        lines = self._store.receipt_lines(name)
        if not lines:
            return _unknown(name)
        try:
            closing = _close_decoder.decode(lines[-1])
        except msgspec.DecodeError:
            closing = None
        return JobAttempt(
            id=name,
            head=line_digest(lines[-1]),
            closed=closing is not None,
            reason=None if closing is None else closing.reason,
            score=None if closing is None else closing.score,
        )


def _unknown(name: str) -> JobAttempt:
    return JobAttempt(id=name, head=None, closed=False, reason=None, score=None)


def _key(job: str) -> str:
    """Where its lines are among those of attempts, whose ids have no colon."""
    return f"job:{job}"


def _file(lines: list[bytes]) -> bytes:
    return b"".join(line + b"\n" for line in lines)


def split_attempt(name: str) -> tuple[str, int]:
    """For the order of attempts: by run, then by number."""
    run, number = split_attempt_id(parse_attempt_id(name))
    return run, number


def _check(order: OpenJob) -> None:
    if order.protocol != PROTOCOL_VERSION:
        raise _invalid("protocol", f"this broker speaks version {PROTOCOL_VERSION}")
    if not 0 < len(order.planned) <= MAX_PLANNED or len(set(order.planned)) != len(order.planned):
        raise _invalid("planned", f"it lists 1 to {MAX_PLANNED} attempts, each once")
    try:
        run_id(order.job)
        for name in order.planned:
            parse_attempt_id(name)
    except ValueError as error:
        raise _invalid("job, planned", str(error)) from None


def _check_named(name: str, runs: set[str]) -> None:
    try:
        parse_attempt_id(name)
    except ValueError as error:
        raise _invalid("attempts", str(error)) from None
    if name.partition(".")[0] not in runs:
        raise _invalid("attempts", "an attempt of a job is one of its planned runs")


def _check_reports(order: CloseJob) -> None:
    good = all(map(is_report, order.reports, order.reports.values()))
    if not good or len(order.reports) > MAX_REPORTS:
        raise _invalid("reports", f"at most {MAX_REPORTS}, each the name of a file and its SHA-256")


def _invalid(field: str, rule: str) -> RefusedError:
    return refuse("job_invalid", field=field, value=None, rule=rule, remedy="Mend the request")
