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
    # OpenAI API documentation, "Error codes": all of them come as 429
    "credit_balance_exhausted": ErrorClass.BILLING,
    "organization_spend_limit_exceeded": ErrorClass.BILLING,
    "project_spend_limit_exceeded": ErrorClass.BILLING,
    "organization_usage_limit_exceeded": ErrorClass.QUOTA,
    # Moonshot API documentation, "Errors"
    "invalid_authentication_error": ErrorClass.AUTH,
    "incorrect_api_key_error": ErrorClass.AUTH,
    "permission_denied_error": ErrorClass.AUTH,
    "resource_not_found_error": ErrorClass.MODEL_NOT_FOUND,
    "engine_overloaded_error": ErrorClass.OVERLOADED,
    "exceeded_current_quota_error": ErrorClass.QUOTA,
    "rate_limit_reached_error": ErrorClass.RATE_LIMITED,
    # GLM API documentation, "Errors": business codes, of which a used-up account's come as 429
    "1110": ErrorClass.AUTH,
    "1111": ErrorClass.AUTH,
    "1112": ErrorClass.AUTH,
    "1113": ErrorClass.BILLING,
    "1121": ErrorClass.AUTH,
    "1211": ErrorClass.MODEL_NOT_FOUND,
    "1261": ErrorClass.CONTEXT_OVERFLOW,
    "1301": ErrorClass.INVALID_REQUEST,
    "1302": ErrorClass.RATE_LIMITED,
    "1308": ErrorClass.QUOTA,
    "1309": ErrorClass.BILLING,
    "1310": ErrorClass.QUOTA,
    # Alibaba Cloud Model Studio documentation, "Error codes": an account in arrears comes as 400
    "Arrearage": ErrorClass.BILLING,
    "AllocationQuota.FreeTierOnly": ErrorClass.QUOTA,
    "InvalidApiKey": ErrorClass.AUTH,
    "ModelNotFound": ErrorClass.MODEL_NOT_FOUND,
    "DataInspectionFailed": ErrorClass.INVALID_REQUEST,
    "data_inspection_failed": ErrorClass.INVALID_REQUEST,
    "Throttling": ErrorClass.RATE_LIMITED,
    "Throttling.RateQuota": ErrorClass.RATE_LIMITED,
    "Throttling.AllocationQuota": ErrorClass.RATE_LIMITED,
    "limit_requests": ErrorClass.RATE_LIMITED,
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
_QUOTA_OF_A_MINUTE = re.compile(r"error-code#token-limit")
"""Qwen's tokens of a minute come as `insufficient_quota`; only the page that its words name tells
them from a used-up account."""
_NO_MONEY = re.compile(
    r"insufficient (account )?balance|used all available credits|monthly spending limit"
    r"|can only afford|credit balance is too low|out of credits"
)
"""Words of providers without a code for it, which send 403 or 429 (xAI) as for something else."""
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
    r"|supported range|valid range|range of|illegal"
)
_BY_WORDS = (
    (
        re.compile(r"billing|credit balance|spend(ing)? limit|usage limit|out of credits"),
        ErrorClass.BILLING,
    ),
    (
        re.compile(
            r"context (length|limit|window)|prompt (is )?too long|too many tokens|input token count"
            r"|model token limit|range of input length|input length too long|exceeds max length"
        ),
        ErrorClass.CONTEXT_OVERFLOW,
    ),
    (re.compile(r"model .{0,200}(does not exist|not found)"), ErrorClass.MODEL_NOT_FOUND),
)


def classify(status: int | None, error: ProviderError, *, output_limit: int | None) -> ErrorClass:
    """The class of a failure; `output_limit` is what the request asked for."""
    said = f"{error.words or ''} {error.detail or ''}".lower()
    status = _status(status, error)
    if status not in _BY_STATUS and _limit_rejected(error, said, output_limit):
        return ErrorClass.LIMIT_REJECTED
    coded = _by_code(error, said)
    if coded is not None:
        return coded
    if _NO_MONEY.search(said):
        return ErrorClass.BILLING
    return _BY_STATUS[status] if status in _BY_STATUS else _by_words(status, said)


def _by_code(error: ProviderError, said: str) -> ErrorClass | None:
    if error.code is not None and _QUOTA_OF_A_DAY.search(error.code):
        return ErrorClass.QUOTA
    if _QUOTA_OF_A_MINUTE.search(said):
        return ErrorClass.RATE_LIMITED
    coded = (_BY_CODE[word] for word in (error.code, error.kind) if word in _BY_CODE)
    return next(coded, None)


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
