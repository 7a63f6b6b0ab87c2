"""The members of a chat chunk or a whole response that matter, and the error in it. Pure.

Sources of the error's shapes: OpenAI API reference, "Errors"; OpenRouter documentation, "Errors"
(numeric code, `metadata`, also inside a choice); vLLM before 0.11 (unwrapped, `object: error`);
xAI (`code` and `error` as strings); GLM (`code` and `msg`, also with status 200); Gemini's
compatible API (in a list); FastAPI (`detail`). It must never take an answer for an error.
"""

from typing import Any, Literal

import msgspec

from stanchion.broker.plane.dialects.base import ProviderError


class Document(msgspec.Struct):
    """Anything may be of any type."""

    model: object = None
    id: object = None
    choices: object = None
    usage: object = None
    error: object = None
    message: object = None
    msg: object = None
    detail: object = None
    code: object = None
    kind: object = msgspec.field(default=None, name="type")
    what: object = msgspec.field(default=None, name="object")


class TextDelta(msgspec.Struct, forbid_unknown_fields=True, gc=False, kw_only=True):
    """Of a message, pieces of its text and its reasoning, and nothing else that has a meaning."""

    content: str | None = None
    reasoning_content: str | None = None
    reasoning: str | None = None
    role: str | None = None
    refusal: None = None
    tool_calls: None = None
    function_call: None = None


class TextChoice(msgspec.Struct, forbid_unknown_fields=True, gc=False, kw_only=True):
    """The same of a choice."""

    delta: TextDelta
    index: int = 0
    finish_reason: None = None
    logprobs: None = None


class TextChunk(msgspec.Struct, forbid_unknown_fields=True, gc=False, kw_only=True):
    """The same of a chunk, of which none differs from the one before but by its texts."""

    choices: tuple[TextChoice]
    object: Literal["chat.completion.chunk"]
    id: str | None = None
    model: str | None = None
    usage: None = None
    created: Any = None
    system_fingerprint: Any = None
    service_tier: Any = None
    provider: Any = None


class _PlainDelta(TextDelta, kw_only=True):
    content: str
    reasoning_content: None = None
    reasoning: None = None


class _PlainChoice(TextChoice, kw_only=True):
    delta: _PlainDelta


class PlainChunk(TextChunk, kw_only=True):
    """A chunk with a piece of text and nothing else that has a meaning, as most of a stream are."""

    choices: tuple[_PlainChoice]
    obfuscation: Any = None


_text_decoder = msgspec.json.Decoder(TextChunk)
_plain_decoder = msgspec.json.Decoder(PlainChunk)
_decoder = msgspec.json.Decoder(Document)
_list_decoder = msgspec.json.Decoder(list[Document])
_FINE = (None, "", 0, "0", 200, "200")
"""Codes of answers that are no error."""


def plain_chunk(data: bytes) -> PlainChunk | None:
    """The chunk, if it is a plain one; None says nothing about it."""
    try:
        return _plain_decoder.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def text_chunk(data: bytes) -> TextChunk | None:
    """The chunk, if it has text and reasoning only; None says nothing about it."""
    try:
        return _text_decoder.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def decoded(data: bytes) -> Document | None:
    """The document in `data`; None = it is none."""
    try:
        return _decoder.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        pass
    try:
        found = _list_decoder.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    return found[0] if len(found) == 1 and found[0].error is not None else None


def is_plain(document: Document) -> bool:
    """Whether there is no place in it where an error could be: most documents of a stream."""
    return document.error is None and document.choices is not None and document.what != "error"


def error_in(document: Document) -> ProviderError | None:
    """The error that the document reports, if it does."""
    if isinstance(document.error, dict):
        return error_of(document.error)
    if isinstance(document.error, str) and document.error:
        return ProviderError(words=document.error, code=_code(document.code))
    if document.what == "error":
        return _unwrapped(document, document.message)
    if document.choices is None and document.code not in _FINE:
        said = document.message if isinstance(document.message, str) else document.msg
        return _unwrapped(document, said) if isinstance(said, str) and said else None
    if document.choices is None and isinstance(document.detail, str) and document.detail:
        return ProviderError(words=document.detail)
    return None


def error_of(value: dict[str, object]) -> ProviderError:
    """An error object."""
    metadata = value.get("metadata")
    more = metadata if isinstance(metadata, dict) else {}
    return ProviderError(
        words=_word(value.get("message")),
        code=_code(value.get("code")),
        kind=_word(value.get("type")) or _word(more.get("error_type")),
        param=_word(value.get("param")),
        status=_status(value.get("code")),
        detail=_word(more.get("raw")),
    )


def _unwrapped(document: Document, said: object) -> ProviderError:
    return error_of({"message": said, "code": document.code, "type": document.kind})


def _status(code: object) -> int | None:
    """A code that is an HTTP status."""
    number = isinstance(code, int) and not isinstance(code, bool)
    return code if number and isinstance(code, int) and 400 <= code <= 599 else None


def _code(code: object) -> str | None:
    """A code that is a vendor's own word or number."""
    if isinstance(code, int) and not isinstance(code, bool):
        return None if _status(code) is not None else str(code)
    return _word(code)


def _word(value: object) -> str | None:
    return value if isinstance(value, str) and value else None
