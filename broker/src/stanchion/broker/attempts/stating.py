"""States what stands behind each value of an exchange's record, so that a null says why. Pure.

Derived from the record itself at the last moment before it is written: what was said and cannot be
one is malformed, what a whole answer did not say was not reported, what an answer that was cut or
never seen may have said was not observed. It must never change a value.
"""

from collections.abc import Iterable, Mapping
from enum import Enum
from functools import cache
from operator import attrgetter

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
        "cut_tool_calls", "response_id")  # fmt: skip
"""By a model, in its response."""
INCLUDES = ("input_includes_cache", "output_includes_reasoning")
"""About figures that were said."""
CAME = ("body_sha256", "body_bytes", "first_byte_ms", "duration_ms")
"""Of any answer that came whole."""
TLS = ("tls_server_name", "tls_certificate_sha256")
ANSWERED = tuple(
    field.name
    for field in msgspec.structs.fields(Answered)
    if field.default is None and field.name != "usage_why"
)
"""All that may be null. What is in no list above is of the broker's own doing, as masking a secret:
there is no such thing where it did nothing."""

_ELSEWHERE: dict[Dialect, frozenset[str]] = {
    Dialect.OPENAI_CHAT: frozenset({"thinking", "thinking_budget"}),
    Dialect.OPENAI_RESPONSES: frozenset({"thinking", "thinking_budget"}),
    Dialect.ANTHROPIC_MESSAGES: frozenset(),
    Dialect.GEMINI: frozenset({"thinking", "stream"}),
}
"""Settings that are in no body of the dialect."""


class _Meanings:
    """What each value of a record means where it is null, in the order in which they are read."""

    def __init__(self, nulls: Mapping[str, FactStatus]) -> None:
        self._observed = dict.fromkeys(nulls, OBSERVED)
        self._nulls = tuple(nulls.items())

    def facts(
        self, values: Iterable[object], malformed: Mapping[str, str]
    ) -> dict[str, FactStatus]:
        """The status of each of these values."""
        facts = self._observed.copy()
        for (name, null), value in zip(self._nulls, values, strict=True):
            if value is None:
                facts[name] = null
        for name in malformed:
            if facts.get(name, OBSERVED) is not OBSERVED:
                facts[name] = MALFORMED
        return facts


_ASKED_NULLS = {
    dialect: _Meanings({name: NONE_SUCH if name in elsewhere else UNSAID for name in ASKED})
    for dialect, elsewhere in _ELSEWHERE.items()
}
_COMPLETED = ExchangeResult.COMPLETED
_WHOLE = frozenset({_COMPLETED, ExchangeResult.PROVIDER_ERROR})
_NO_USAGE = Usage()
_read_asked = attrgetter(*ASKED)
_read_answered = attrgetter(*ANSWERED)
_read_usage = attrgetter(*Usage.__struct_fields__)


class Reach(Enum):
    """How far an exchange came."""

    __hash__ = object.__hash__  # members are one of a kind; the library's own is slow

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
    facts = _ASKED_NULLS[dialect].facts(_read_asked(asked), asked.malformed)
    return msgspec.structs.replace(asked, facts=facts)


def stated(answered: Answered, *, sent: bool, secure: bool) -> Answered:
    """An answer with the status of each of its values.

    `sent`: a byte of the request may have left. `secure`: the provider is reached over TLS.
    """
    meanings = _meanings(
        reach_of(answered, sent=sent),
        figures=answered.usage is not None,
        failed=answered.error_class is not None,
        went_well=answered.result is _COMPLETED,
        secure=secure,
    )
    values = (*_read_answered(answered), *_read_usage(answered.usage or _NO_USAGE))
    facts = meanings.facts(values, answered.malformed)
    return msgspec.structs.replace(answered, facts=facts)


def reach_of(answered: Answered, *, sent: bool) -> Reach:
    """How far its exchange came."""
    if answered.status is None:
        unsent = answered.result in COSTS_NOTHING and not answered.ambiguous
        return Reach.NEVER_LEFT if unsent or not sent else Reach.UNANSWERED
    if answered.status >= 300 or answered.body_sha256 is None:
        return Reach.REFUSED
    return Reach.WHOLE if answered.result in _WHOLE else Reach.CUT


@cache
def _meanings(
    reach: Reach, *, figures: bool, failed: bool, went_well: bool, secure: bool
) -> _Meanings:
    said, never = _SAID[reach], reach is Reach.NEVER_LEFT
    unseen = NONE_SUCH if never else UNSEEN
    nulls = {
        "status": unseen,
        "error_class": NONE_SUCH if never or went_well else UNSEEN,
        "error_words": _HEAD[reach] if failed else NONE_SUCH,
        **dict.fromkeys(SAID, said),
        **dict.fromkeys(INCLUDES, UNSAID if figures else NONE_SUCH),
        # Only a completed response without any shows that there was none.
        "reasoning_present": UNSEEN if reach is Reach.WHOLE else said,
        **dict.fromkeys(CAME, unseen),
        "provider_request_id": _HEAD[reach],
        **dict.fromkeys(TLS, unseen if secure else NONE_SUCH),
    }
    return _Meanings({name: nulls.get(name, NONE_SUCH) for name in (*ANSWERED, *FIGURES)})
