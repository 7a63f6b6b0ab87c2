"""What is started, and how that ended.

Pure values. `judge` decides what may be said about an end: a status is either reported by the shim
or unknown with a reason, never guessed from how the shim itself went.
"""

import os
import signal
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum, auto

from stanchion.protocol.evidence import WaitStatus
from stanchion.protocol.launch import Isolation
from stanchion.supervisor.isolation.reports import Ended, ExecFailed


class IsolationError(OSError):
    """The system did not let the agent be put where it belongs; nothing of it has run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One program to run where it can reach nothing of the supervisor."""

    argv: tuple[str, ...]
    env: Mapping[str, str]
    cwd: str
    uid: int = 0
    stdin: bytes = b""
    hidden: tuple[str, ...] = ()
    """Folders that get an empty read-only file system over them."""
    isolation: Isolation = Isolation.M2


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessEnd:
    """How a job ended."""

    wait: WaitStatus | None
    why: str | None
    """Why `wait` is None."""
    killed_from_inside: bool
    namespace_empty: bool
    """Proved: no process of the job is left."""
    ended_mono_ms: int


class Intent(Enum):
    """What the supervisor itself did that can have ended the shim."""

    NONE = auto()
    ABANDONED = auto()
    KILLED = auto()
    KILLED_AS_STOPPED = auto()
    """The agent kept the shim from reporting by stopping it again and again."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """The part of an end that follows from reports."""

    wait: WaitStatus | None
    why: str | None
    killed_from_inside: bool


def judge(last: Ended | ExecFailed | None, shim_status: int | None, intent: Intent) -> Verdict:
    """What the shim's last report and its own raw wait status add up to."""
    if isinstance(last, Ended):
        return Verdict(WaitStatus(exit_code=last.exit_code, signal=last.signal), None, False)
    if isinstance(last, ExecFailed):
        return Verdict(None, f"{last.step} failed: {os.strerror(last.errno)}", False)
    if intent is Intent.ABANDONED:
        return Verdict(None, "never started: the supervisor gave it up", False)
    if intent is Intent.KILLED:
        return Verdict(None, "killed by the supervisor", False)
    if intent is Intent.KILLED_AS_STOPPED:
        why = "the agent's leftovers kept stopping the shim, so it could not report"
        return Verdict(None, why, True)
    return Verdict(None, f"the shim {_went(shim_status)} without a report", True)


def _went(status: int | None) -> str:
    if status is None:
        return "went, nobody saw how,"
    code = os.waitstatus_to_exitcode(status)
    return f"exited with {code}" if code >= 0 else f"was ended by {signal.Signals(-code).name}"
