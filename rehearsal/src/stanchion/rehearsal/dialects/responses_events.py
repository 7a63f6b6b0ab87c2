"""The server-sent events of one OpenAI response.

The order and the fields follow OpenAI's public reference "Streaming events": every event has the
next sequence number, text comes in deltas and once more as a whole, the last event holds the whole
response. It decides bytes and must never read a request.
"""

from collections.abc import Iterable, Iterator
from itertools import count

import msgspec

from stanchion.rehearsal.dialects.building import Json, argument_fragments, word_groups
from stanchion.rehearsal.dialects.reply import Identity
from stanchion.rehearsal.dialects.responses_items import (
    Call,
    call_item,
    call_place,
    calls_of,
    final_response,
    message_item,
    reasoning_item,
    response_of,
    state_of,
    summary_part,
    text_part,
)
from stanchion.rehearsal.turns import Answer, Asked, Ending

DONE = b"data: [DONE]\n\n"
"""Of no use in this API; some gateways send it, and where they do, often in place of the end."""

Told = Iterator[tuple[str, Json]]


def event(kind: str, number: int, members: Json) -> bytes:
    """One event, named by the type of its document."""
    document = {"type": kind, "sequence_number": number, **members}
    return b"event: %s\ndata: %s\n\n" % (kind.encode(), msgspec.json.encode(document))


def response_events(asked: Asked, answer: Answer, identity: Identity) -> Iterator[bytes]:
    """All events of the answer; of a paused one, those up to the end of its reasoning."""
    numbers = count()
    for kind, members in _told(asked, answer, identity):
        yield event(kind, next(numbers), members)
    if answer.ending is Ending.MARKER and not answer.paused:
        yield DONE


def _told(asked: Asked, answer: Answer, identity: Identity) -> Told:
    begun = response_of(asked, identity, "in_progress")
    yield "response.created", {"response": begun}
    yield "response.in_progress", {"response": begun}
    places = count()
    if answer.reasoning:
        yield from _reasoning(next(places), answer, identity)
    if answer.paused:
        return
    if answer.text or answer.echo:
        yield from _message(next(places), answer, identity)
    for call in calls_of(asked, answer):
        yield from _call(call, next(places), identity)
    if answer.ending is Ending.WHOLE:
        status, _ = state_of(answer)
        yield f"response.{status}", {"response": final_response(asked, answer, identity)}


def _reasoning(place: int, answer: Answer, identity: Identity) -> Told:
    text = answer.reasoning
    yield _added(place, reasoning_item("", identity))
    at: Json = {
        "item_id": f"rs_{identity.token}",
        "output_index": place,
        "summary_index": 0,
    }
    yield "response.reasoning_summary_part.added", {**at, "part": summary_part("")}
    yield from _deltas("response.reasoning_summary_text", at, word_groups(text))
    if answer.paused:
        return
    yield "response.reasoning_summary_text.done", {**at, "text": text}
    yield "response.reasoning_summary_part.done", {**at, "part": summary_part(text)}
    yield _ended(place, reasoning_item(text, identity))


def _message(place: int, answer: Answer, identity: Identity) -> Told:
    text = answer.text + "".join(answer.echo)
    yield _added(place, message_item("", identity))
    at: Json = {"item_id": f"msg_{identity.token}", "output_index": place, "content_index": 0}
    yield "response.content_part.added", {**at, "part": text_part("")}
    parts = (*word_groups(answer.text), *answer.echo)
    yield from _deltas("response.output_text", at, parts, logprobs=[])
    yield "response.output_text.done", {**at, "text": text, "logprobs": []}
    yield "response.content_part.done", {**at, "part": text_part(text)}
    yield _ended(place, message_item(text, identity))


def _call(call: Call, place: int, identity: Identity) -> Told:
    custom = "response.custom_tool_call_input"
    kind = custom if call.free else "response.function_call_arguments"
    at: Json = {"item_id": call_place(call, identity), "output_index": place}
    yield _added(place, call_item(call, identity, begun=True))
    yield from _deltas(kind, at, argument_fragments(call.said))
    if not call.cut:
        yield f"{kind}.done", {**at, call.field: call.said}
    yield _ended(place, call_item(call, identity))


def _added(place: int, item: Json) -> tuple[str, Json]:
    return "response.output_item.added", {"output_index": place, "item": item}


def _ended(place: int, item: Json) -> tuple[str, Json]:
    return "response.output_item.done", {"output_index": place, "item": item}


def _deltas(kind: str, at: Json, parts: Iterable[str], **others: object) -> Told:
    for part in parts:
        yield f"{kind}.delta", {**at, "delta": part, **others}
