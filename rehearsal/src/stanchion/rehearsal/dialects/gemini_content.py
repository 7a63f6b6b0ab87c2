"""What one Gemini response says: its parts, its reason, its usage, and the events of a stream.

The shapes follow the Gemini API reference v1beta ("GenerateContentResponse", "UsageMetadata",
"Thought signatures"): every event is a response of its own, usage is cumulative, a call comes whole
in one part. It decides documents and must never read a request.
"""

from collections.abc import Iterator

import msgspec

from stanchion.rehearsal.dialects.building import Json, sealed, word_groups
from stanchion.rehearsal.dialects.reply import Identity
from stanchion.rehearsal.script import ToolCall, Usage
from stanchion.rehearsal.turns import Answer, Asked, Ending

FINISHES = {"tool_calls": "STOP", "stop": "STOP", "length": "MAX_TOKENS"}
"""A script's words are those of OpenAI chat; any other is sent as it stands."""


def event(document: Json) -> bytes:
    """One event, which has no name."""
    return b"data: " + msgspec.json.encode(document) + b"\n\n"


def content_events(asked: Asked, answer: Answer, identity: Identity) -> Iterator[bytes]:
    """All events of the answer; of a paused one, those of its reasoning."""

    def said(*parts: Json) -> bytes:
        usage = None if answer.usage is None else _usage_so_far(answer.usage)
        return event(_response([*parts], None, usage, asked, identity))

    for words in word_groups(answer.reasoning):
        yield said(_thought(words))
    if answer.paused:
        return
    for words in (*word_groups(answer.text), *answer.echo):
        yield said({"text": words})
    for number, call in enumerate(_whole_calls(answer)):
        yield said(_call(call, number, answer, identity))
    if answer.ending is Ending.WHOLE:
        last: Json = {"text": "", **_signed(answer)} if not answer.calls else {"text": ""}
        usage = None if answer.usage is None else _usage(answer.usage)
        yield event(_response([last], _finish(answer), usage, asked, identity))


def whole_response(asked: Asked, answer: Answer, identity: Identity) -> Json:
    """The answer to a request without a stream."""
    parts: list[Json] = [_thought(answer.reasoning)] if answer.reasoning else []
    if text := answer.text + "".join(answer.echo):
        parts.append({"text": text, **({} if answer.calls else _signed(answer))})
    parts += [
        _call(call, number, answer, identity) for number, call in enumerate(_whole_calls(answer))
    ]
    finish = _finish(answer) if answer.ending is Ending.WHOLE else None
    usage = None if answer.usage is None else _usage(answer.usage)
    return _response(parts, finish, usage, asked, identity)


def _response(
    parts: list[Json], finish: str | None, usage: Json | None, asked: Asked, identity: Identity
) -> Json:
    candidate: Json = {"content": {"parts": parts, "role": "model"}}
    if finish is not None:
        candidate["finishReason"] = finish
    document: Json = {"candidates": [{**candidate, "index": 0}]}
    if usage is not None:
        document["usageMetadata"] = usage
    return {**document, "modelVersion": asked.model, "responseId": identity.token[:22]}


def _whole_calls(answer: Answer) -> tuple[ToolCall, ...]:
    """This API has no half of a call: a cut one is not there at all."""
    return answer.calls[:-1] if answer.cut_call else answer.calls


def _call(call: ToolCall, number: int, answer: Answer, identity: Identity) -> Json:
    said: Json = {
        "id": f"{identity.token[:8]}{number:02d}",
        "name": call.name,
        "args": call.arguments,
    }
    return {"functionCall": said, **({} if number else _signed(answer))}


def _thought(words: str) -> Json:
    return {"text": words, "thought": True}


def _signed(answer: Answer) -> Json:
    """Thoughts are sealed into the first call, else into the last part."""
    return {"thoughtSignature": sealed(answer.reasoning)} if answer.reasoning else {}


def _finish(answer: Answer) -> str:
    finish = answer.finish or "stop"
    return FINISHES.get(finish, finish)


def _usage_so_far(usage: Usage) -> Json:
    return {"promptTokenCount": usage.prompt_tokens, "totalTokenCount": usage.prompt_tokens}


def _usage(usage: Usage) -> Json:
    """Thoughts are counted beside the candidates; a script counts them within the completion."""
    thoughts = usage.reasoning_tokens or 0
    document: Json = {
        "promptTokenCount": usage.prompt_tokens,
        "candidatesTokenCount": max(0, usage.completion_tokens - thoughts),
        "totalTokenCount": usage.prompt_tokens + max(thoughts, usage.completion_tokens),
    }
    if usage.reasoning_tokens is not None:
        document["thoughtsTokenCount"] = thoughts
    return document
