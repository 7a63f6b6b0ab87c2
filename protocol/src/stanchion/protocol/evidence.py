"""The facts that an outcome is decided from, by who may assert them.

The sandbox's word is a *claim*; host facts come from the keeper; wire facts from the broker.
None always means "not observed".
"""

from enum import StrEnum

import msgspec

from stanchion.protocol.call_match import CallMatch
from stanchion.protocol.exchange import ErrorClass, Finish, Mismatch
from stanchion.protocol.refusal import Refusal


class WaitStatus(msgspec.Struct, frozen=True, kw_only=True):
    """How a process ended, from its raw wait status: exactly one of the two is set."""

    exit_code: int | None = None
    signal: int | None = None


class StopReason(StrEnum):
    """Why the supervisor or the broker stopped the agent."""

    STALLED_FAILING = "stalled_failing"
    STALLED_SILENT = "stalled_silent"
    LENGTH_STOP = "length_stop"
    DEADLINE = "deadline"
    MISMATCH = "mismatch"
    PROVIDER_REFUSED = "provider_refused"
    RATE_LIMITED = "rate_limited"
    BUDGET = "budget"
    CANCELLED = "cancelled"
    BROKER_LOST = "broker_lost"


class Stop(msgspec.Struct, frozen=True, kw_only=True):
    """A decision to stop the agent, with what it rests on."""

    reason: StopReason
    detail: str


class SessionState(StrEnum):
    """How the harness's own record of its session ended."""

    GOOD = "good"
    """The last message of the root session finished, with content and without an error."""
    ERROR = "error"
    MID_TURN = "mid_turn"
    LENGTH = "length"
    REJECTED = "rejected"
    """A permission was rejected: the harness gave up although it exited 0."""
    EMPTY = "empty"
    """A finished last message with nothing in it."""
    UNKNOWN = "unknown"


class SessionEnd(msgspec.Struct, frozen=True, kw_only=True):
    """What the harness's own store says about the end."""

    state: SessionState
    detail: str | None = None
    steps: int | None = None
    """Saved steps that count as progress."""


class AnswerState(StrEnum):
    """What became of a declared answer path."""

    PRESENT = "present"
    ABSENT = "absent"
    """Never written: a wrong answer, scorable."""
    LOST = "lost"
    """Was there and is gone, empty or shorter at the end."""


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """One declared answer path at the end of the agent."""

    path: str
    state: AnswerState
    size_bytes: int | None = None
    sha256: str | None = None


class VerifierRun(msgspec.Struct, frozen=True, kw_only=True):
    """What the task's tests did. None in `wait` = killed at their deadline."""

    wait: WaitStatus | None
    timed_out: bool
    reward_text: str | None
    """The reward file as written, at most 64 KiB; None = no such file."""
    reward_file: str | None
    """`reward.json` or `reward.txt`."""
    network_refused: bool | None = None
    """Whether something asked for the outside meanwhile; None = could not be observed."""
    duration_ms: int
    error: str | None = None
    """Why the tests could not be run at all."""
    reward_error: str | None = None
    """Why a reward file that is there was not read."""
    network_why: str | None = None
    """What was counted, or why nothing could be."""


class Claim(msgspec.Struct, frozen=True, kw_only=True):
    """The supervisor's last word on how the agent ended."""

    refusal: Refusal | None = None
    wait: WaitStatus | None = None
    """Raw status of the harness; None = it never started, or nobody could say."""
    wait_why: str | None = None
    stop: Stop | None = None
    killed_from_inside: bool = False
    """The shim went without a report: something in the agent's namespace killed it."""
    session: SessionEnd | None = None
    answers: tuple[Answer, ...] | None = None
    progress_age_ms: int | None = None
    """Since the last progress when the agent ended; None = there was none."""
    hung_after_end: bool = False
    """The harness lingered after its session ended well, and was stopped."""
    died_mono_ms: int | None = None
    verifier: VerifierRun | None = None
    isolation: str | None = None
    agent_ms: int | None = None


class HostFacts(msgspec.Struct, frozen=True, kw_only=True):
    """What the launcher on the host saw. Asserted by the host."""

    sandbox_exit: int | None = None
    """Exit code of the sandbox runtime; None = it did not run or is not known."""
    sandbox_started: bool = True
    start_error: str | None = None
    oom_kills: int | None = None
    """Kills by the memory limit, counted by the host's cgroup after the exit."""
    oom_kills_why: str | None = None
    oom_rose_before_end: bool | None = None
    """Whether the counter rose in the 20 s before the harness ended."""
    limits_enforced: bool = False
    memory_peak_bytes: int | None = None
    killed_at_deadline: bool = False
    """The launcher's own deadline fired: nothing inside had ended the attempt."""
    sandbox_start_ms: int | None = None
    """From starting the runtime to the supervisor's first message."""
    total_ms: int | None = None
    lost_why: str | None = None
    """Why nobody was there to see the end; set where no launcher reported it."""


class WireFacts(msgspec.Struct, frozen=True, kw_only=True):
    """What the broker saw over all exchanges of the attempt."""

    exchanges: int = 0
    completed: int = 0
    """Completed responses with content."""
    whole: int | None = None
    """Completed responses, with or without content; None = not counted by that version."""
    last_finish: Finish | None = None
    last_result_ok: bool | None = None
    """Whether the last exchange ended with a terminal event; None without an exchange."""
    last_has_content: bool | None = None
    """Whether the last exchange brought text or a tool call; None = none, or not recorded."""
    last_left: bool | None = None
    """Whether the last exchange ended because the harness hung up, or its lease was over; None =
    none, or not recorded by that version."""
    length_stops: int = 0
    mismatch: Mismatch | None = None
    enforced: bool = True
    provider_refused: ErrorClass | None = None
    """Set where the last exchange was refused for auth, billing, quota, model or limit."""
    gave_up: bool = False
    held_ms: int = 0
    budget_spent: str | None = None
    models_served: tuple[str, ...] = ()
    secret_scrubbed: bool = False
    """A provider echoed its key, which was masked before it left the broker."""


class Evidence(msgspec.Struct, frozen=True, kw_only=True):
    """All of it."""

    cancelled: bool = False
    claim: Claim | None = None
    """None = the supervisor's last record never came."""
    host: HostFacts = HostFacts()
    wire: WireFacts = WireFacts()
    broker_lost: bool = False
    ordered: Stop | None = None
    """What the broker told the supervisor to stop for; None = nothing."""
    model_asked: str | None = None
    effort_declared: bool = True
    isolation_asked: str = "M2"
    answers_declared: bool = False
    model_expected: bool = True
    """False = the launch allows no request, so that none is missed."""
    calls: CallMatch | None = None
    """Tool calls on the wire against those of the saved conversation; None = not compared."""
