"""Sorts a provider's failure into one error class, from status and error object. Pure.

Codes and types go before words; words are only asked where providers have no code. It must never
take a failure for a success.
"""

import re

from stanchion.broker.plane.dialects.base import ProviderError
from stanchion.protocol.exchange import ErrorClass

_BY_CODE = {
    "insufficient_quota": ErrorClass.QUOTA,
    "quota_exceeded": ErrorClass.QUOTA,
    "billing_error": ErrorClass.BILLING,
    "billing_not_active": ErrorClass.BILLING,
    "invalid_api_key": ErrorClass.AUTH,
    "authentication_error": ErrorClass.AUTH,
    "permission_error": ErrorClass.AUTH,
    "model_not_found": ErrorClass.MODEL_NOT_FOUND,
    "context_length_exceeded": ErrorClass.CONTEXT_OVERFLOW,
    "rate_limit_exceeded": ErrorClass.RATE_LIMITED,
    "rate_limit_error": ErrorClass.RATE_LIMITED,
    "not_found_error": ErrorClass.MODEL_NOT_FOUND,
    "overloaded_error": ErrorClass.OVERLOADED,
    "server_is_overloaded": ErrorClass.OVERLOADED,
    "slow_down": ErrorClass.OVERLOADED,
    "usage_limit_reached": ErrorClass.QUOTA,
    "usage_not_included": ErrorClass.QUOTA,
    "invalid_prompt": ErrorClass.INVALID_REQUEST,
    "content_filter": ErrorClass.INVALID_REQUEST,
    "content_policy_violation": ErrorClass.INVALID_REQUEST,
    "bio_policy": ErrorClass.INVALID_REQUEST,
    "misalignment_policy_violation": ErrorClass.INVALID_REQUEST,
    "request_too_large": ErrorClass.INVALID_REQUEST,
    "server_error": ErrorClass.SERVER_ERROR,
    "api_error": ErrorClass.SERVER_ERROR,
    "timeout_error": ErrorClass.SERVER_ERROR,
    # Google's reasons (google.rpc ErrorInfo) and statuses (google.rpc.Code)
    "API_KEY_INVALID": ErrorClass.AUTH,
    "API_KEY_SERVICE_BLOCKED": ErrorClass.AUTH,
    "SERVICE_DISABLED": ErrorClass.AUTH,
    "BILLING_DISABLED": ErrorClass.BILLING,
    "UNAUTHENTICATED": ErrorClass.AUTH,
    "PERMISSION_DENIED": ErrorClass.AUTH,
    "NOT_FOUND": ErrorClass.MODEL_NOT_FOUND,
    "RESOURCE_EXHAUSTED": ErrorClass.RATE_LIMITED,
    "UNAVAILABLE": ErrorClass.OVERLOADED,
    "INTERNAL": ErrorClass.SERVER_ERROR,
    "DEADLINE_EXCEEDED": ErrorClass.SERVER_ERROR,
}
_QUOTA_OF_A_DAY = re.compile(r"PerDay")
"""In the id of a used-up quota of Google's; no wait that a run could make mends it."""
_BY_STATUS = {
    401: ErrorClass.AUTH,
    402: ErrorClass.BILLING,
    403: ErrorClass.AUTH,
    429: ErrorClass.RATE_LIMITED,
    503: ErrorClass.OVERLOADED,
    529: ErrorClass.OVERLOADED,
}
_LIMIT_FIELD = re.compile(
    r"max_(completion_|output_)?tokens|maxoutputtokens|output tokens|in the completion"
)
_CONTEXT_SIZES = (
    re.compile(r"maximum context length (?:is|of) (\d+)"),  # vLLM
    re.compile(r"max_tokens. exceed context limit: \d+ \+ \d+ > (\d+)"),  # Anthropic
)
_LIMIT_REFUSED = re.compile(
    r"too large|too high|too big|at most|must be|maximum|exceed|<=|less than|unsupported"
    r"|supported range"
)
_BY_WORDS = (
    (
        re.compile(r"billing|credit balance|spend(ing)? limit|usage limit|out of credits"),
        ErrorClass.BILLING,
    ),
    (
        re.compile(
            r"context (length|limit|window)|prompt is too long|too many tokens|input token count"
        ),
        ErrorClass.CONTEXT_OVERFLOW,
    ),
    (re.compile(r"model .{0,200}(does not exist|not found)"), ErrorClass.MODEL_NOT_FOUND),
)


def classify(status: int | None, error: ProviderError, *, output_limit: int | None) -> ErrorClass:
    """The class of a failure; `output_limit` is what the request asked for."""
    said = (error.words or "").lower()
    status = _status(status, error)
    if _limit_rejected(error, said, output_limit):
        return ErrorClass.LIMIT_REJECTED
    if error.code is not None and _QUOTA_OF_A_DAY.search(error.code):
        return ErrorClass.QUOTA
    for word in (error.code, error.kind):
        if word is not None and word in _BY_CODE:
            return _BY_CODE[word]
    if status in _BY_STATUS:
        return _BY_STATUS[status]
    return _by_words(status, said)


def _by_words(status: int | None, said: str) -> ErrorClass:
    found = next((meant for words, meant in _BY_WORDS if words.search(said)), None)
    if found is not None:
        return found
    if status == 404:
        return ErrorClass.MODEL_NOT_FOUND
    client_error = status is not None and 400 <= status < 500
    return ErrorClass.INVALID_REQUEST if client_error else ErrorClass.SERVER_ERROR


def _status(status: int | None, error: ProviderError) -> int | None:
    """The status that the failure speaks of: an error inside a 200 may carry its own."""
    if status is not None and status >= 400:
        return status
    if error.status is not None:
        return error.status
    code = error.code or ""
    return int(code) if code.isdecimal() and len(code) == 3 else None


def _limit_rejected(error: ProviderError, said: str, output_limit: int | None) -> bool:
    """Whether it was the output limit itself, which no shorter prompt would mend."""
    sizes = (words.search(said) for words in _CONTEXT_SIZES)
    size = next((found for found in sizes if found is not None), None)
    if size is not None:
        named = output_limit is not None and str(output_limit) in said
        return named and output_limit is not None and output_limit >= int(size[1])
    if error.code == "context_length_exceeded":
        return False
    if error.param in {"max_tokens", "max_completion_tokens", "max_output_tokens"}:
        return True
    return bool(_LIMIT_FIELD.search(said) and _LIMIT_REFUSED.search(said))
