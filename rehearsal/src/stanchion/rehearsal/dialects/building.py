"""What the dialects share: reading a body, cutting text into deltas, wrapping bytes as a reply.

It knows nothing of any provider's fields beyond `model` and a list that holds the conversation,
which all of them have, and must never decide what an answer says.
"""

import base64
import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping

import msgspec

from stanchion.rehearsal.dialects.reply import JSON, Piece, Reply
from stanchion.rehearsal.habits import made_up
from stanchion.rehearsal.script import ToolCall
from stanchion.rehearsal.turns import Answer, Refusal

Json = dict[str, object]

_WORDS = re.compile(r"(?:\s*\S+){1,3}\s*|\s+")
_FRAGMENT_CHARACTERS = 24
_BEARER = "Bearer "


def read_object(body: bytes) -> Json | Refusal:
    """The object in a body."""
    try:
        raw = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        return Refusal(status=400, message=f"the body is not JSON ({error}); send a JSON object")
    if not isinstance(raw, dict):
        return Refusal(status=400, message="the body is not a JSON object; send one")
    return raw


def read_request(
    body: bytes, conversation: str = "messages", *, text_too: bool = False
) -> Json | Refusal:
    """The object in a body, known to name a model and to hold a conversation under that name."""
    raw = read_object(body)
    if isinstance(raw, Refusal):
        return raw
    model, messages = raw.get("model"), raw.get(conversation)
    if not isinstance(model, str) or not model:
        return Refusal(
            status=400, message="model must be a non-empty string; name any model", param="model"
        )
    if not isinstance(messages, (list, str) if text_too else list) or not messages:
        form = "array or text" if text_too else "array"
        return Refusal(
            status=400,
            message=f"{conversation} must be a non-empty {form}; send the conversation",
            param=conversation,
        )
    return raw


def roles_after_first_user(messages: object) -> list[object]:
    """The role of each message from the first user message on, but of what a harness made up."""
    if not isinstance(messages, list):
        return []
    said = [message if isinstance(message, dict) else {} for message in messages]
    roles = [
        message.get("role")
        for message in said
        if not made_up(message.get("role"), message.get("content"))
    ]
    return roles[roles.index("user") :] if "user" in roles else []


def digest(value: object) -> str:
    """Equal for equal JSON values, however they were written."""
    return hashlib.sha256(msgspec.json.encode(value, order="deterministic")).hexdigest()


def sealed(text: str) -> str:
    """As opaque as what a provider makes of a model's thoughts, and the same for the same ones."""
    return base64.b64encode(hashlib.sha512(text.encode()).digest()).decode()


def field_of(value: object, name: str) -> object:
    """A field of what may be no object at all; None if it is not there."""
    return value.get(name) if isinstance(value, dict) else None


def bearer_key(headers: Mapping[str, str]) -> str | None:
    authorization = headers.get("Authorization", "")
    return authorization.removeprefix(_BEARER) if authorization.startswith(_BEARER) else None


def word_groups(text: str) -> list[str]:
    """Deltas of up to three words that join to the text again."""
    return _WORDS.findall(text)


def arguments_text(call: ToolCall) -> str:
    return msgspec.json.encode(call.arguments).decode()


def arguments_said(answer: Answer) -> Iterator[tuple[ToolCall, str]]:
    """Each call and its arguments as JSON text, of which a cut one has the first half."""
    last = len(answer.calls) - 1
    for index, call in enumerate(answer.calls):
        text = arguments_text(call)
        yield call, text[: len(text) // 2] if answer.cut_call and index == last else text


def argument_fragments(arguments: str) -> Iterator[str]:
    """Pieces of the JSON text, cut without regard to its syntax."""
    for start in range(0, len(arguments), _FRAGMENT_CHARACTERS):
        yield arguments[start : start + _FRAGMENT_CHARACTERS]


def paced(events: Iterable[bytes], gap_ms: int) -> tuple[Piece, ...]:
    """One piece for each event, with the gap between them and none before the first."""
    return tuple(
        Piece(delay_ms=gap_ms if index else 0, data=data) for index, data in enumerate(events)
    )


def whole(status: int, document: Json) -> Reply:
    """One JSON document of known length."""
    data = msgspec.json.encode(document)
    return Reply(
        status=status,
        content_type=JSON,
        pieces=(Piece(delay_ms=0, data=data),),
        size_bytes=len(data),
    )
