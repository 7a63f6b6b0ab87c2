"""From turns to ATIF steps: words from the conversation, figures from the receipts. Pure.

What a step asserts about the provider is the broker's word wherever the step could be joined with a
response on record, and is marked as the sandbox's where it could not.
"""

import datetime as dt
from collections.abc import Mapping
from typing import Any

import msgspec

from stanchion.protocol.transcript import ItemKind, ToolUse
from stanchion.protocol.usage import Usage
from stanchion.runner.trajectory.atif import (
    OWN,
    Metrics,
    Observation,
    Result,
    Step,
    SubagentRef,
    ToolCall,
)
from stanchion.runner.trajectory.joining import Joined
from stanchion.runner.trajectory.turns import Turn
from stanchion.runner.trajectory.wire import Response, completion_tokens, prompt_tokens

ENDED = frozenset({"completed", "error"})
COMPACTED = "the conversation was compacted"


def step_of(number: int, turn: Turn, joined: Joined, sub_agents: Mapping[str, str]) -> Step:
    """`sub_agents` are sessions by the id of the call that began them."""
    if turn.source != "agent":
        return _other(number, turn)
    response = joined.response
    return Step(
        step_id=number,
        source="agent",
        message="\n".join(turn.texts),
        timestamp=_time(turn.at_ms),
        model_name=None if response is None else response.answered.model_served,
        reasoning_effort=None if response is None else response.sent.effort,
        reasoning_content="\n".join(turn.reasoning) or None,
        tool_calls=[_call(item, tool) for item, tool in turn.tools] or None,
        observation=_observation(turn, sub_agents),
        metrics=_metrics(turn, response),
        llm_call_count=None if response is None else 1,
        extra={OWN: _evidence(turn, joined)},
    )


def _other(number: int, turn: Turn) -> Step:
    text = "\n".join(turn.texts)
    return Step(
        step_id=number,
        source=turn.source,
        message=text or (COMPACTED if turn.kind is ItemKind.COMPACTION else ""),
        timestamp=_time(turn.at_ms),
        extra=None if turn.kind is None else {OWN: {"kind": str(turn.kind)}},
    )


def _call(item: str, tool: ToolUse) -> ToolCall:
    try:
        arguments = msgspec.json.decode(tool.arguments or "{}", type=dict[str, Any])
        raw = {}
    except (msgspec.DecodeError, RecursionError):
        arguments, raw = {}, {"arguments_text": tool.arguments}
    named = {} if tool.call_id is not None else {"call_id": None}
    return ToolCall(
        tool_call_id=tool.call_id or item,
        function_name=tool.name,
        arguments=arguments,
        extra={OWN: {"status": tool.status, **raw, **named}},
    )


def _observation(turn: Turn, sub_agents: Mapping[str, str]) -> Observation | None:
    results = [
        Result(
            source_call_id=tool.call_id or item,
            content=tool.output or "",
            subagent_trajectory_ref=_sub_agent(sub_agents.get(tool.call_id or item)),
            extra={OWN: {"status": tool.status}},
        )
        for item, tool in turn.tools
        if tool.status in ENDED
    ]
    return Observation(results=results) if results else None


def _sub_agent(session: str | None) -> list[SubagentRef] | None:
    return None if session is None else [SubagentRef(trajectory_id=session, session_id=session)]


def _metrics(turn: Turn, response: Response | None) -> Metrics | None:
    if response is not None:
        answered, usage = response.answered, response.answered.usage or Usage()
        return Metrics(
            prompt_tokens=prompt_tokens(answered),
            completion_tokens=completion_tokens(answered),
            cached_tokens=usage.cache_read_tokens,
            extra=_by("broker", usage.reasoning_tokens),
        )
    if turn.usage is None:
        return None
    return Metrics(
        prompt_tokens=turn.usage.input_tokens,
        completion_tokens=turn.usage.output_tokens,
        cached_tokens=turn.usage.cache_read_tokens,
        extra=_by("sandbox", turn.usage.reasoning_tokens),
    )


def _by(who: str, reasoning_tokens: int | None) -> dict[str, Any]:
    return {"reasoning_tokens": reasoning_tokens, OWN: {"asserted_by": who}}


def _evidence(turn: Turn, joined: Joined) -> dict[str, Any]:
    own: dict[str, Any] = {"finish_saved": turn.finish, "end_saved": turn.ended}
    response = joined.response
    if response is None:
        return {**own, "exchange": None, "why": joined.why}
    answered = response.answered
    return {
        **own,
        "exchange": response.exchange,
        "joined_by": joined.by,
        "record_sha256": response.record_sha256,
        "response_id": answered.response_id,
        "provider_request_id": answered.provider_request_id,
        "finish": answered.finish,
        "finish_raw": answered.finish_raw,
        "reasoning_present": answered.reasoning_present,
        "output_limit": response.sent.output_limit,
        "corrections": response.corrections,
        "tries": response.tries,
        "held_ms": response.held_ms,
    }


def _time(at_ms: int | None) -> str | None:
    """None too for a time that no clock shows."""
    try:
        moment = None if at_ms is None else dt.datetime.fromtimestamp(at_ms / 1000, tz=dt.UTC)
    except (ValueError, OverflowError, OSError):
        return None
    return None if moment is None else moment.isoformat(timespec="milliseconds")
