"""What the sensors tell the watchdog: plain values, without a clock of their own."""

from dataclasses import dataclass

from stanchion.protocol.exchange import Answered


@dataclass(frozen=True, slots=True)
class RequestStarted:
    """The broker accepted a model request."""

    exchange: int


@dataclass(frozen=True, slots=True)
class StreamAlive:
    """A response carried semantic events."""

    exchange: int


@dataclass(frozen=True, slots=True)
class RequestHeld:
    """The broker's pacer began or ended holding a request."""

    exchange: int
    holding: bool


@dataclass(frozen=True, slots=True)
class RequestEnded:
    """A model request ended."""

    exchange: int
    answered: Answered
    side: bool = False
    """Whether it was a declared side request, which is a sign of life and nothing more."""


@dataclass(frozen=True, slots=True)
class Step:
    """The harness saved a step."""

    session: str
    reason: str
    counts: bool


@dataclass(frozen=True, slots=True)
class ToolFailed:
    """The harness saved a tool call that ended in an error."""

    item: str
    call: str
    """Name and arguments: what makes two calls identical."""


@dataclass(frozen=True, slots=True)
class ToolsActive:
    """A process below the harness used CPU or is new."""


@dataclass(frozen=True, slots=True)
class HarnessActive:
    """The harness itself used more CPU than an idle one."""


@dataclass(frozen=True, slots=True)
class Tick:
    """Time passed."""


Evidence = (
    RequestStarted
    | StreamAlive
    | RequestHeld
    | RequestEnded
    | Step
    | ToolFailed
    | ToolsActive
    | HarnessActive
    | Tick
)
