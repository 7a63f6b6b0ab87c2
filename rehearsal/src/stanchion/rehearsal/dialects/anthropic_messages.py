"""The Anthropic messages dialect: request body in, bytes of an answer out.

The shapes follow Anthropic's public API reference ("Create a Message", "Streaming messages",
"Errors", "Count tokens in a Message") and the types of its Python SDK. The events of a stream
are in `anthropic_events`. It decides every byte of an answer and must never send one.
"""

from collections.abc import Mapping
from datetime import UTC, datetime

from stanchion.rehearsal.dialects.anthropic_events import (
    error_document,
    event,
    final_usage,
    message_events,
    message_head,
    stop_reason,
    tool_id,
)
from stanchion.rehearsal.dialects.building import (
    Json,
    bearer_key,
    digest,
    field_of,
    paced,
    read_request,
    roles_after_first_user,
    sealed,
    whole,
)
from stanchion.rehearsal.dialects.reply import EVENT_STREAM, JSON, End, Identity, Reply
from stanchion.rehearsal.turns import Answer, Asked, Refusal, tokens

MODEL_ID = "rehearsal"
REQUEST_ID_HEADER = "request-id"
WRONG_KEY = Refusal(
    status=401, message="invalid x-api-key; send the rehearsal's key as x-api-key: KEY"
)


def presented_key(headers: Mapping[str, str]) -> str | None:
    """The key of x-api-key, else of a bearer token, as Claude Code's ANTHROPIC_AUTH_TOKEN."""
    return headers.get("x-api-key") or bearer_key(headers)


def understand(body: bytes) -> Asked | Refusal:
    """Read a request; beyond the conversation this API insists on max_tokens."""
    asked = understand_count(body)
    if isinstance(asked, Refusal):
        return asked
    limit = asked.max_tokens
    if not isinstance(limit, int) or isinstance(limit, bool) or limit < 1:
        return Refusal(
            status=400,
            message=f"max_tokens: is {limit!r}, but a whole number from 1 is required; send one",
            param="max_tokens",
        )
    return asked


def understand_count(body: bytes) -> Asked | Refusal:
    """Read a request to count tokens, which has no limit and no stream."""
    raw = read_request(body)
    if isinstance(raw, Refusal):
        return raw
    thinking = raw.get("thinking")
    return Asked(
        model=str(raw["model"]),
        stream=raw.get("stream") is True,
        include_usage=True,
        tools=_tool_names(raw.get("tools")),
        turns_taken=_turns_taken(raw["messages"]),
        body_bytes=len(body),
        conversation=digest(raw["messages"]),
        max_tokens=raw.get("max_tokens"),
        reasoning_effort=field_of(raw.get("output_config"), "effort"),
        thinking_type=field_of(thinking, "type"),
        thinking_budget_tokens=field_of(thinking, "budget_tokens"),
    )


def render(asked: Asked, answer: Answer, identity: Identity) -> Reply:
    """The answer as the request asked for it: an event stream or one message."""
    if asked.stream:
        return Reply(
            status=200,
            content_type=EVENT_STREAM,
            pieces=paced(message_events(asked, answer, identity), answer.gap_ms),
            end=End.SILENT if answer.paused else End.CLEAN,
        )
    if answer.paused:
        return Reply(status=200, content_type=JSON, pieces=(), end=End.SILENT)
    return whole(200, _message(asked, answer, identity))


def refuse(refusal: Refusal, identity: Identity) -> Reply:
    """An error in Anthropic's envelope, which repeats the id of the header."""
    document = {**error_document(refusal), "request_id": identity.request_id}
    return whole(refusal.status, document)


def error_event(refusal: Refusal) -> bytes:
    """An error in the middle of a stream."""
    return event(error_document(refusal))


def counted(asked: Asked) -> Reply:
    """The answer to POST /v1/messages/count_tokens, by the rule that turns count with."""
    return whole(200, {"input_tokens": tokens(asked.body_bytes)})


def models(created_s: int) -> Reply:
    """The answer to GET /v1/models. Requests may name any other model as well."""
    model = {
        "type": "model",
        "id": MODEL_ID,
        "display_name": "Rehearsal",
        "created_at": datetime.fromtimestamp(created_s, UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
    }
    return whole(
        200, {"data": [model], "has_more": False, "first_id": MODEL_ID, "last_id": MODEL_ID}
    )


def _tool_names(tools: object) -> tuple[str, ...]:
    names = (field_of(tool, "name") for tool in tools) if isinstance(tools, list) else ()
    return tuple(name for name in names if isinstance(name, str))


def _turns_taken(messages: object) -> int:
    """Assistant turns; the API joins neighbouring messages of one role, so they count once."""
    roles = roles_after_first_user(messages)
    return sum(
        role == "assistant" and before != "assistant"
        for before, role in zip([None, *roles], roles, strict=False)
    )


def _message(asked: Asked, answer: Answer, identity: Identity) -> Json:
    content: list[Json] = []
    if answer.reasoning:
        content.append(
            {
                "type": "thinking",
                "thinking": answer.reasoning,
                "signature": sealed(answer.reasoning),
            }
        )
    if text := answer.text + "".join(answer.echo):
        content.append({"type": "text", "text": text})
    content += [
        {
            "type": "tool_use",
            "id": tool_id(index, identity),
            "name": call.name,
            "input": {} if answer.cut_call and index == len(answer.calls) - 1 else call.arguments,
        }
        for index, call in enumerate(answer.calls)
    ]
    message: Json = {
        **message_head(asked, identity),
        "content": content,
        "stop_reason": stop_reason(answer),
        "stop_sequence": None,
    }
    if answer.usage is not None:
        message["usage"] = {**final_usage(answer.usage), "service_tier": "standard"}
    return message
