import pytest

from stanchion.broker.plane.dialects.base import ProviderError
from stanchion.broker.plane.dialects.failures import classify
from stanchion.protocol.exchange import ErrorClass

LIMIT = 128_000


@pytest.mark.parametrize(
    ("status", "error", "expected"),
    [
        (401, ProviderError(words=None), ErrorClass.AUTH),
        (403, ProviderError(words="no"), ErrorClass.AUTH),
        (402, ProviderError(words=None), ErrorClass.BILLING),
        (429, ProviderError(words=None), ErrorClass.RATE_LIMITED),
        (429, ProviderError(words="x", code="insufficient_quota"), ErrorClass.QUOTA),
        (529, ProviderError(words=None), ErrorClass.OVERLOADED),
        (503, ProviderError(words=None), ErrorClass.OVERLOADED),
        (500, ProviderError(words=None), ErrorClass.SERVER_ERROR),
        (200, ProviderError(words=None), ErrorClass.SERVER_ERROR),
        (200, ProviderError(words=None, status=429), ErrorClass.RATE_LIMITED),
        (200, ProviderError(words=None, code="402"), ErrorClass.BILLING),
        (404, ProviderError(words="Not Found"), ErrorClass.MODEL_NOT_FOUND),
        (400, ProviderError(words="the model `x` does not exist"), ErrorClass.MODEL_NOT_FOUND),
        (400, ProviderError(words="bad"), ErrorClass.INVALID_REQUEST),
        (400, ProviderError(words="your credit balance is low"), ErrorClass.BILLING),
        (400, ProviderError(words="prompt is too long"), ErrorClass.CONTEXT_OVERFLOW),
        (400, ProviderError(words="x", kind="authentication_error"), ErrorClass.AUTH),
        (200, ProviderError(words="x", kind="not_found_error"), ErrorClass.MODEL_NOT_FOUND),
        (200, ProviderError(words="x", kind="request_too_large"), ErrorClass.INVALID_REQUEST),
        (200, ProviderError(words="x", kind="timeout_error"), ErrorClass.SERVER_ERROR),
        (400, ProviderError(words="x", code="API_KEY_INVALID"), ErrorClass.AUTH),
        (403, ProviderError(words="x", code="BILLING_DISABLED"), ErrorClass.BILLING),
        (200, ProviderError(words="x", kind="UNAVAILABLE"), ErrorClass.OVERLOADED),
        (200, ProviderError(words="x", kind="DEADLINE_EXCEEDED"), ErrorClass.SERVER_ERROR),
        (
            429,
            ProviderError(words="x", code="aRequestsPerMinute", kind="RESOURCE_EXHAUSTED"),
            ErrorClass.RATE_LIMITED,
        ),
        (
            429,
            ProviderError(words="x", code="aRequestsPerDayB", kind="RESOURCE_EXHAUSTED"),
            ErrorClass.QUOTA,
        ),
        (
            400,
            ProviderError(
                words="User location is not supported for the API use.", kind="FAILED_PRECONDITION"
            ),
            ErrorClass.INVALID_REQUEST,
        ),
        (
            400,
            ProviderError(
                words="Please enable billing on your project", kind="FAILED_PRECONDITION"
            ),
            ErrorClass.BILLING,
        ),
        (
            400,
            ProviderError(words="a maxOutputTokens value of 9 but the supported range is from 1"),
            ErrorClass.LIMIT_REJECTED,
        ),
        (
            400,
            ProviderError(
                words="The input token count (9) exceeds the maximum number of tokens allowed (8)."
            ),
            ErrorClass.CONTEXT_OVERFLOW,
        ),
        (
            400,
            ProviderError(
                words="input length and `max_tokens` exceed context limit: 9 + 128000 > 200000"
            ),
            ErrorClass.CONTEXT_OVERFLOW,
        ),
        (
            400,
            ProviderError(
                words="input length and `max_tokens` exceed context limit: 9 + 128000 > 32768"
            ),
            ErrorClass.LIMIT_REJECTED,
        ),
        (400, ProviderError(words="x", param="max_tokens"), ErrorClass.LIMIT_REJECTED),
        (400, ProviderError(words="x", param="max_output_tokens"), ErrorClass.LIMIT_REJECTED),
        (
            400,
            ProviderError(words="Unsupported parameter: max_output_tokens"),
            ErrorClass.LIMIT_REJECTED,
        ),
        (200, ProviderError(words="x", code="server_is_overloaded"), ErrorClass.OVERLOADED),
        (503, ProviderError(words="x", code="slow_down"), ErrorClass.OVERLOADED),
        (429, ProviderError(words="x", kind="usage_limit_reached"), ErrorClass.QUOTA),
        (200, ProviderError(words="x", code="invalid_prompt"), ErrorClass.INVALID_REQUEST),
        (
            400,
            ProviderError(words="max_tokens: 128000 > 64000, which is the maximum"),
            ErrorClass.LIMIT_REJECTED,
        ),
        (
            400,
            ProviderError(words="x", param="max_tokens", code="context_length_exceeded"),
            ErrorClass.CONTEXT_OVERFLOW,
        ),
        (
            400,
            ProviderError(
                words="maximum context length is 200000 tokens, you requested 210000 "
                "(82000 in the messages, 128000 in the completion)"
            ),
            ErrorClass.CONTEXT_OVERFLOW,
        ),
        (
            400,
            ProviderError(
                words="maximum context length is 128000 tokens, you requested 128500 "
                "(500 in the messages, 128000 in the completion)"
            ),
            ErrorClass.LIMIT_REJECTED,
        ),
        (429, ProviderError(words="x", code="credit_balance_exhausted"), ErrorClass.BILLING),
        (429, ProviderError(words="x", kind="exceeded_current_quota_error"), ErrorClass.QUOTA),
        (429, ProviderError(words="x", kind="engine_overloaded_error"), ErrorClass.OVERLOADED),
        (429, ProviderError(words="x", code="1113"), ErrorClass.BILLING),
        (400, ProviderError(words="x", code="Arrearage"), ErrorClass.BILLING),
        (403, ProviderError(words="Used all available credits or"), ErrorClass.BILLING),
        (429, ProviderError(words="reached its monthly spending limit."), ErrorClass.BILLING),
        (429, ProviderError(words="add a card on /account/billing"), ErrorClass.RATE_LIMITED),
        (
            429,
            ProviderError(words="see error-code#token-limit", code="insufficient_quota"),
            ErrorClass.RATE_LIMITED,
        ),
        (
            429,
            ProviderError(
                words="too large: output tokens must be less", code="rate_limit_exceeded"
            ),
            ErrorClass.RATE_LIMITED,
        ),
        (
            400,
            ProviderError(words="Provider returned error", detail="max_tokens is too large"),
            ErrorClass.LIMIT_REJECTED,
        ),
        (
            400,
            ProviderError(words="the valid range of max_tokens is [1"),
            ErrorClass.LIMIT_REJECTED,
        ),
        (400, ProviderError(words="Range of input length should be"), ErrorClass.CONTEXT_OVERFLOW),
        (400, ProviderError(words="exceeded model token limit: 9"), ErrorClass.CONTEXT_OVERFLOW),
        (
            400,
            ProviderError(words="maximum context length is 8192 tokens, your prompt has 9000"),
            ErrorClass.CONTEXT_OVERFLOW,
        ),
    ],
)
def test_each_failure_has_its_class(
    status: int, error: ProviderError, expected: ErrorClass
) -> None:
    assert classify(status, error, output_limit=LIMIT) is expected


def test_without_a_limit_on_the_wire_it_cannot_be_the_limit() -> None:
    error = ProviderError(words="maximum context length is 8192 tokens, 128000 asked")
    assert classify(400, error, output_limit=None) is ErrorClass.CONTEXT_OVERFLOW
