"""The OpenAI chat completions dialect: request body in, bytes of an answer out.

The shapes follow OpenAI's public API reference ("Create chat completion", "The chat completion
chunk object"); `reasoning_content` is the field that DeepSeek documents and vLLM shares. It
decides every byte of an answer and must never send one.
"""

import re
from collections.abc import Iterator

import msgspec

from stanchion.rehearsal.dialects.reply import Identity, Piece, Reply
from stanchion.rehearsal.script import ToolCall, Usage
from stanchion.rehearsal.turns import Answer, Asked, Refusal

JSON = "application/json"
EVENT_STREAM = "text/event-stream; charset=utf-8"
MODEL_ID = "rehearsal"
FINGERPRINT = "fp_rehearsal"

_WORDS = re.compile(r"(?:\s*\S+){1,3}\s*|\s+")
_FRAGMENT_CHARACTERS = 24

Json = dict[str, object]


def understand(body: bytes) -> Asked | Refusal:
    """Read a request as leniently as a provider does; only what must be right is checked."""
    try:
        raw = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        return Refusal(status=400, message=f"the body is not JSON ({error}); send a JSON object")
    if not isinstance(raw, dict):
        return Refusal(status=400, message="the body is not a JSON object; send one")
    model, messages = raw.get("model"), raw.get("messages")
    if not isinstance(model, str) or not model:
        return Refusal(
            status=400, message="model must be a non-empty string; name any model", param="model"
        )
    if not isinstance(messages, list) or not messages:
        return Refusal(
            status=400,
            message="messages must be a non-empty array; send the conversation",
            param="messages",
        )
    options = raw.get("stream_options")
    return Asked(
        model=model,
        stream=raw.get("stream") is True,
        include_usage=isinstance(options, dict) and options.get("include_usage") is True,
        tools=_tool_names(raw.get("tools")),
        turns_taken=_turns_taken(messages),
        body_bytes=len(body),
        max_tokens=raw.get("max_tokens"),
        max_completion_tokens=raw.get("max_completion_tokens"),
        reasoning_effort=raw.get("reasoning_effort"),
    )


def render(asked: Asked, answer: Answer, identity: Identity) -> Reply:
    """The answer as the request asked for it: an event stream or one object."""
    if asked.stream:
        return Reply(
            status=200,
            content_type=EVENT_STREAM,
            pieces=tuple(_paced(_events(asked, answer, identity), answer.gap_ms)),
            ends=not answer.paused,
        )
    if answer.paused:
        return Reply(status=200, content_type=JSON, pieces=(), ends=False)
    return _sized(200, _completion(asked, answer, identity))


def refuse(refusal: Refusal) -> Reply:
    """An error in OpenAI's envelope."""
    error = {
        "message": refusal.message,
        "type": refusal.kind,
        "param": refusal.param,
        "code": refusal.code,
    }
    return _sized(refusal.status, {"error": error})


def models(created_s: int) -> Reply:
    """The answer to GET /v1/models. Requests may name any other model as well."""
    model = {"id": MODEL_ID, "object": "model", "created": created_s, "owned_by": "rehearsal"}
    return _sized(200, {"object": "list", "data": [model]})


def _sized(status: int, document: Json) -> Reply:
    piece = Piece(delay_ms=0, data=msgspec.json.encode(document))
    return Reply(status=status, content_type=JSON, pieces=(piece,), sized=True)


def _tool_names(tools: object) -> tuple[str, ...]:
    if not isinstance(tools, list):
        return ()
    functions = (tool.get("function") for tool in tools if isinstance(tool, dict))
    names = (function.get("name") for function in functions if isinstance(function, dict))
    return tuple(name for name in names if isinstance(name, str))


def _turns_taken(messages: list[object]) -> int:
    roles = [message.get("role") if isinstance(message, dict) else None for message in messages]
    if "user" not in roles:
        return 0
    return roles[roles.index("user") :].count("assistant")


def _paced(events: Iterator[bytes], gap_ms: int) -> Iterator[Piece]:
    for index, data in enumerate(events):
        yield Piece(delay_ms=gap_ms if index else 0, data=data)


def _events(asked: Asked, answer: Answer, identity: Identity) -> Iterator[bytes]:
    head = _head(asked, identity, "chat.completion.chunk")
    reports_usage = asked.include_usage and answer.usage is not None
    tail: Json = {"usage": None} if reports_usage else {}

    def event(delta: Json, finish: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        return _event({**head, "choices": [choice], **tail})

    yield event({"role": "assistant", "content": None if answer.calls else ""})
    for part in _word_groups(answer.reasoning):
        yield event({"reasoning_content": part})
    if answer.paused:
        return
    for part in _word_groups(answer.text):
        yield event({"content": part})
    for index, call in enumerate(answer.calls):
        for fragment in _call_fragments(index, call, identity):
            yield event({"tool_calls": [fragment]})
    yield event({}, _finish(answer))
    if reports_usage and answer.usage is not None:
        yield _event({**head, "choices": [], "usage": _usage(answer.usage)})
    yield b"data: [DONE]\n\n"


def _event(chunk: Json) -> bytes:
    return b"data: " + msgspec.json.encode(chunk) + b"\n\n"


def _completion(asked: Asked, answer: Answer, identity: Identity) -> Json:
    message: Json = {"role": "assistant", "content": answer.text or None, "refusal": None}
    if answer.reasoning:
        message["reasoning_content"] = answer.reasoning
    if answer.calls:
        message["tool_calls"] = [
            {
                "id": _call_id(index, identity),
                "type": "function",
                "function": {"name": call.name, "arguments": _arguments(call)},
            }
            for index, call in enumerate(answer.calls)
        ]
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": _finish(answer)}
    document = {**_head(asked, identity, "chat.completion"), "choices": [choice]}
    if answer.usage is not None:
        document["usage"] = _usage(answer.usage)
    return document


def _head(asked: Asked, identity: Identity, kind: str) -> Json:
    return {
        "id": f"chatcmpl-{identity.token}",
        "object": kind,
        "created": identity.created_s,
        "model": asked.model,
        "service_tier": "default",
        "system_fingerprint": FINGERPRINT,
    }


def _finish(answer: Answer) -> str:
    return answer.finish or ("tool_calls" if answer.calls else "stop")


def _usage(usage: Usage) -> Json:
    document: Json = {
        "prompt_tokens": usage.prompt_tokens,
        "completion_tokens": usage.completion_tokens,
        "total_tokens": usage.prompt_tokens + usage.completion_tokens,
    }
    if usage.reasoning_tokens is not None:
        document["completion_tokens_details"] = {"reasoning_tokens": usage.reasoning_tokens}
    return document


def _call_fragments(index: int, call: ToolCall, identity: Identity) -> Iterator[Json]:
    yield {
        "index": index,
        "id": _call_id(index, identity),
        "type": "function",
        "function": {"name": call.name, "arguments": ""},
    }
    arguments = _arguments(call)
    for start in range(0, len(arguments), _FRAGMENT_CHARACTERS):
        fragment = arguments[start : start + _FRAGMENT_CHARACTERS]
        yield {"index": index, "function": {"arguments": fragment}}


def _call_id(index: int, identity: Identity) -> str:
    return f"call_{identity.token[:20]}{index:04d}"


def _arguments(call: ToolCall) -> str:
    return msgspec.json.encode(call.arguments).decode()


def _word_groups(text: str) -> list[str]:
    """Deltas of up to three words that join to the text again."""
    return _WORDS.findall(text)
