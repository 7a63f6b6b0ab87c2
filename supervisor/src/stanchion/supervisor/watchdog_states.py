"""The states of an agent under watch, and every move between them, as one literal table. Pure.

The reference page of the watchdog and its diagram are written from here; nothing else decides where
a state leads.
"""

from collections.abc import Mapping
from enum import StrEnum


class State(StrEnum):
    """What the agent is doing."""

    RUNNING = "running"
    FAILING = "failing"
    WAITING = "waiting"
    WAITING_FAILED = "waiting_failed"
    STOPPED = "stopped"


class Observed(StrEnum):
    """What the evidence amounts to; evidence that amounts to none of these leaves the state."""

    PROGRESS = "progress"
    FAILURE = "failure"
    HELD = "held"
    LET_GO = "let_go"
    LIMIT = "limit"


MEANING: Mapping[State | Observed, str] = {
    State.RUNNING: "nothing failed since the last progress",
    State.FAILING: "something failed since the last progress",
    State.WAITING: "running, but for a request that the broker holds: every clock stands still",
    State.WAITING_FAILED: "failing, but for a request that the broker holds: every clock stands"
    " still",
    State.STOPPED: "the decision is made, and stands",
    Observed.PROGRESS: "a completed response with content belongs to a saved step; before the first"
    " saved step the response alone",
    Observed.FAILURE: "a request failed or brought nothing, or a step was saved that came to"
    " nothing",
    Observed.HELD: "the broker's pacer holds a request, and nothing else runs",
    Observed.LET_GO: "it no longer does, or something else runs",
    Observed.LIMIT: "one of the limits below is reached",
}

TRANSITIONS: Mapping[State, Mapping[Observed, State]] = {
    State.RUNNING: {
        Observed.PROGRESS: State.RUNNING,
        Observed.FAILURE: State.FAILING,
        Observed.HELD: State.WAITING,
        Observed.LET_GO: State.RUNNING,
        Observed.LIMIT: State.STOPPED,
    },
    State.FAILING: {
        Observed.PROGRESS: State.RUNNING,
        Observed.FAILURE: State.FAILING,
        Observed.HELD: State.WAITING_FAILED,
        Observed.LET_GO: State.FAILING,
        Observed.LIMIT: State.STOPPED,
    },
    State.WAITING: {
        Observed.PROGRESS: State.WAITING,
        Observed.FAILURE: State.WAITING_FAILED,
        Observed.HELD: State.WAITING,
        Observed.LET_GO: State.RUNNING,
        Observed.LIMIT: State.WAITING,
    },
    State.WAITING_FAILED: {
        Observed.PROGRESS: State.WAITING,
        Observed.FAILURE: State.WAITING_FAILED,
        Observed.HELD: State.WAITING_FAILED,
        Observed.LET_GO: State.FAILING,
        Observed.LIMIT: State.WAITING_FAILED,
    },
    State.STOPPED: dict.fromkeys(Observed, State.STOPPED),
}

WAITS = frozenset({State.WAITING, State.WAITING_FAILED})
