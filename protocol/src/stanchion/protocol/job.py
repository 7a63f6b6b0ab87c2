"""A job's own receipts: which attempts were planned, which there were, signed by the broker.

A file of JSON lines: a signed header, `job.open`, and a signed `job.close` each time that a command
had nothing more to do for the job; the last close holds. Chained like an attempt's receipts, so
that an attempt which is missing from a result folder shows.
"""

import msgspec

JOB_FORMAT = "stanchion-job"
JOB_VERSION = 1


class OpenJob(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`POST /v1/jobs`; said again with the same terms, it answers the same."""

    protocol: int
    job: str
    """12 lower-case hex digits."""
    job_sha256: str
    """Of the frozen terms."""
    planned: tuple[str, ...]
    """Attempt ids, retries not counted."""


class CloseJob(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`POST /v1/jobs/ID/close`: nothing more will be started. Answer: the file."""

    attempts: dict[str, str | None]
    """What whoever ran the job knows: head of the receipts by attempt id; null = it has none."""
    reports: dict[str, str] = {}
    """SHA-256 by name of a file beside the list, as `smoke.json`: what was made of the attempts."""


class JobHeader(
    msgspec.Struct, frozen=True, kw_only=True, tag="header", forbid_unknown_fields=True
):
    """First line."""

    format: str
    version: int
    job: str
    public_key: str
    """Ed25519, 64 hex digits."""
    signature: str
    """Ed25519 over the canonical header with an empty signature, 128 hex digits."""


class _Record(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    seq: int
    """From 1."""
    prev: str
    at_ms: int
    """The broker's wall clock, milliseconds since 1970."""


class JobOpen(_Record, frozen=True, kw_only=True, tag="job.open"):
    """What was planned, before anything of it started."""

    job_sha256: str
    planned: tuple[str, ...]
    broker_version: str


class JobAttempt(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One attempt as the broker has it on record."""

    id: str
    head: str | None
    """Of its receipts at this moment; null = this broker has none."""
    closed: bool
    reason: str | None
    score: str | None
    """Decimal text; null = withheld, or not closed."""


class JobClose(_Record, frozen=True, kw_only=True, tag="job.close"):
    """Every attempt there was, signed."""

    attempts: tuple[JobAttempt, ...]
    """All of the job's runs that this broker has on record, and all that the caller named."""
    not_started: tuple[str, ...]
    """Planned, and never opened."""
    reports: dict[str, str] = {}
    """By name of a file beside this one, its SHA-256. Whoever ran the job wrote it: the signature
    says that it was this one and of these attempts, not that it is right."""
    signature: str
    """Ed25519 over the canonical close with an empty signature, 128 hex digits."""


JobRecord = JobOpen | JobClose
