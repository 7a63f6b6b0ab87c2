"""The broker's admin API: JSON bodies of its HTTP routes over its own Unix socket.

`ID` in a path is an attempt id (`RUN.N`), or a run id for its newest attempt.
"""

import msgspec

from stanchion.protocol.dialects import Dialect
from stanchion.protocol.events import StreamEntry
from stanchion.protocol.evidence import HostFacts
from stanchion.protocol.launch import FrozenLaunch, Isolation, LaunchSpec, Policy
from stanchion.protocol.outcome import Graded, Outcome, Score
from stanchion.protocol.refusal import Refusal
from stanchion.protocol.usage import Usage


class Rehearsal(msgspec.Struct, frozen=True, kw_only=True):
    """The loopback provider of the built-in `rehearsal` profile."""

    port: int
    key: str
    """Random per run; checked by the provider, kept out of the sandbox like any key."""


class OpenRun(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`POST /v1/runs`."""

    protocol: int
    run: str
    attempt: int
    spec: LaunchSpec
    untouched_reward: str = "0"
    """Decimal text: what the tests give for an untouched workspace."""
    rehearsal: Rehearsal | None = None


class RunOpenedReply(msgspec.Struct, frozen=True, kw_only=True):
    """Answer: the attempt exists, its sockets listen, its terms are frozen."""

    id: str
    directory: str
    """The attempt directory: holds model.sock and control.sock; the launcher adds its files."""
    launch: FrozenLaunch
    launch_sha256: str


class EnrolTicket(msgspec.Struct, frozen=True, kw_only=True):
    """`POST /v1/runs/ID/enrol`: a token for one enrolment."""

    token: str
    expires_in_s: int


class HostReport(msgspec.Struct, frozen=True, kw_only=True):
    """`POST /v1/runs/ID/host-facts`: the sandbox is gone; decide and close."""

    host: HostFacts


class LimitsSeen(msgspec.Struct, frozen=True, kw_only=True):
    """One limit along its way."""

    declared: int | None
    source: str | None
    written: int | None
    observed: tuple[int | None, ...]
    """Each distinct value on the wire, in order of first sight."""
    corrected: bool
    """Whether the broker wrote any of them, as an adapter declared it."""


class EffortSeen(msgspec.Struct, frozen=True, kw_only=True):
    """The effort along its way."""

    requested: str | None
    written: str | None
    observed: tuple[str | None, ...]


class RunView(msgspec.Struct, frozen=True, kw_only=True):
    """`GET /v1/runs/ID`: everything the broker knows, without secrets."""

    id: str
    launch_sha256: str
    launch: FrozenLaunch
    state: str
    """`open` | `closed`."""
    directory: str
    opened_at_ms: int
    closed_at_ms: int | None
    exchanges: int
    completed: int
    limits: LimitsSeen
    effort: EffortSeen
    reasoning_present: bool | None
    """True if any response had reasoning; False if all completed ones had none; else None."""
    length_stops: int
    usage: Usage
    models_served: tuple[str, ...]
    held_ms: int
    isolation: str | None
    outcome: Outcome | None
    graded: Graded | None
    score: Score | None
    head: str | None
    first_response_ms: int | None
    """From the attempt's opening to its first completed response."""
    connected: bool | None = None
    """Whether a supervisor's control connection stands; None = closed, or not said."""
    heard_at_ms: int | None = None
    """When supervisor or launcher were last heard of, milliseconds since 1970."""
    calls: int | None = None
    """Logical calls: a request that the harness repeats because the pacer handed it back is one
    with the first. None = not counted by this broker."""
    sendings: int | None = None
    """How often requests left, each try counted."""
    ambiguous: int | None = None
    """Sendings of which nobody knows whether the provider processed them."""
    input_includes_cache: bool | None = None
    """Whether the input in `usage` has in it what a cache gave or took; None = not known, or not
    the same of every answer."""
    output_includes_reasoning: bool | None = None
    """Whether the output in `usage` has the reasoning in it; None likewise."""


class EventsPage(msgspec.Struct, frozen=True, kw_only=True):
    """`GET /v1/runs/ID/events?after=CURSOR&wait=S`."""

    entries: tuple[StreamEntry, ...]
    cursor: str
    """Pass as `after` next time, also when `entries` is empty."""
    ended: bool
    """True = nothing will follow `cursor`."""


class ProfileView(msgspec.Struct, frozen=True, kw_only=True):
    """`GET /v1/profiles/NAME`: what a launcher must know to resolve a launch."""

    name: str
    accounts: dict[str, Dialect]
    policy: Policy
    limit_policy: str
    effort_policy: str
    harnesses: dict[str, str]
    isolation: Isolation
    allow_weak: bool
    models: dict[str, "ModelView"]
    """By `ACCOUNT/MODEL`."""
    budget_requests: int | None = None
    budget_output_tokens: int | None = None
    failing_s: int = 900
    silent_s: int = 2400
    max_wait_s: int = 1200
    allow_fields: tuple[str, ...] = ()
    """Body fields that the gate would deny and this profile lets through."""
    tripped: dict[str, str] = {}
    """Accounts under which nothing starts, and the sentence that says why and what to do."""
    unready: dict[str, Refusal] = {}
    """Accounts without a key that can be used, and why: a launch under one is refused so."""


class ModelView(msgspec.Struct, frozen=True, kw_only=True):
    """What the operator declared about a model."""

    context: int | None = None
    output_limit: int | None = None


class Health(msgspec.Struct, frozen=True, kw_only=True):
    """`GET /healthz`."""

    version: str
    protocol: int
    pid: int
    config_path: str | None
    config_sha256: str | None
    """Of the configuration file as loaded."""
    open_runs: int
    env_names: tuple[str, ...] = ()
    """Environment variables that keys were read from at the start."""


class ErrorReply(msgspec.Struct, frozen=True, kw_only=True):
    """Body of every 4xx of the admin API."""

    error: Refusal
    oldest: str | None = None
    """With `cursor_gone`: the earliest cursor that may be passed."""
