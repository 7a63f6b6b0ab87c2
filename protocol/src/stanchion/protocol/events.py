"""What happens in an attempt, as events; each travels in an envelope with a sequence number.

The supervisor numbers its own events from 1 per attempt; they are acknowledged and sent again after
a cut. The broker merges them with its own and the host's into one stream with one cursor. Readers
tolerate event types they do not know.
"""

from enum import StrEnum

import msgspec

from stanchion.protocol.evidence import Answer, Claim, HostFacts, Stop, VerifierRun, WaitStatus
from stanchion.protocol.exchange import Answered, Asked, Mismatch
from stanchion.protocol.outcome import Graded, Outcome, Score
from stanchion.protocol.transcript import TaskListItem, TranscriptItem
from stanchion.protocol.vitals import Vitals


class AssertedBy(StrEnum):
    """Whose word an event is."""

    SANDBOX = "sandbox"
    BROKER = "broker"
    HOST = "host"


class Stage(StrEnum):
    """The stages of one attempt, in order."""

    ROOTFS = "rootfs"
    SANDBOX = "sandbox"
    LOAD = "load"
    ENROL = "enrol"
    GATE = "gate"
    CONFIGURE = "configure"
    RELAY = "relay"
    SPAWN = "spawn"
    AGENT = "agent"
    FREEZE = "freeze"
    VERIFY = "verify"
    CLASSIFY = "classify"


class StageState(StrEnum):
    """Where a stage is."""

    STARTED = "started"
    COMPLETE = "complete"
    FAILED = "failed"


class StageChanged(msgspec.Struct, frozen=True, kw_only=True, tag="stage"):
    """A stage began or ended."""

    stage: Stage
    state: StageState
    duration_ms: int | None = None
    """Set when it ended."""
    detail: str | None = None


class ConfigWritten(msgspec.Struct, frozen=True, kw_only=True, tag="config"):
    """The harness's configuration as read back from what was written."""

    model: str | None
    base_url: str | None
    output_limit: int | None
    context: int | None
    effort: str | None
    files: dict[str, str] = {}
    """Path to SHA-256 of each file that was written."""


class IsolationChecked(msgspec.Struct, frozen=True, kw_only=True, tag="isolation"):
    """The self-test from inside the agent's namespaces, before the harness started."""

    mode: str
    """`M2` if every check held, else `none`."""
    checks: dict[str, bool]


class HarnessStarted(msgspec.Struct, frozen=True, kw_only=True, tag="harness_started"):
    """The harness was started."""

    argv: tuple[str, ...]
    uid: int


class HarnessEnded(msgspec.Struct, frozen=True, kw_only=True, tag="harness_ended"):
    """The harness and every process of its namespace are gone."""

    wait: WaitStatus | None
    why: str | None = None
    killed_from_inside: bool = False
    namespace_empty: bool


class StepSaved(msgspec.Struct, frozen=True, kw_only=True, tag="step"):
    """The harness saved a step."""

    session: str
    id: str
    reason: str
    """The harness's own word."""
    counts: bool
    """Whether it may count as progress (not compaction, not unknown, no invalid tool call)."""


class TranscriptChanged(msgspec.Struct, frozen=True, kw_only=True, tag="transcript"):
    """An item was saved, or saved again."""

    item: TranscriptItem


class TaskListChanged(msgspec.Struct, frozen=True, kw_only=True, tag="task_list"):
    """The agent's own list, whole."""

    session: str
    items: tuple[TaskListItem, ...]


class VitalsSampled(msgspec.Struct, frozen=True, kw_only=True, tag="vitals"):
    """One sample of the gauges."""

    vitals: Vitals


class OutputStream(StrEnum):
    """Which output a chunk belongs to."""

    HARNESS_STDOUT = "harness_stdout"
    HARNESS_STDERR = "harness_stderr"
    VERIFIER = "verifier"


class OutputWritten(msgspec.Struct, frozen=True, kw_only=True, tag="output"):
    """A piece of what a process wrote."""

    stream: OutputStream
    data: bytes


class FileSent(msgspec.Struct, frozen=True, kw_only=True, tag="file"):
    """A piece of a file that leaves the sandbox: a frozen answer or an artifact."""

    purpose: str
    """`answer` | `artifact` | `session`."""
    path: str
    offset: int
    data: bytes
    last: bool
    sha256: str | None = None
    """Of the whole file, on the last piece."""


class AnswerFrozen(msgspec.Struct, frozen=True, kw_only=True, tag="answer"):
    """State of one declared answer after the agent's namespace was empty."""

    answer: Answer


class VerifierEnded(msgspec.Struct, frozen=True, kw_only=True, tag="verifier_ended"):
    """The task's tests ended."""

    run: VerifierRun


