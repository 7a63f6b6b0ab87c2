"""The result of an attempt as people and programs read it: `result.json`, `run --json`, `show`.

Unknown is null. Names are fixed; fields are only ever added.
"""

import msgspec

from stanchion.protocol.admin import EffortSeen, LimitsSeen
from stanchion.protocol.evidence import Answer
from stanchion.protocol.outcome import Blame, EndReason, Flag, Grade, Retry


class OutcomeShown(msgspec.Struct, frozen=True, kw_only=True):
    """How it ended."""

    reason: EndReason
    detail: str
    blame: Blame | None
    retry: Retry
    flags: tuple[Flag, ...]


class LimitsShown(msgspec.Struct, frozen=True, kw_only=True):
    """Limits along their way."""

    output_tokens: LimitsSeen


class UsageShown(msgspec.Struct, frozen=True, kw_only=True):
    """Sums over all responses; null where one of them did not say."""

    input_tokens: int | None
    output_tokens: int | None
    reasoning_tokens: int | None
    cost: str | None
    """US dollars, decimal text; null without a price."""
    input_includes_cache: bool | None = None
    """Whether the input has in it what a cache gave or took; null = not known, or not the same of
    every answer."""
    output_includes_reasoning: bool | None = None
    """Whether the output has the reasoning in it; null likewise."""


class Stages(msgspec.Struct, frozen=True, kw_only=True):
    """Durations in seconds; null = not reached or not observed."""

    sandbox_start_s: float | None
    supervisor_start_s: float | None
    first_response_s: float | None
    agent_s: float | None
    held_s: float | None
    verify_s: float | None
    total_s: float | None


class SandboxShown(msgspec.Struct, frozen=True, kw_only=True):
    """What it ran in."""

    kind: str
    isolation: str | None
    network: str
    limits_enforced: bool | None
    oom_kills: int | None
    storage_mb: int | None = None
    """Enforced limit of what may be written; null = none is."""


class ImageShown(msgspec.Struct, frozen=True, kw_only=True):
    """Root file system: as asked for, and the digest that was verified."""

    requested: str | None
    base: str | None
    verified: str | None


class HarnessShown(msgspec.Struct, frozen=True, kw_only=True):
    """The agent program."""

    name: str
    version: str


class ReceiptsShown(msgspec.Struct, frozen=True, kw_only=True):
    """Where the evidence is."""

    head: str | None
    exchanges: int
    bundle: str | None
    """Absolute path."""
    calls: int | None = None
    """Logical calls of the harness; null = not counted."""
    sendings: int | None = None
    """How often requests left, each try counted."""
    ambiguous: int | None = None
    """Sendings of which nobody knows whether the provider processed them."""


class AttemptResult(msgspec.Struct, frozen=True, kw_only=True):
    """One attempt."""

    run: str
    attempt: int
    task: str
    model: str
    outcome: OutcomeShown
    grade: Grade
    score: float | None
    reward: dict[str, float] | None
    limits: LimitsShown
    effort: EffortSeen
    reasoning_present: bool | None
    length_stops: int | None
    usage: UsageShown
    stages: Stages
    sandbox: SandboxShown
    image: ImageShown
    harness: HarnessShown
    receipts: ReceiptsShown
    answers: tuple[Answer, ...] | None = None
    """Declared answers as the sandbox says it found them; null = none declared, or unknown."""
    why: dict[str, str] = {}
    """Reasons for the nulls that matter, by path, as `score`."""


class OpenAttempt(msgspec.Struct, frozen=True, kw_only=True):
    """An attempt that has not ended, under the same names; what only its end decides is null."""

    run: str
    attempt: int
    task: str
    model: str
    state: str = "open"
    now: str
    """Where it is, in a few words."""
    outcome: None = None
    grade: None = None
    score: None = None
    reward: None = None
    limits: LimitsShown
    effort: EffortSeen
    reasoning_present: bool | None
    length_stops: int | None
    usage: UsageShown
    stages: Stages
    sandbox: SandboxShown
    image: ImageShown
    harness: HarnessShown
    receipts: ReceiptsShown
    why: dict[str, str] = {}
