"""The response object of OpenAI's responses API, its items, and how it says that it ended.

The shapes follow OpenAI's public API reference ("The response object") and the types of its Python
SDK. It decides documents, for a stream as for one body, and must never read a request.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from stanchion.rehearsal.dialects.building import Json, arguments_said, sealed
from stanchion.rehearsal.dialects.reply import Identity
from stanchion.rehearsal.script import Usage
from stanchion.rehearsal.turns import Answer, Asked, Ending

FREE_TEXT = "input"
"""The argument that a tool of free text takes as it stands."""
_REASONS = {"length": "max_output_tokens"}
_COMPLETED = (None, "stop", "tool_calls")
"""A script's words are those of OpenAI chat; any other is sent as the reason of an incomplete
response."""


@dataclass(frozen=True, slots=True)
class Call:
    """One tool call of an answer."""

    index: int
    name: str
    said: str
    free: bool
    """Whether its tool takes free text in place of JSON."""
    cut: bool
    """Whether the limit struck within it."""

    @property
    def field(self) -> str:
        """Where an item and an event have what the tool is given."""
        return FREE_TEXT if self.free else "arguments"


def state_of(answer: Answer) -> tuple[str | None, str | None]:
    """The status of the response, and the reason of one that is incomplete."""
    if answer.ending is not Ending.WHOLE:
        return None, None
    if answer.finish is None or answer.finish in _COMPLETED:
        return "completed", None
    return "incomplete", _REASONS.get(answer.finish, answer.finish)


def response_of(
    asked: Asked, identity: Identity, status: str | None, over: Mapping[str, object] | None = None
) -> Json:
    """A response as it stands at one moment."""
    return {
        "id": f"resp_{identity.token}",
        "object": "response",
        "created_at": identity.created_s,
        "status": status,
        "background": False,
        "error": None,
        "incomplete_details": None,
        "instructions": None,
        "max_output_tokens": asked.max_output_tokens,
        "metadata": {},
        "model": asked.model,
        "output": [],
        "parallel_tool_calls": True,
        "previous_response_id": None,
        "reasoning": {"effort": asked.reasoning_effort, "summary": None},
        "service_tier": "default",
        "store": False,
        "temperature": 1.0,
        "tool_choice": "auto",
        "tools": [],
        "top_p": 1.0,
        "truncation": "disabled",
        "usage": None,
        **(over or {}),
    }


def final_response(asked: Asked, answer: Answer, identity: Identity) -> Json:
    """The response at its end, with all of its items."""
    status, reason = state_of(answer)
    over: Json = {"output": list(items_of(asked, answer, identity))}
    if reason is not None:
        over["incomplete_details"] = {"reason": reason}
    if answer.usage is not None:
        over["usage"] = _usage(answer.usage)
    return response_of(asked, identity, status, over)


def items_of(asked: Asked, answer: Answer, identity: Identity) -> Iterator[Json]:
    """Each item as it ends."""
    if answer.reasoning:
        yield reasoning_item(answer.reasoning, identity)
    if text := answer.text + "".join(answer.echo):
        yield message_item(text, identity)
    for call in calls_of(asked, answer):
        yield call_item(call, identity)


def reasoning_item(text: str, identity: Identity) -> Json:
    """Reasoning that has ended; empty text is one that has just begun."""
    item: Json = {"id": f"rs_{identity.token}", "type": "reasoning", "summary": []}
    if text:
        item |= {"summary": [summary_part(text)], "encrypted_content": sealed(text)}
    return item


def message_item(text: str, identity: Identity) -> Json:
    """A message that has ended; empty text is one that has just begun."""
    return {
        "id": f"msg_{identity.token}",
        "type": "message",
        "status": "completed" if text else "in_progress",
        "role": "assistant",
        "content": [text_part(text)] if text else [],
    }


def call_item(call: Call, identity: Identity, *, begun: bool = False) -> Json:
    """A call that has ended, or has just begun."""
    ended = "incomplete" if call.cut else "completed"
    return {
        "id": call_place(call, identity),
        "type": "custom_tool_call" if call.free else "function_call",
        "status": "in_progress" if begun else ended,
        "call_id": f"call_{identity.token[:20]}{call.index:04d}",
        "name": call.name,
        call.field: "" if begun else call.said,
    }


def call_place(call: Call, identity: Identity) -> str:
    """The id of a call's item, which is another than the id of the call."""
    return f"{'ctc' if call.free else 'fc'}_{identity.token[:20]}{call.index:04d}"


def calls_of(asked: Asked, answer: Answer) -> Iterator[Call]:
    """Each call with what its tool is given: JSON text, or free text."""
    last = len(answer.calls) - 1
    for index, (call, arguments) in enumerate(arguments_said(answer)):
        free, cut = call.name in asked.free_tools, answer.cut_call and index == last
        text = call.arguments.get(FREE_TEXT)
        if free and isinstance(text, str):
            said = text[: len(text) // 2] if cut else text
        else:
            said = arguments
        yield Call(index=index, name=call.name, said=said, free=free, cut=cut)


def summary_part(text: str) -> Json:
    return {"type": "summary_text", "text": text}


def text_part(text: str) -> Json:
    return {"type": "output_text", "annotations": [], "logprobs": [], "text": text}


def _usage(usage: Usage) -> Json:
    document: Json = {
        "input_tokens": usage.prompt_tokens,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": usage.completion_tokens,
        "total_tokens": usage.prompt_tokens + usage.completion_tokens,
    }
    if usage.reasoning_tokens is not None:
        document["output_tokens_details"] = {"reasoning_tokens": usage.reasoning_tokens}
    return document
