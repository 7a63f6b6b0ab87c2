"""States what stands behind each value of an exchange's record, so that a null says why. Pure.

Derived from the record itself at the last moment before it is written: what was said and cannot be
one is malformed, what a whole answer did not say was not reported, what an answer that was cut or
never seen may have said was not observed. It must never change a value.
"""

from collections.abc import Mapping
from enum import Enum

import msgspec

from stanchion.protocol.dialects import Dialect
from stanchion.protocol.exchange import (
    COSTS_NOTHING,
    Answered,
    Asked,
    ExchangeResult,
    FactStatus,
)
from stanchion.protocol.usage import Usage

OBSERVED, MALFORMED = FactStatus.OBSERVED, FactStatus.MALFORMED
UNSEEN, UNSAID, NONE_SUCH = (
    FactStatus.NOT_OBSERVED,
    FactStatus.NOT_REPORTED,
    FactStatus.NOT_APPLICABLE,
)

ASKED = ("model", "output_limit", "effort", "stream", "thinking", "thinking_budget")
FIGURES = tuple(f"usage.{name}" for name in Usage.__struct_fields__)
SAID = ("finish", "finish_raw", "model_served", "usage", *FIGURES, "text_present", "tool_calls",
        "cut_tool_calls")  # fmt: skip
"""By a model, in a response."""
INCLUDES = ("input_includes_cache", "output_includes_reasoning")
"""About figures that were said."""
CAME = ("body_sha256", "body_bytes", "first_byte_ms", "duration_ms")
"""Of any answer that came whole."""
TLS = ("tls_server_name", "tls_certificate_sha256")
_REST = {"result", "usage_why", "status", "error_class", "error_words", "reasoning_present",
         "provider_request_id", *SAID, *INCLUDES, *CAME, *TLS}  # fmt: skip
_OURS = tuple(
    field.name
    for field in msgspec.structs.fields(Answered)
    if field.default is None and field.name not in _REST
)
"""What the broker itself did to an answer, as masking a secret; null where it did not."""

_ELSEWHERE: dict[Dialect, frozenset[str]] = {
    Dialect.OPENAI_CHAT: frozenset({"thinking", "thinking_budget"}),
    Dialect.OPENAI_RESPONSES: frozenset({"thinking", "thinking_budget"}),
    Dialect.ANTHROPIC_MESSAGES: frozenset(),
    Dialect.GEMINI: frozenset({"thinking", "stream"}),
}
"""Settings that are in no body of the dialect."""


class Reach(Enum):
    """How far an exchange came."""

    NEVER_LEFT = "never_left"
    UNANSWERED = "unanswered"
    """It left, and no answer began."""
    REFUSED = "refused"
    """The answer is an HTTP error, or one that was not read: no model's response."""
    CUT = "cut"
    WHOLE = "whole"


_SAID = {Reach.NEVER_LEFT: NONE_SUCH, Reach.UNANSWERED: UNSEEN, Reach.REFUSED: NONE_SUCH,
         Reach.CUT: UNSEEN, Reach.WHOLE: UNSAID}  # fmt: skip
_HEAD = {Reach.NEVER_LEFT: NONE_SUCH, Reach.UNANSWERED: UNSEEN, Reach.REFUSED: UNSAID,
         Reach.CUT: UNSAID, Reach.WHOLE: UNSAID}  # fmt: skip
"""What a missing word of a model, and of an answer's head, means at each."""


def stated_request(asked: Asked, dialect: Dialect) -> Asked:
    """The words of a request with the status of each."""
    missing = {name: NONE_SUCH if name in _ELSEWHERE[dialect] else UNSAID for name in ASKED}
    values = {name: getattr(asked, name) for name in ASKED}
    return msgspec.structs.replace(asked, facts=_facts(values, missing, asked.malformed))


def stated(answered: Answered, *, sent: bool, secure: bool) -> Answered:
    """An answer with the status of each of its values.

    `sent`: a byte of the request may have left. `secure`: the provider is reached over TLS.
    """
    reach = reach_of(answered, sent=sent)
    missing = _missing(answered, reach, secure=secure)
    usage = answered.usage or Usage()
    values = {
        name: getattr(usage, name[len("usage.") :]) if name in FIGURES else getattr(answered, name)
        for name in missing
    }
    return msgspec.structs.replace(answered, facts=_facts(values, missing, answered.malformed))


def reach_of(answered: Answered, *, sent: bool) -> Reach:
    """How far its exchange came."""
    if answered.status is None:
        unsent = answered.result in COSTS_NOTHING and not answered.ambiguous
        return Reach.NEVER_LEFT if unsent or not sent else Reach.UNANSWERED
    if answered.status >= 300 or answered.body_sha256 is None:
        return Reach.REFUSED
    whole = {ExchangeResult.COMPLETED, ExchangeResult.PROVIDER_ERROR}
    return Reach.WHOLE if answered.result in whole else Reach.CUT


def _missing(answered: Answered, reach: Reach, *, secure: bool) -> dict[str, FactStatus]:
    """What each value of the record means where it is null."""
    said, never = _SAID[reach], reach is Reach.NEVER_LEFT
    unseen = NONE_SUCH if never else UNSEEN
    figures = UNSAID if answered.usage is not None else NONE_SUCH
    failed = answered.error_class is not None
    went_well = answered.result is ExchangeResult.COMPLETED
    return {
        "status": unseen,
        "error_class": NONE_SUCH if never or went_well else UNSEEN,
        "error_words": _HEAD[reach] if failed else NONE_SUCH,
        **dict.fromkeys(SAID, said),
        **dict.fromkeys(INCLUDES, figures),
        # Only a completed response without any shows that there was none.
        "reasoning_present": UNSEEN if reach is Reach.WHOLE else said,
        **dict.fromkeys(CAME, unseen),
        **dict.fromkeys(_OURS, NONE_SUCH),
        "provider_request_id": _HEAD[reach],
        **dict.fromkeys(TLS, unseen if secure else NONE_SUCH),
    }


def _facts(
    values: Mapping[str, object],
    missing: Mapping[str, FactStatus],
    malformed: Mapping[str, str],
) -> dict[str, FactStatus]:
    return {
        name: OBSERVED if value is not None else (MALFORMED if name in malformed else missing[name])
        for name, value in values.items()
    }
