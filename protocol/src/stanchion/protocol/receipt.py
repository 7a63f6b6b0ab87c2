"""Receipts: what the broker puts on record about one attempt, chained and signed.

A bundle is a file of JSON lines: a signed header, records, a signed close. Each line after the
header carries in `prev` the SHA-256 of the line before it (without its line end). Only integers,
strings, booleans and nulls, in canonical JSON, so that every byte of the file is covered. Nothing
is ever omitted: an unknown fact is a null.
"""

import msgspec

from stanchion.protocol.evidence import HostFacts
from stanchion.protocol.exchange import Answered, Asked, ErrorClass, Mismatch
from stanchion.protocol.launch import FrozenLaunch

BUNDLE_FORMAT = "stanchion-receipts"
BUNDLE_VERSION = 1


class Header(msgspec.Struct, frozen=True, kw_only=True, tag="header", forbid_unknown_fields=True):
    """First line of a bundle: who signs, and what the file holds."""

    format: str
    version: int
    run: str
    attempt: int
    public_key: str
    """Ed25519, 64 hex digits."""
    holds_bodies: bool
    """Whether any prompt or response text is in the file."""
    signature: str
    """Ed25519 over the canonical header with an empty signature, 128 hex digits."""


class _Record(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    seq: int
    """From 1."""
    prev: str
    at_ms: int
    """The broker's wall clock, milliseconds since 1970."""


class RunOpen(_Record, frozen=True, kw_only=True, tag="run.open"):
    """The terms of the attempt, whole."""

    nonce: str
    launch: FrozenLaunch
    launch_sha256: str
    broker_version: str
    rehearsal_port: int | None
    opened_by: str | None = None
    """Who asked the broker for it, as the kernel named the caller (`uid 1000`); None = not recorded
    by that version."""


class TokenIssued(_Record, frozen=True, kw_only=True, tag="token"):
    """A token was issued, renewed, redeemed or revoked; only its digest is known here."""

    what: str
    """`enrol_issued` | `enrolled` | `renewed` | `revoked`."""
    token_sha256: str
    why: str | None


class RunStarted(_Record, frozen=True, kw_only=True, tag="run.started"):
    """The supervisor's account of isolation and configuration, before the harness ran."""

    asserted_by: str
    isolation: str
    checks: dict[str, bool]
    written_model: str | None
    written_output_limit: int | None
    written_effort: str | None


class ExchangeStart(_Record, frozen=True, kw_only=True, tag="exchange.start"):
    """Durable before the request's first byte leaves."""

    exchange: int
    asked: Asked
    sent: Asked
    """Equal to `asked` unless a correction of the spec was applied."""
    corrections: tuple[str, ...]
    route: str
    session: str | None
    """The harness's own session id header, if it sent one."""
    side: str | None = None
    """Name of the declared side request that it is; None = a main request."""
    call: int | None = None
    """The logical call that it belongs to, by the number of its first request: its own, unless the
    harness asks again for what the broker's pacer handed back. None = not on record."""


class ExchangeTry(_Record, frozen=True, kw_only=True, tag="exchange.try"):
    """A sending that failed before a byte went back, after which the request was held for another.

    Durable before the next sending. The last sending stands in `exchange.end`.
    """

    exchange: int
    number: int
    """From 1."""
    status: int | None
    error_class: ErrorClass | None
    retry_after_ms: int | None
    """What the provider asked for; None = it did not."""
    held_ms: int
    """Of this request so far."""
    ambiguous: bool = False
    """It left and no answer began: the provider may have worked on it."""


class ExchangeEnd(_Record, frozen=True, kw_only=True, tag="exchange.end"):
    """Durable before the response's terminal event leaves."""

    exchange: int
    answered: Answered
    tries: int
    """Sendings, those of the `exchange.try` records included; 0 = it ended before the first."""
    held_ms: int
    """Time that the broker's pacer held the request, over all its holds."""
    secret_scrubbed: bool
    gave_up: str | None = None
    """Why the broker stopped trying; None = it did not."""
    retry_after_asked_ms: int | None = None
    """The provider's, of the answer that went back."""
    retry_after_sent_ms: int | None = None
    """As it went back, capped; None = none did."""


class Denied(_Record, frozen=True, kw_only=True, tag="denied"):
    """A request that never left."""

    why: str


class Mismatched(_Record, frozen=True, kw_only=True, tag="mismatch"):
    """A request that differs from the spec."""

    mismatch: Mismatch
    enforced: bool


class ClaimRecorded(_Record, frozen=True, kw_only=True, tag="claim"):
    """Digest of the supervisor's claim, so that the transcript side cannot be swapped later."""

    asserted_by: str
    claim_sha256: str


class HostRecorded(_Record, frozen=True, kw_only=True, tag="host"):
    """The launcher's facts."""

    asserted_by: str
    host: HostFacts


class RunClose(_Record, frozen=True, kw_only=True, tag="run.close"):
    """Last line: how it ended, signed. Without it a bundle is incomplete, never clean."""

    reason: str
    detail: str
    flags: tuple[str, ...]
    grade: str
    score: str | None
    """Decimal text; None = withheld."""
    reward_sha256: str | None
    exchanges: int
    records: int
    """Records before this one."""
    signature: str
    """Ed25519 over the canonical close with an empty signature, 128 hex digits."""


Record = (
    RunOpen
    | TokenIssued
    | RunStarted
    | ExchangeStart
    | ExchangeTry
    | ExchangeEnd
    | Denied
    | Mismatched
    | ClaimRecorded
    | HostRecorded
    | RunClose
)
