"""Reads the error objects of Google's APIs, with what their details say. Pure.

Source: google.rpc `Status`, `ErrorInfo`, `QuotaFailure` and `RetryInfo` (error_details.proto), as
the Gemini API sends them in JSON; AIP-193, "Errors".
"""

import re

from stanchion.broker.plane.dialects.base import ProviderError

MAX_RETRY_MS = 24 * 60 * 60 * 1000
_DURATION = re.compile(r"(?P<seconds>[0-9]{1,9}(?:\.[0-9]{1,9})?)s\Z")
_KIND = "type.googleapis.com/google.rpc."


def read_error(value: object) -> ProviderError | None:
    """The error that stands under `error`; None where nothing does."""
    if isinstance(value, str) and value:
        return ProviderError(words=value)
    if not isinstance(value, dict):
        return None
    code = value.get("code")
    status = code if isinstance(code, int) and not isinstance(code, bool) else None
    details = value.get("details")
    return ProviderError(
        words=_word(value.get("message")),
        code=reason_of(details),
        kind=_word(value.get("status")),
        status=status if status is not None and 400 <= status <= 599 else None,
        retry_after_ms=_retry_ms(details),
    )


def reason_of(details: object) -> str | None:
    """Why, in one word: of the error, else the quota that was used up; a day's before a minute's.

    Several quotas can be used up at once, and waiting mends only those of a minute.
    """
    for detail in _of_kind(details, "ErrorInfo"):
        reason = _word(detail.get("reason"))
        if reason is not None:
            return reason
    quotas = []
    for detail in _of_kind(details, "QuotaFailure"):
        violations = detail.get("violations")
        for violation in violations if isinstance(violations, list) else ():
            named = _word(violation.get("quotaId")) if isinstance(violation, dict) else None
            quotas += [] if named is None else [named]
    return next((name for name in quotas if "PerDay" in name), quotas[0] if quotas else None)


def _retry_ms(details: object) -> int | None:
    for detail in _of_kind(details, "RetryInfo"):
        said = _DURATION.match(_word(detail.get("retryDelay")) or "")
        if said is not None:
            return min(round(float(said["seconds"]) * 1000), MAX_RETRY_MS)
    return None


def _of_kind(details: object, kind: str) -> list[dict[str, object]]:
    if not isinstance(details, list):
        return []
    return [
        detail
        for detail in details
        if isinstance(detail, dict) and detail.get("@type") == f"{_KIND}{kind}"
    ]


def _word(value: object) -> str | None:
    return value if isinstance(value, str) and value else None