class SecurityNoted(msgspec.Struct, frozen=True, kw_only=True, tag="security"):
    """Something the agent or its processes did to the supervisor's surroundings."""

    what: str
    detail: str


class Warned(msgspec.Struct, frozen=True, kw_only=True, tag="warning"):
    """Something could not be observed or done; the attempt goes on."""

    what: str
    detail: str


class Stopping(msgspec.Struct, frozen=True, kw_only=True, tag="stopping"):
    """The agent is being stopped."""

    stop: Stop


class Claimed(msgspec.Struct, frozen=True, kw_only=True, tag="claim"):
    """The supervisor's last word."""

    claim: Claim


class ExchangeStarted(msgspec.Struct, frozen=True, kw_only=True, tag="exchange_started"):
    """A model request was accepted, checked and receipted; its bytes leave now."""

    exchange: int
    asked: Asked
    side: str | None = None
    """Name of the declared side request that it is; None = a main request."""


class ExchangeAlive(msgspec.Struct, frozen=True, kw_only=True, tag="exchange_alive"):
    """The stream carried semantic events since the last such event (at most one a few seconds)."""

    exchange: int


class ExchangeHeld(msgspec.Struct, frozen=True, kw_only=True, tag="exchange_held"):
    """The broker's pacer began or ended holding a request."""

    exchange: int
    holding: bool
    why: str | None = None
    """What it waits for, in words; with the beginning only."""


class ExchangeEnded(msgspec.Struct, frozen=True, kw_only=True, tag="exchange_ended"):
    """A model request ended."""

    exchange: int
    answered: Answered
    side: str | None = None
    """Name of the declared side request that it was; None = a main request."""


class RequestDenied(msgspec.Struct, frozen=True, kw_only=True, tag="denied"):
    """A request was refused at the broker's gate and never sent."""

    why: str


class MismatchFound(msgspec.Struct, frozen=True, kw_only=True, tag="mismatch"):
    """A request differs from the launch spec."""

    mismatch: Mismatch


class RunOpened(msgspec.Struct, frozen=True, kw_only=True, tag="run_opened"):
    """The attempt's terms are frozen."""

    spec_sha256: str


class HostReported(msgspec.Struct, frozen=True, kw_only=True, tag="host"):
    """What the launcher saw after the sandbox ended."""

    host: HostFacts


class RunClosed(msgspec.Struct, frozen=True, kw_only=True, tag="run_closed"):
    """The last event of an attempt."""

    outcome: Outcome
    graded: Graded
    score: Score
    head: str
    """Digest of the last receipt."""


Event = (
    StageChanged
    | ConfigWritten
    | IsolationChecked
    | HarnessStarted
    | HarnessEnded
    | StepSaved
    | TranscriptChanged
    | TaskListChanged
    | VitalsSampled
    | OutputWritten
    | FileSent
    | AnswerFrozen
    | VerifierEnded
    | SecurityNoted
    | Warned
    | Stopping
    | Claimed
    | ExchangeStarted
    | ExchangeAlive
    | ExchangeHeld
    | ExchangeEnded
    | RequestDenied
    | MismatchFound
    | RunOpened
    | HostReported
    | RunClosed
)


class Unknown(msgspec.Struct, frozen=True, kw_only=True):
    """An event of a type this version does not know, kept as it came."""

    type: str
    raw: bytes


class Envelope(msgspec.Struct, frozen=True, kw_only=True):
    """One event of the supervisor, as it travels."""

    seq: int
    """From 1, without gaps, per attempt."""
    boot: str
    """Random per supervisor start: a second one is never mistaken for the first."""
    mono_ms: int
    wall_ms: int
    """The sandbox's clock, for people only."""
    event: Event


class StreamEntry(msgspec.Struct, frozen=True, kw_only=True):
    """One event in the broker's merged stream of an attempt."""

    cursor: str
    """`<epoch>.<seq>`; pass it as `after` to read on."""
    at_ms: int
    """The broker's wall clock, milliseconds since 1970."""
    asserted_by: AssertedBy
    event: msgspec.Raw


class _Tag(msgspec.Struct):
    type: str = ""


_decoder = msgspec.json.Decoder(Event)
_tag_decoder = msgspec.json.Decoder(_Tag)


def tag_of(raw: bytes | msgspec.Raw) -> str:
    """The type that an event names, whatever else is in it; empty = none."""
    try:
        return _tag_decoder.decode(raw).type
    except msgspec.DecodeError:
        return ""


def decode_event(raw: bytes | msgspec.Raw) -> Event | Unknown:
    """The event in `raw`, or Unknown where its type is new or its fields do not fit."""
    try:
        return _decoder.decode(raw)
    except msgspec.ValidationError:
        return Unknown(type=tag_of(raw), raw=bytes(raw))
