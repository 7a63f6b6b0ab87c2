"""All attempts of a broker at a glance: bodies of `GET /v1/vitals` and `GET /v1/checkpoint`.

The vitals are read by one cursor over all attempts, so that one poller follows hundreds of them.
Gauges and stages are the sandbox's word; states, outcomes and the checkpoint are the broker's.
"""

import msgspec

from stanchion.protocol.events import AssertedBy, Stage, StageState
from stanchion.protocol.outcome import EndReason
from stanchion.protocol.vitals import Vitals

CHECKPOINT_FORMAT = "stanchion-checkpoint"
CHECKPOINT_VERSION = 1


class AttemptVitals(msgspec.Struct, frozen=True, kw_only=True):
    """Where one attempt stands now."""

    id: str
    task: str
    state: str
    """`open` | `closed`."""
    stage: Stage | None = None
    """The last one that was told of."""
    stage_state: StageState | None = None
    vitals: Vitals | None = None
    """The latest sample; None = none came yet."""
    vitals_at_ms: int | None = None
    """The broker's wall clock when it came."""
    connected: bool | None = None
    """Whether a supervisor's control connection stands; None = closed."""
    heard_at_ms: int | None = None
    reason: EndReason | None = None
    score: float | None = None


class LifecycleEntry(msgspec.Struct, frozen=True, kw_only=True):
    """One event in the life of one attempt: opened, a stage, a stop, its end; never its output."""

    id: str
    cursor: str
    at_ms: int
    asserted_by: AssertedBy
    event: msgspec.Raw


class VitalsPage(msgspec.Struct, frozen=True, kw_only=True):
    """`GET /v1/vitals?after=CURSOR&wait=S`."""

    attempts: tuple[AttemptVitals, ...]
    """Those that something was heard of since the cursor; without a cursor: all open ones."""
    entries: tuple[LifecycleEntry, ...]
    """Each exactly once, in order; none without a cursor."""
    cursor: str
    """Pass as `after` next time; it moves on also while nothing happens."""
    oldest: str
    """The earliest cursor that may be passed: `after=oldest` reads all that is kept."""


class Checkpoint(msgspec.Struct, frozen=True, kw_only=True):
    """`GET /v1/checkpoint`: what the broker has on record at this moment, signed.

    Kept elsewhere, it shows later whether receipts that existed then are still there unchanged.
    """

    format: str
    version: int
    public_key: str
    """Ed25519, 64 hex digits."""
    at_ms: int
    runs: int
    """Attempts with receipts."""
    records: int
    """Receipts over all of them, headers not counted."""
    heads_sha256: str
    """Over one line `ATTEMPT RECORDS HEAD` for each attempt, sorted, each with a line end."""
    signature: str
    """Ed25519 over the canonical checkpoint with an empty signature, 128 hex digits."""
