"""The verdict on a job's own receipts: is every attempt that was on record still there. Pure.

The same order as for an attempt: a fault in the bytes, then what is missing, then a signer that is
not trusted. It compares the signed list with the attempts that lie below the same folder.
"""

from collections.abc import Collection, Iterable, Mapping

from stanchion.broker.auditing.judging import EXIT_CODES, Report, Signer, Verdict
from stanchion.broker.receipts.bundle import Broken
from stanchion.broker.receipts.ed25519 import key_fingerprint
from stanchion.broker.receipts.job_chain import VerifiedJob
from stanchion.protocol.job import JobClose

SHOWN = 5
"""Attempts named in one sentence."""


def judge_job(
    job: VerifiedJob | Broken,
    *,
    path: str,
    trusted_keys: Collection[str],
    heads: Mapping[str, str],
    reports: Mapping[str, str] | None = None,
) -> Report:
    """The report on a job.

    `heads` are of the attempts below its folder that verify, by id; `reports` are the digests of
    the files beside it that its list names, as far as they are there.
    """
    if isinstance(job, Broken):
        return Report(
            path=path,
            verdict=Verdict.TAMPERED,
            exit_code=EXIT_CODES[Verdict.TAMPERED],
            why=f"line {job.line}: {job.why}",
            line=job.line,
            not_proven=("anything",),
            job="unknown",
        )
    signer = Signer(
        fingerprint=key_fingerprint(job.header.public_key),
        public_key=job.header.public_key,
        trusted=job.header.public_key in trusted_keys,
    )
    verdict, why = _verdict(job, signer, heads, reports or {})
    return Report(
        path=path,
        verdict=verdict,
        exit_code=EXIT_CODES[verdict],
        why=why,
        job=job.header.job,
        signer=signer,
        head=job.head,
        records=job.records,
        proven=_proven(job, signer) if verdict is not Verdict.TAMPERED else (),
        not_proven=tuple(_not_proven(job, signer)),
    )


def _verdict(
    job: VerifiedJob, signer: Signer, heads: Mapping[str, str], reports: Mapping[str, str]
) -> tuple[Verdict, str | None]:
    closing = job.closing
    if closing is None:
        planned = len(job.opening.planned)
        return Verdict.INCOMPLETE, f"the list of attempts is not closed: {planned} were planned"
    swapped = [
        one.id for one in closing.attempts if one.closed and heads.get(one.id, one.head) != one.head
    ]
    if swapped:
        return Verdict.TAMPERED, f"{_names(swapped)} not the receipts that the list was signed for"
    signed = closing.reports
    other = [name for name, digest in reports.items() if signed.get(name, digest) != digest]
    if other:
        return Verdict.TAMPERED, f"{other[0]} is not the one that the list was signed with"
    missing = _missing(closing, heads) or _missing_report(closing, reports)
    if missing is not None:
        return Verdict.INCOMPLETE, missing
    if not signer.trusted:
        return (
            Verdict.SIGNER_UNKNOWN,
            f"key {signer.fingerprint} is not trusted here: pass the broker's signing.pub as --key",
        )
    return Verdict.VERIFIED, None


def _missing_report(closing: JobClose, reports: Mapping[str, str]) -> str | None:
    gone = [name for name in closing.reports if name not in reports]
    return f"{gone[0]} was signed with the list, and is not here" if gone else None


def _missing(closing: JobClose, heads: Mapping[str, str]) -> str | None:
    """The first kind of attempt whose end is not below the folder."""
    listed = {one.id: one for one in closing.attempts}
    runs = {name.partition(".")[0] for name in (*listed, *closing.not_started)}
    gone = [one.id for one in closing.attempts if one.head is not None and one.id not in heads]
    if gone:
        return f"{_names(gone)} listed, and the receipts are not here"
    still_open = [one.id for one in closing.attempts if one.head is not None and not one.closed]
    if still_open:
        return f"{_names(still_open)} not closed when the list was signed"
    known = {one.id for one in closing.attempts if one.head is not None}
    later = sorted(name for name in heads if name not in known and name.partition(".")[0] in runs)
    if later:
        return f"{_names(later)} not on the list, although of its runs"
    return None


def _names(names: list[str]) -> str:
    """`attempt X is` or `attempts X, Y are`."""
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    shown = ", ".join(names[:SHOWN]) + more
    return f"attempt {shown} is" if len(names) == 1 else f"attempts {shown} are"


def _proven(job: VerifiedJob, signer: Signer) -> tuple[str, ...]:
    key, closing = signer.fingerprint, job.closing
    planned = f"{len(job.opening.planned)} attempts were planned before any started"
    if closing is None:
        return (planned,)
    ran = sum(one.head is not None for one in closing.attempts)
    return (
        f"{planned}; {ran} were opened, {len(closing.not_started)} of the planned never were",
        f"these {ran} are all that the holder of key {key} had on record of the job's runs",
        *(f"{name} is the file that was signed with them" for name in closing.reports),
    )


def _not_proven(job: VerifiedJob, signer: Signer) -> Iterable[str]:
    if job.closing is None:
        yield "which attempts there were"
    if not signer.trusted:
        yield f"who holds key {signer.fingerprint}"
    for name in job.closing.reports if job.closing is not None else ():
        yield f"what {name} says: whoever ran the job wrote it, and the receipts can be read again"
    yield "that other jobs of the same tasks do not exist"
