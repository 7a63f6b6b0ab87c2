"""The receipts of a job: written and checked by the same rules. Pure.

A header, one opening, then any number of closes, of which the last one holds. Nothing in the file
may relax a check; whose signature it is, is decided elsewhere.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from stanchion.broker.receipts.bundle import Broken
from stanchion.broker.receipts.chain import line_digest
from stanchion.broker.receipts.ed25519 import Signer, holds
from stanchion.broker.receipts.exact import FaultError, exact
from stanchion.protocol.codec import encode
from stanchion.protocol.ids import parse_attempt_id, run_id
from stanchion.protocol.job import (
    JOB_FORMAT,
    JOB_VERSION,
    JobAttempt,
    JobClose,
    JobHeader,
    JobOpen,
    JobRecord,
)

REPORT_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}", re.ASCII)
"""A file beside the job's own receipts, never a path."""
_SHA256 = re.compile(r"[0-9a-f]{64}", re.ASCII)

_header_decoder = msgspec.json.Decoder(JobHeader)
_record_decoder: msgspec.json.Decoder[JobRecord] = msgspec.json.Decoder(JobRecord)


@dataclass(frozen=True, slots=True)
class VerifiedJob:
    """A job's file without a fault; it may still lack its close."""

    header: JobHeader
    opening: JobOpen
    closing: JobClose | None
    """The last one; None = incomplete."""
    records: int
    head: str
    """Digest of the last line."""


def build_job_header(job: str, signer: Signer) -> bytes:
    """The signed first line, without a line end."""
    draft = JobHeader(
        format=JOB_FORMAT,
        version=JOB_VERSION,
        job=job,
        public_key=signer.public_key,
        signature="",
    )
    return encode(msgspec.structs.replace(draft, signature=signer.sign(encode(draft))))


def build_job_open(
    lines: Sequence[bytes],
    *,
    at_ms: int,
    job_sha256: str,
    planned: tuple[str, ...],
    broker_version: str,
) -> bytes:
    """The next line: what is planned."""
    return encode(
        JobOpen(
            seq=len(lines),
            prev=line_digest(lines[-1]),
            at_ms=at_ms,
            job_sha256=job_sha256,
            planned=planned,
            broker_version=broker_version,
        )
    )


def build_job_close(
    lines: Sequence[bytes],
    *,
    at_ms: int,
    attempts: tuple[JobAttempt, ...],
    planned: tuple[str, ...],
    signer: Signer,
    reports: Mapping[str, str] | None = None,
) -> bytes:
    """The next line: what there was, signed."""
    there = {attempt.id for attempt in attempts}
    draft = JobClose(
        seq=len(lines),
        prev=line_digest(lines[-1]),
        at_ms=at_ms,
        attempts=attempts,
        not_started=tuple(name for name in planned if name not in there),
        reports=dict(reports or {}),
        signature="",
    )
    return encode(msgspec.structs.replace(draft, signature=signer.sign(encode(draft))))


def verify_job(data: bytes) -> VerifiedJob | Broken:
    """Check a whole file."""
    if not data.endswith(b"\n"):
        return Broken(data.count(b"\n") + 1, "the file does not end with a line end")
    lines = data[:-1].split(b"\n")
    number = 1
    try:
        header = _header(lines[0])
        head, records = line_digest(lines[0]), list[JobRecord]()
        for line in lines[1:]:
            number = len(records) + 2
            records.append(_record(line, header, head, len(records) + 1))
            head = line_digest(line)
    except FaultError as fault:
        return Broken(number, str(fault))
    if not records or not isinstance(records[0], JobOpen):
        return Broken(number, "the file has no opening")
    last = records[-1]
    return VerifiedJob(
        header=header,
        opening=records[0],
        closing=last if isinstance(last, JobClose) else None,
        records=len(records),
        head=head,
    )


def _header(line: bytes) -> JobHeader:
    header, raw = exact(line, _header_decoder, "header")
    if header.format != JOB_FORMAT or header.version != JOB_VERSION:
        raise FaultError(
            f"format {header.format!r} version {header.version} is not "
            f"{JOB_FORMAT!r} version {JOB_VERSION}, the only one known here"
        )
    try:
        run_id(header.job)
    except ValueError:
        raise FaultError(f"job id {header.job!r} is not 12 lower-case hex digits") from None
    if not holds(public_key=header.public_key, message=_signed(raw), signature=header.signature):
        raise FaultError("the header's signature does not hold")
    return header


def _record(line: bytes, header: JobHeader, head: str, seq: int) -> JobRecord:
    record, raw = exact(line, _record_decoder, "record")
    if record.seq != seq:
        raise FaultError(f"record {seq} says it is record {record.seq}")
    if record.prev != head:
        raise FaultError(f"record {seq} does not follow the line before it")
    if isinstance(record, JobOpen) is not (seq == 1):
        raise FaultError("the opening (job.open) must be the first record, and only that")
    names = record.planned if isinstance(record, JobOpen) else [one.id for one in record.attempts]
    _check_names(names)
    if isinstance(record, JobClose):
        if not all(map(is_report, record.reports, record.reports.values())):
            raise FaultError("a report is a file name and a digest")
        if not holds(
            public_key=header.public_key, message=_signed(raw), signature=record.signature
        ):
            raise FaultError("the close's signature does not hold")
    return record


def is_report(name: str, sha256: str) -> bool:
    """Whether it is the name of a file beside the list, and a digest."""
    return bool(REPORT_NAME.fullmatch(name) and _SHA256.fullmatch(sha256))


def _check_names(names: Sequence[str]) -> None:
    try:
        for name in names:
            parse_attempt_id(name)
    except ValueError as error:
        raise FaultError(str(error)) from None
    if len(set(names)) != len(names):
        raise FaultError("an attempt is listed twice")


def _signed(raw: dict[str, Any]) -> bytes:
    """The line as it was signed: an older one lacks what was added since."""
    return encode({**raw, "signature": ""})
