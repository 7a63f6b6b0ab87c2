"""The OpenAI responses dialect: request body in, bytes of an answer out.

The shapes follow OpenAI's public API reference ("Create a model response", "The response object",
"Streaming events") and the types of its Python SDK. The events of a stream are in
`responses_events`. It decides every byte of an answer and must never send one.
"""

from collections.abc import Iterator, Mapping

from stanchion.rehearsal.dialects.building import (
    bearer_key,
    digest,
    field_of,
    paced,
    read_request,
    whole,
)
from stanchion.rehearsal.dialects.openai_shared import KEY_REFUSED, error_document, model_list
from stanchion.rehearsal.dialects.reply import EVENT_STREAM, JSON, End, Identity, Reply
from stanchion.rehearsal.dialects.responses_events import event, response_events
from stanchion.rehearsal.dialects.responses_items import final_response
from stanchion.rehearsal.turns import Answer, Asked, Refusal

REQUEST_ID_HEADER = "x-request-id"
WRONG_KEY = KEY_REFUSED


def presented_key(headers: Mapping[str, str]) -> str | None:
    return bearer_key(headers)


def understand(body: bytes) -> Asked | Refusal:
    """Read a request as leniently as a provider does; only what must be right is checked."""
    raw = read_request(body, "input", text_too=True)
    if isinstance(raw, Refusal):
        return raw
    tools = list(_tools(raw.get("tools")))
    return Asked(
        model=str(raw["model"]),
        stream=raw.get("stream") is True,
        include_usage=True,
        tools=tuple(name for name, _ in tools),
        turns_taken=_turns_taken(raw["input"]),
        body_bytes=len(body),
        conversation=digest(raw["input"]),
        reasoning_effort=field_of(raw.get("reasoning"), "effort"),
        max_output_tokens=raw.get("max_output_tokens"),
        free_tools=frozenset(name for name, free in tools if free),
    )


def render(asked: Asked, answer: Answer, identity: Identity) -> Reply:
    """The answer as the request asked for it: an event stream or one object."""
    if asked.stream:
        return Reply(
            status=200,
            content_type=EVENT_STREAM,
            pieces=paced(response_events(asked, answer, identity), answer.gap_ms),
            end=End.SILENT if answer.paused else End.CLEAN,
        )
    if answer.paused:
        return Reply(status=200, content_type=JSON, pieces=(), end=End.SILENT)
    return whole(200, final_response(asked, answer, identity))


def refuse(refusal: Refusal, _identity: Identity) -> Reply:
    """An error in OpenAI's envelope."""
    return whole(refusal.status, error_document(refusal))


def error_event(refusal: Refusal) -> bytes:
    """An error in the middle of a stream, as the API sends it (maximhq/bifrost#5040)."""
    return event("error", 0, error_document(refusal))


def models(created_s: int) -> Reply:
    """The answer to GET /v1/models."""
    return model_list(created_s)


def _tools(tools: object) -> Iterator[tuple[str, bool]]:
    """The name of each tool that the caller runs, and whether it takes free text."""
    for tool in tools if isinstance(tools, list) else ():
        name = field_of(tool, "name")
        if isinstance(name, str) and field_of(tool, "type") in ("function", "custom"):
            yield name, field_of(tool, "type") == "custom"


def _turns_taken(items: object) -> int:
    """Stretches of items that the model made, after the first that a user did."""
    made: list[bool] = []
    for item in items if isinstance(items, list) else ():
        if made or field_of(item, "role") == "user":
            made.append(_by_the_model(item))
    return sum(now and not before for before, now in zip([False, *made], made, strict=False))


def _by_the_model(item: object) -> bool:
    kind = field_of(item, "type")
    if not isinstance(kind, str) or kind == "message":
        return field_of(item, "role") == "assistant"
    return kind in ("reasoning", "item_reference") or kind.endswith("_call")
