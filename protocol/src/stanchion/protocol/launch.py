"""LaunchSpec: everything that decides what an attempt is, frozen before it starts.

Resolved by the runner, checked and frozen by the broker, obeyed by the supervisor. Integers only
(no floats), so that its canonical bytes have one digest everywhere. Unknown fields are refused.
"""

from enum import StrEnum

import msgspec

from stanchion.protocol.dialects import Dialect

DEFAULT_OUTPUT_LIMIT = 128_000
"""Tokens a response, where nobody declared or documented another limit."""


class LimitSource(StrEnum):
    """Who declared a limit; the first that did wins."""

    LAUNCH = "launch"
    OPERATOR = "operator"
    DOCUMENTED = "documented"
    DEFAULT = "default"


class Policy(StrEnum):
    """What a difference between the wire and the spec does."""

    ENFORCE = "enforce"
    OBSERVE = "observe"


class Isolation(StrEnum):
    """How the agent is kept from the supervisor inside the sandbox."""

    M2 = "M2"
    """Own PID and mount namespace, over-mounted private directories, bounded capabilities."""
    NONE = "none"


class SandboxKind(StrEnum):
    """What the attempt runs in."""

    RUNSC = "runsc"
    PROCESS = "process"


class _Part(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Base of the spec's parts: immutable, named arguments only, unknown fields refused."""


class Limit(_Part, frozen=True, kw_only=True):
    """A number of tokens and who declared it."""

    value: int
    source: LimitSource


class Limits(_Part, frozen=True, kw_only=True):
    """Token limits of every request of the attempt."""

    output_tokens: Limit | None
    """Most tokens one response may have. None is refused by the gate, never guessed there."""
    context: Limit | None = None
    """Context window; None = unknown, written as "no automatic compaction"."""


class Effort(_Part, frozen=True, kw_only=True):
    """The reasoning effort that was asked for."""

    word: str | None = None
    """None = unspecified: what the harness sends is recorded, not judged."""
    raw: bool = False
    """True = passed as --effort-raw: outside the dialect's vocabulary on purpose."""
    thinking_budget: int | None = None
    """Tokens to think with, where the dialect has such a number; None = none was asked for."""


class TaskRef(_Part, frozen=True, kw_only=True):
    """Which task: its name and the digest of its folder."""

    name: str
    sha256: str
    instruction_sha256: str


class ImageRef(_Part, frozen=True, kw_only=True):
    """Which root file system: as asked for, and the digest that was verified on this host."""

    requested: str | None = None
    base: str | None = None
    verified: str | None = None


class HarnessRef(_Part, frozen=True, kw_only=True):
    """Which agent program: `sha256` is the digest of its package manifest."""

    name: str
    version: str
    sha256: str


class ModelRef(_Part, frozen=True, kw_only=True):
    """Which model under which account of the profile."""

    account: str
    id: str


class Correction(_Part, frozen=True, kw_only=True):
    """One change to a request that a harness cannot make itself, declared by its adapter."""

    field: str
    value: int | str
    why: str


class SideRequest(_Part, frozen=True, kw_only=True):
    """A request beside the main ones that an adapter could not switch off, and how it is told."""

    name: str
    body_contains: str
    max_output_tokens: int


class Waits(_Part, frozen=True, kw_only=True):
    """How long requests may be held before the first byte goes back."""

    header_wait_s: int = 300
    """The harness gives up on a silent response after this long."""
    max_wait_s: int = 1200
    """Held per logical call, over all tries."""


class WatchdogLimits(_Part, frozen=True, kw_only=True):
    """When an attempt without progress is stopped."""

    failing_s: int = 900
    silent_s: int = 2400
    stream_live_s: int = 300
    """A stream counts as alive this long after its last semantic event."""
    max_failing_steps: int = 20
    max_context_overflows: int = 3
    max_identical_invalid_calls: int = 10
    max_cut_responses: int = 3
    """Responses in a row that the output limit cut inside a tool call."""


class Deadlines(_Part, frozen=True, kw_only=True):
    """Time limits, without time held by the broker."""

    agent_s: int
    verifier_s: int


class Budget(_Part, frozen=True, kw_only=True):
    """Spending limits of the attempt; None = no limit."""

    requests: int | None = None
    """0 = a launch without a model: no request is expected, none is allowed."""
    output_tokens: int | None = None


class SandboxSpec(_Part, frozen=True, kw_only=True):
    """What the attempt runs in."""

    kind: SandboxKind = SandboxKind.RUNSC
    isolation: Isolation = Isolation.M2
    allow_weak: bool = False
    """True = run even where the isolation self-test fails; recorded as a flag."""
    network: str = "none"
    memory_mb: int = 2048
    cpu_milli: int | None = None
    """Thousandths of a CPU; None = not limited."""


class Artifact(_Part, frozen=True, kw_only=True):
    """A file or folder to keep after the tests, as a task declares it."""

    source: str
    """Absolute path in the sandbox."""
    destination: str | None = None
    """Below the result's artifacts folder; None = the source's own path."""
    exclude: tuple[str, ...] = ()
    """Shell patterns, for a folder's content."""


class Workspace(_Part, frozen=True, kw_only=True):
    """Where the agent works."""

    workdir: str = "/work"
    uid: int = 0
    env: dict[str, str] = {}
    answers: tuple[str, ...] | None = None
    """Absolute paths that a clean run must leave; None = undeclared, then nobody knows."""
    verifier_env: dict[str, str] = {}
    verifier_uid: int = 0
    artifacts: tuple[Artifact, ...] = ()


class Command(_Part, frozen=True, kw_only=True):
    """A program of the user's, and how it is told what the launch declares.

    `{{name}}` in a text stands for a value of the launch; which names there are, and when a text is
    left out, is `harness_adapters.command`'s to say.
    """

    name: str
    version: str
    """The user's own; with the name, the version of the harness `command`."""
    dialects: tuple[Dialect, ...]
    """The first is its native one."""
    argv: tuple[str | tuple[str, ...], ...]
    """A group is left out as a whole where the launch has no value for a name in it."""
    header_wait_s: int
    """How long the program waits for response headers before it asks again."""
    env: dict[str, str] = {}
    stdin: str = ""
    files: dict[str, str] = {}
    """Text by path."""
    cannot_say: tuple[str, ...] = ()
    """Values of the launch that the program has no way to be told."""
    limit_field: str | None = None
    """Where the broker writes the output limit, if the program cannot say it."""
    side_requests: tuple[SideRequest, ...] = ()
    memory_mb: int = 64


class LaunchSpec(_Part, frozen=True, kw_only=True):
    """What the runner resolved and the broker freezes."""

    protocol: int
    profile: str
    task: TaskRef
    image: ImageRef
    harness: HarnessRef
    model: ModelRef
    dialect: Dialect
    limits: Limits
    effort: Effort
    deadlines: Deadlines
    corrections: tuple[Correction, ...] = ()
    side_requests: tuple[SideRequest, ...] = ()
    waits: Waits = Waits()
    watchdog: WatchdogLimits = WatchdogLimits()
    budget: Budget = Budget()
    sandbox: SandboxSpec = SandboxSpec()
    workspace: Workspace = Workspace()
    command: Command | None = None
    """Set for the harness `command` alone."""


class AccountRef(_Part, frozen=True, kw_only=True):
    """The provider identity that pays, as the broker found it; never its secret."""

    name: str
    dialect: Dialect
    base_url: str
    tls: bool
    credential: str
    """Where the key came from: `env:NAME`, `file:PATH`, `none` or `rehearsal`."""
    fingerprint: str | None
    """HMAC of the key under a key of this installation; None without a key."""


class FrozenLaunch(_Part, frozen=True, kw_only=True):
    """The spec with what the broker added; its digest names the attempt's terms in the receipts."""

    spec: LaunchSpec
    account: AccountRef
    policy: Policy = Policy.ENFORCE
    capture: str = "failures"
    allow_fields: tuple[str, ...] = ()
    """Body fields that the profile lets through although the broker's gate denies them."""
