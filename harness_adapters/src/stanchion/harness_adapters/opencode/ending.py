"""Whether the last answer of OpenCode's root session is an end that can be trusted.

Its exit code cannot: it is 0 for an answer cut at its limit, an empty one and a rejected
permission (OpenCode issues #42900, #42677, #36413). Only a finished, error-free message with text
is good; everything else is named.
"""

from dataclasses import dataclass, field

from stanchion.protocol.evidence import SessionEnd, SessionState

COUNTING = frozenset({"stop", "tool-calls", "length"})
"""Reasons of a complete response. `unknown` is none: OpenCode asks again, for ever, on each."""
_REJECTED = "rejected permission"
_INVALID = "was called with invalid arguments"


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool call as last saved."""

    name: str
    status: str
    error: str | None

    @property
    def invalid(self) -> bool:
        """The call itself was wrong: no such tool, or arguments that do not fit it."""
        return self.name == "invalid" or (self.error is not None and _INVALID in self.error)

    @property
    def rejected(self) -> bool:
        """A permission was asked for and refused."""
        return self.error is not None and _REJECTED in self.error


@dataclass(slots=True)
class Answer:
    """A message, as far as its end depends on it."""

    session: str
    role: str
    finish: str | None = None
    error: str | None = None
    summary: bool = False
    texts: set[str] = field(default_factory=set)
    """Ids of its parts with text."""
    tools: dict[str, Tool] = field(default_factory=dict)


def ending(last: Answer | None, *, steps: int | None, printed: str | None) -> SessionEnd:
    """What the root session's last answer amounts to; `printed` is an error said elsewhere."""
    if last is not None:
        state, detail = _judge(last)
        return SessionEnd(state=state, detail=detail, steps=steps)
    if printed is not None:
        return SessionEnd(state=SessionState.ERROR, detail=printed, steps=steps)
    nothing = "no answer of the model was saved"
    return SessionEnd(state=SessionState.UNKNOWN, detail=nothing, steps=steps)


def _judge(last: Answer) -> tuple[SessionState, str | None]:
    running = [tool.name for tool in last.tools.values() if tool.status == "running"]
    if last.error is not None:
        return SessionState.ERROR, last.error
    if running:
        return SessionState.MID_TURN, f"the tool {running[0]} was still running"
    if last.finish is None:
        return SessionState.MID_TURN, "the last response was never finished"
    if last.summary:
        return SessionState.MID_TURN, "a compaction was the last response"
    return _judge_finish(last, last.finish)


def _judge_finish(last: Answer, finish: str) -> tuple[SessionState, str | None]:
    if finish == "length":
        return SessionState.LENGTH, "the last response was cut at its output limit"
    if finish == "tool-calls":
        if any(tool.rejected for tool in last.tools.values()):
            return SessionState.REJECTED, "a permission was rejected and the run ended there"
        return SessionState.MID_TURN, "tools were called and nothing followed"
    if finish != "stop":
        return SessionState.ERROR, f"the last response ended with the reason {finish[:100]!r}"
    if not last.texts:
        return SessionState.EMPTY, "the last response stopped with no text"
    return SessionState.GOOD, None
