"""What one response amounts to, from what it said and how it came. Pure.

An error object goes before everything; then the client that left, a reason to stop, and at last the
end of the bytes. What was not seen is None, never a figure.
"""

from collections.abc import Callable

import msgspec

from stanchion.broker.plane.dialects.base import ProviderError, Told
from stanchion.broker.plane.dialects.failures import classify
from stanchion.protocol.exchange import (
    ID_LENGTH,
    Answered,
    AnswerFlag,
    ErrorClass,
    ExchangeResult,
    Finish,
)

WORDS = 500
MAX_CALL_IDS = 256


class Came(msgspec.Struct, frozen=True, kw_only=True):
    """How the bytes of a response came."""

    status: int
    complete: bool
    """Whether the transport delivered the whole body."""
    whole: bool
    """Whether what came is all of it, if it says why it stopped."""
    read: bool
    """Whether all of it could be read."""
    client_gone: bool
    sha256: str
    size_bytes: int


def answered(
    told: Told, came: Came, *, output_limit: int | None, mask: Callable[[str], str]
) -> Answered:
    """For the record. `mask` is for every word of the provider, before it is shortened."""
    reported, usage = told.reported, told.reported.usage
    blind = not came.read and came.status < 300
    error = told.error or _implied_error(told, came)
    result = _result(told, error, came)

    def kept(words: str | None, length: int = WORDS) -> str | None:
        return mask(words)[:length] if words else None

    return Answered(
        result=result,
        status=came.status,
        error_class=_error_class(result, error, came, output_limit),
        error_words=kept(None if error is None else error.words),
        finish=told.finish if error is None else Finish.ERROR,
        finish_raw=kept(told.finish_raw),
        model_served=kept(told.model),
        usage=usage,
        usage_why="the client left before usage came"
        if came.client_gone and usage is None
        else reported.why,
        reasoning_present=_reasoning(told, result),
        # Of what could not be read, only what was seen before is known.
        text_present=told.text or None if blind else told.text,
        tool_calls=told.tool_calls or None if blind else told.tool_calls,
        cut_tool_calls=told.cut_calls or None if blind else told.cut_calls,
        input_includes_cache=reported.input_includes_cache,
        output_includes_reasoning=reported.output_includes_reasoning,
        flags=_flags(told, result),
        response_id=kept(told.response_id, ID_LENGTH),
        tool_call_ids=tuple(mask(name)[:ID_LENGTH] for name in told.call_ids[:MAX_CALL_IDS]),
        malformed=_malformed(told),
        body_sha256=came.sha256,
        body_bytes=came.size_bytes,
    )


def _implied_error(told: Told, came: Came) -> ProviderError | None:
    if came.status >= 400:
        return ProviderError(words=None)
    if told.finish is Finish.ERROR:
        return ProviderError(words=f"finish_reason {told.finish_raw}")
    return None


def _result(told: Told, error: ProviderError | None, came: Came) -> ExchangeResult:
    if came.client_gone:
        return ExchangeResult.CLIENT_GONE
    if error is not None:
        return ExchangeResult.PROVIDER_ERROR
    if told.finish is not None and came.whole:
        return ExchangeResult.COMPLETED
    if not came.read and came.complete:
        return ExchangeResult.UNREADABLE
    return ExchangeResult.TRUNCATED


def _error_class(
    result: ExchangeResult, error: ProviderError | None, came: Came, output_limit: int | None
) -> ErrorClass | None:
    if error is not None:
        return classify(came.status, error, output_limit=output_limit)
    broken = {ExchangeResult.TRUNCATED, ExchangeResult.UNREADABLE}
    return ErrorClass.UPSTREAM_PROTOCOL if result in broken else None


def _reasoning(told: Told, result: ExchangeResult) -> bool | None:
    if told.reasoning:
        return True
    return False if result is ExchangeResult.COMPLETED else None


def _flags(told: Told, result: ExchangeResult) -> tuple[AnswerFlag, ...]:
    absent = told.reported.usage is None and result is ExchangeResult.COMPLETED
    flags = (AnswerFlag.USAGE_ABSENT,) if absent else ()
    return (*flags, AnswerFlag.USAGE_CONTRADICTION) if told.reported.contradicted else flags


def _malformed(told: Told) -> dict[str, str]:
    if not told.reported.malformed:
        return dict(told.malformed)
    figures = {f"usage.{name}": said for name, said in told.reported.malformed.items()}
    return {**told.malformed, **figures}
