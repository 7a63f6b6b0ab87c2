"""Which turn of a script answers a request, decided from the request alone.

The position is the number of assistant messages after the first user message, so a retry of the
same request gets the same turn and the provider keeps no state. This module must never look at
a dialect's wire format: a dialect hands in what was asked and renders what comes out.
"""

from dataclasses import dataclass
from enum import StrEnum

from stanchion.rehearsal.faults.kinds import Fault
from stanchion.rehearsal.habits import fitted, offered
from stanchion.rehearsal.script import Script, ToolCall, Turn, Usage

BYTES_PER_TOKEN = 4
"""A rule of thumb for English text, good enough for counts that only have to be plausible."""

ALL_DONE = Turn(text="All turns of the script are done.")
SIDE_ANSWER = Turn(text="Rehearsal")
"""The answer to a title or summary request: it offers no tools and takes no turn."""


@dataclass(frozen=True, slots=True)
class Asked:
    """One request, as a dialect understood it."""

    model: str
    stream: bool
    include_usage: bool
    tools: tuple[str, ...]
    turns_taken: int
    body_bytes: int
    conversation: str
    """Digest of the messages: the same for a retry, whatever else changed in the request."""
    max_tokens: object = None
    max_completion_tokens: object = None
    reasoning_effort: object = None
    thinking_type: object = None
    thinking_budget_tokens: object = None
    max_output_tokens: object = None
    """The last six are for the witness: whatever stood there, None if nothing did."""
    free_tools: frozenset[str] = frozenset()
    """Those of the tools that take free text in place of JSON."""


class Ending(StrEnum):
    """How much of its ending an answer has."""

    WHOLE = "whole"
    MARKER = "marker"
    """The dialect's end marker, without the reason before it."""
    NOTHING = "nothing"


@dataclass(frozen=True, slots=True)
class Answer:
    """What to say, before a dialect gives it a form."""

    turn: int | None
    """Position in the script (beyond its end: the closing text); None for a side request."""
    reasoning: str
    text: str
    calls: tuple[ToolCall, ...]
    finish: str | None
    usage: Usage | None
    gap_ms: int
    hold_s: float
    paused: bool
    model: str | None = None
    """The id that it names; None: the one that was asked for."""
    fault: Fault | None = None
    """What the script wants to go wrong, which may be over by this request."""
    echo: tuple[str, ...] = ()
    """Text after the text, each part as one delta."""
    ending: Ending = Ending.WHOLE
    cut_call: bool = False
    """The arguments of the last tool call stop half-way."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """A request that gets an error instead of a turn."""

    status: int
    message: str
    kind: str | None = None
    """None: the dialect's own word for the status."""
    param: str | None = None
    code: str | None = None
    turn: int | None = None


def choose(script: Script, asked: Asked) -> Answer | Refusal:
    """The answer this request gets each time it is sent."""
    gap_ms = script.defaults.gap_ms
    if not asked.tools:
        return _answer(SIDE_ANSWER, (), None, asked, gap_ms)
    position = asked.turns_taken
    turn = script.turn[position] if position < len(script.turn) else ALL_DONE
    calls: list[ToolCall] = []
    for call in turn.tool:
        if call.only_tool and len(asked.tools) > 1:
            continue
        name = offered(call.name, asked.tools)
        if name is None:
            return _not_offered(position, call.name, asked.tools)
        fitting = fitted(call.name, name, call.arguments)
        calls.append(ToolCall(name=name, arguments=fitting))
    return _answer(turn, tuple(calls), position, asked, gap_ms)


def _answer(
    turn: Turn, calls: tuple[ToolCall, ...], position: int | None, asked: Asked, gap_ms: int
) -> Answer:
    return Answer(
        turn=position,
        reasoning=turn.reasoning,
        text=turn.text,
        calls=calls,
        finish=turn.finish,
        usage=_usage(turn, calls, asked),
        gap_ms=gap_ms if turn.gap_ms is None else turn.gap_ms,
        hold_s=turn.hold_s,
        paused=turn.pause is not None,
        model=turn.model,
        fault=turn.fault,
    )


def _not_offered(position: int, name: str, offered: tuple[str, ...]) -> Refusal:
    return Refusal(
        status=400,
        message=(
            f"turn {position} of the rehearsal script calls the tool {name!r}, which this request "
            f"does not offer; name one of: {', '.join(offered)}"
        ),
        param="tools",
        code="tool_not_offered",
        turn=position,
    )


def _usage(turn: Turn, calls: tuple[ToolCall, ...], asked: Asked) -> Usage | None:
    if isinstance(turn.usage, Usage):
        return turn.usage
    if turn.usage is False:
        return None
    said = turn.text + "".join(f"{call.name}{call.arguments}" for call in calls)
    reasoning_tokens = tokens(len(turn.reasoning.encode()))
    return Usage(
        prompt_tokens=tokens(asked.body_bytes),
        completion_tokens=reasoning_tokens + tokens(len(said.encode())),
        reasoning_tokens=reasoning_tokens,
    )


def tokens(size_bytes: int) -> int:
    """A plausible count for so many bytes of text."""
    return -(-size_bytes // BYTES_PER_TOKEN)
