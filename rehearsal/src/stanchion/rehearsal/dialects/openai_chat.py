"""The OpenAI chat completions dialect: request body in, bytes of an answer out.

The shapes follow OpenAI's public API reference ("Create chat completion", "The chat completion
chunk object"); `reasoning_content` is the field that DeepSeek documents and vLLM shares. It
decides every byte of an answer and must never send one.
"""

from collections.abc import Iterator, Mapping

import msgspec

from stanchion.rehearsal.dialects.building import (
    Json,
    argument_fragments,
    arguments_said,
    bearer_key,
    digest,
    field_of,
    paced,
    read_request,
    roles_after_first_user,
    whole,
    word_groups,
)
from stanchion.rehearsal.dialects.openai_shared import KEY_REFUSED, error_document, model_list
from stanchion.rehearsal.dialects.reply import EVENT_STREAM, JSON, End, Identity, Reply
from stanchion.rehearsal.script import Usage
from stanchion.rehearsal.turns import Answer, Asked, Ending, Refusal

FINGERPRINT = "fp_rehearsal"
REQUEST_ID_HEADER = "x-request-id"
WRONG_KEY = KEY_REFUSED
DONE = b"data: [DONE]\n\n"


def presented_key(headers: Mapping[str, str]) -> str | None:
    return bearer_key(headers)


def understand(body: bytes) -> Asked | Refusal:
    """Read a request as leniently as a provider does; only what must be right is checked."""
    raw = read_request(body)
    if isinstance(raw, Refusal):
        return raw
    include_usage = field_of(raw.get("stream_options"), "include_usage")
    return Asked(
        model=str(raw["model"]),
        stream=raw.get("stream") is True,
        include_usage=include_usage is True,
        tools=_tool_names(raw.get("tools")),
        turns_taken=roles_after_first_user(raw["messages"]).count("assistant"),
        body_bytes=len(body),
        conversation=digest(raw["messages"]),
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
            pieces=paced(_events(asked, answer, identity), answer.gap_ms),
            end=End.SILENT if answer.paused else End.CLEAN,
        )
    if answer.paused:
        return Reply(status=200, content_type=JSON, pieces=(), end=End.SILENT)
    return whole(200, _completion(asked, answer, identity))


def refuse(refusal: Refusal, _identity: Identity) -> Reply:
    """An error in OpenAI's envelope."""
    return whole(refusal.status, error_document(refusal))


def error_event(refusal: Refusal) -> bytes:
    """The same object as a chunk of a stream, as OpenRouter and vLLM send it."""
    return _event(error_document(refusal))


def models(created_s: int) -> Reply:
    """The answer to GET /v1/models. Requests may name any other model as well."""
    return model_list(created_s)


def _tool_names(tools: object) -> tuple[str, ...]:
    if not isinstance(tools, list):
        return ()
    names = (field_of(field_of(tool, "function"), "name") for tool in tools)
    return tuple(name for name in names if isinstance(name, str))


def _events(asked: Asked, answer: Answer, identity: Identity) -> Iterator[bytes]:
    head = _head(asked, identity, "chat.completion.chunk")
    reports_usage = asked.include_usage and answer.usage is not None
    tail: Json = {"usage": None} if reports_usage else {}

    def event(delta: Json, finish: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        return _event({**head, "choices": [choice], **tail})

    yield event({"role": "assistant", "content": None if answer.calls else ""})
    for part in word_groups(answer.reasoning):
        yield event({"reasoning_content": part})
    if answer.paused:
        return
    for part in (*word_groups(answer.text), *answer.echo):
        yield event({"content": part})
    for index, (call, arguments) in enumerate(arguments_said(answer)):
        for fragment in _call_fragments(index, call.name, arguments, identity):
            yield event({"tool_calls": [fragment]})
    if answer.ending is Ending.WHOLE:
        yield event({}, _finish(answer))
        if reports_usage and answer.usage is not None:
            yield _event({**head, "choices": [], "usage": _usage(answer.usage)})
    if answer.ending is not Ending.NOTHING:
        yield DONE


def _event(chunk: Json) -> bytes:
    return b"data: " + msgspec.json.encode(chunk) + b"\n\n"


def _completion(asked: Asked, answer: Answer, identity: Identity) -> Json:
    text = answer.text + "".join(answer.echo)
    message: Json = {"role": "assistant", "content": text or None, "refusal": None}
    if answer.reasoning:
        message["reasoning_content"] = answer.reasoning
    if answer.calls:
        message["tool_calls"] = [
            {
                "id": _call_id(index, identity),
                "type": "function",
                "function": {"name": call.name, "arguments": arguments},
            }
            for index, (call, arguments) in enumerate(arguments_said(answer))
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


def _finish(answer: Answer) -> str | None:
    if answer.ending is not Ending.WHOLE:
        return None
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


def _call_fragments(index: int, name: str, arguments: str, identity: Identity) -> Iterator[Json]:
    yield {
        "index": index,
        "id": _call_id(index, identity),
        "type": "function",
        "function": {"name": name, "arguments": ""},
    }
    for fragment in argument_fragments(arguments):
        yield {"index": index, "function": {"arguments": fragment}}


def _call_id(index: int, identity: Identity) -> str:
    return f"call_{identity.token[:20]}{index:04d}"
