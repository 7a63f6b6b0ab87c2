"""The server-sent events of one Anthropic message, and the values a whole message shares.

The order and the fields follow Anthropic's public reference "Streaming messages": usage is
cumulative, the tool input comes as text, a thinking block ends with its signature. It decides
bytes and must never read a request.
"""

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, count

import msgspec

from stanchion.rehearsal.dialects.building import (
    Json,
    argument_fragments,
    arguments_said,
    sealed,
    word_groups,
)
from stanchion.rehearsal.dialects.reply import Identity
from stanchion.rehearsal.script import Usage
from stanchion.rehearsal.turns import Answer, Asked, Ending, Refusal

STOP_REASONS = {"tool_calls": "tool_use", "stop": "end_turn", "length": "max_tokens"}
"""A script's words are those of OpenAI chat; any other is sent as it stands."""
_ERROR_TYPES = {
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    409: "conflict_error",
    413: "request_too_large",
    429: "rate_limit_error",
    504: "timeout_error",
    529: "overloaded_error",
}


def event(document: Json) -> bytes:
    """One event, named by the type of its document."""
    return b"event: %s\ndata: %s\n\n" % (
        str(document["type"]).encode(),
        msgspec.json.encode(document),
    )


def error_document(refusal: Refusal) -> Json:
    other = "api_error" if refusal.status >= 500 else "invalid_request_error"
    kind = refusal.kind or _ERROR_TYPES.get(refusal.status, other)
    return {"type": "error", "error": {"type": kind, "message": refusal.message}}


def message_events(asked: Asked, answer: Answer, identity: Identity) -> Iterator[bytes]:
    """All events of the answer; of a paused one, those up to the end of its reasoning."""
    yield event({"type": "message_start", "message": _start(asked, answer, identity)})
    indexes = count()
    if answer.reasoning:
        yield from _thinking(next(indexes), answer)
    if answer.paused:
        return
    if parts := (*word_groups(answer.text), *answer.echo):
        deltas = ({"type": "text_delta", "text": part} for part in parts)
        yield from _block(next(indexes), {"type": "text", "text": ""}, deltas)
    for number, (call, arguments) in enumerate(arguments_said(answer)):
        head: Json = {
            "type": "tool_use",
            "id": tool_id(number, identity),
            "name": call.name,
            "input": {},
        }
        texts = chain([""], argument_fragments(arguments))
        fragments = ({"type": "input_json_delta", "partial_json": text} for text in texts)
        yield from _block(next(indexes), head, fragments)
    if answer.ending is Ending.WHOLE:
        yield event(_end(answer))
    if answer.ending is not Ending.NOTHING:
        yield event({"type": "message_stop"})


def message_head(asked: Asked, identity: Identity) -> Json:
    return {
        "id": f"msg_{identity.token[:24]}",
        "type": "message",
        "role": "assistant",
        "model": asked.model,
    }


def stop_reason(answer: Answer) -> str | None:
    if answer.ending is not Ending.WHOLE:
        return None
    finish = answer.finish or ("tool_calls" if answer.calls else "stop")
    return STOP_REASONS.get(finish, finish)


def final_usage(usage: Usage) -> Json:
    """The counts of the whole message so far, as the last event has them."""
    document = {**_input_usage(usage), "output_tokens": usage.completion_tokens}
    if usage.reasoning_tokens is not None:
        document["output_tokens_details"] = {"thinking_tokens": usage.reasoning_tokens}
    return document


def tool_id(index: int, identity: Identity) -> str:
    return f"toolu_{identity.token[:20]}{index:04d}"


def _start(asked: Asked, answer: Answer, identity: Identity) -> Json:
    message: Json = {
        **message_head(asked, identity),
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
    }
    if answer.usage is not None:
        message["usage"] = {
            **_input_usage(answer.usage),
            "output_tokens": min(1, answer.usage.completion_tokens),  # provisional, as the API's
            "service_tier": "standard",
        }
    return message


def _end(answer: Answer) -> Json:
    delta = {"stop_reason": stop_reason(answer), "stop_sequence": None}
    document: Json = {"type": "message_delta", "delta": delta}
    if answer.usage is not None:
        document["usage"] = final_usage(answer.usage)
    return document


def _input_usage(usage: Usage) -> Json:
    return {
        "input_tokens": usage.prompt_tokens,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": 0,
    }


def _thinking(index: int, answer: Answer) -> Iterator[bytes]:
    thoughts = (
        {"type": "thinking_delta", "thinking": part} for part in word_groups(answer.reasoning)
    )
    signed = {"type": "signature_delta", "signature": sealed(answer.reasoning)}
    head: Json = {"type": "thinking", "thinking": "", "signature": ""}
    if answer.paused:
        yield from _opening(index, head)
        yield from _deltas(index, thoughts)
    else:
        yield from _block(index, head, chain(thoughts, [signed]))


def _block(index: int, head: Json, deltas: Iterable[Mapping[str, object]]) -> Iterator[bytes]:
    yield from _opening(index, head)
    yield from _deltas(index, deltas)
    yield event({"type": "content_block_stop", "index": index})


def _opening(index: int, head: Json) -> Iterator[bytes]:
    yield event({"type": "content_block_start", "index": index, "content_block": head})
    if index == 0:
        yield event({"type": "ping"})


def _deltas(index: int, deltas: Iterable[Mapping[str, object]]) -> Iterator[bytes]:
    for delta in deltas:
        yield event({"type": "content_block_delta", "index": index, "delta": delta})
