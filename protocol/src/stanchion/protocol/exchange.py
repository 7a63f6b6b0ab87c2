"""What the broker saw of one model request: as asked, as sent, as answered.

Read from the bytes at the upstream socket, never from a model table. `exchange` is one logical
call of the harness; `tries` counts how often it was sent.
"""

from enum import StrEnum

import msgspec

from stanchion.protocol.usage import Usage


class Finish(StrEnum):
    """Why a response stopped, normalised; the provider's own word stays beside it."""

    STOP = "stop"
    TOOL_USE = "tool_use"
    LENGTH = "length"
    CONTENT_FILTER = "content_filter"
    ERROR = "error"
    UNKNOWN = "unknown"


class ExchangeResult(StrEnum):
    """How an exchange ended, with precedence error object > terminal event > end of stream."""

    COMPLETED = "completed"
    PROVIDER_ERROR = "provider_error"
    TRUNCATED = "truncated"
    UNREADABLE = "unreadable"
    CLIENT_GONE = "client_gone"
    REVOKED = "revoked"
    UPSTREAM_UNREACHABLE = "upstream_unreachable"
    INTERRUPTED = "interrupted"
    """The broker went away while it ran: nobody knows what else came back, or what it cost."""
    NOT_SENT = "not_sent"
    """It was held by the broker's pacer and ended there: the provider has never seen it."""


COSTS_NOTHING = frozenset({ExchangeResult.NOT_SENT, ExchangeResult.UPSTREAM_UNREACHABLE})
"""No byte of the request ever left, unless it is ambiguous whether one did."""


class Deadline(StrEnum):
    """A wait of the broker's own that ended an exchange."""

    CONNECT = "connect"
    """No connection to the provider."""
    FIRST_BYTE = "first_byte"
    """No head of an answer."""
    ERROR_BODY = "error_body"
    """An error's body that did not end."""
    IDLE = "idle"
    """No semantic event in a stream; comments and pings are none."""
    READER = "reader"
    """The harness took nothing of the answer."""
    DRAIN = "drain"
    """The harness left, and the rest of the answer did not come."""


class ErrorClass(StrEnum):
    """What kind of provider failure it was."""

    RATE_LIMITED = "rate_limited"
    OVERLOADED = "overloaded"
    SERVER_ERROR = "server_error"
    AUTH = "auth"
    BILLING = "billing"
    QUOTA = "quota"
    MODEL_NOT_FOUND = "model_not_found"
    LIMIT_REJECTED = "limit_rejected"
    CONTEXT_OVERFLOW = "context_overflow"
    INVALID_REQUEST = "invalid_request"
    UPSTREAM_PROTOCOL = "upstream_protocol"
    CONNECT = "connect"


class FactStatus(StrEnum):
    """What stands behind one value of a record; a null always says why it is one."""

    OBSERVED = "observed"
    NOT_OBSERVED = "not_observed"
    """It may have been there: the exchange, or the reading of it, ended before it was seen."""
    NOT_REPORTED = "not_reported"
    """All of it was read, and nothing was said."""
    NOT_APPLICABLE = "not_applicable"
    """There is no such thing in this exchange."""
    MALFORMED = "malformed"
    """Something was said that cannot be one; what, stands in `malformed`."""


class AnswerFlag(StrEnum):
    """What is odd about an answer."""

    USAGE_ABSENT = "usage_absent"
    """A completed response without any figure."""
    USAGE_CONTRADICTION = "usage_contradiction"
    """A figure of 0 against content that came: the figure is null then."""


ID_LENGTH = 200
"""Characters of a provider's name of something that are kept."""


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """The request body's words that matter, as received and as sent (equal without corrections)."""

    model: str | None
    output_limit: int | None
    output_limit_field: str | None
    """Which body field carried it, as `max_tokens`."""
    effort: str | None
    effort_field: str | None
    stream: bool | None
    fields: tuple[str, ...]
    """Names of all top-level body fields, sorted."""
    body_sha256: str
    body_bytes: int
    thinking: str | None = None
    """Type of an Anthropic `thinking` setting, as `adaptive`."""
    thinking_budget: int | None = None
    """Its `budget_tokens`, which count against the output limit; Gemini's `thinkingBudget`."""
    malformed: dict[str, str] = {}
    """By fact, what was said where it cannot be one: a number as it was, the kind of all else."""
    facts: dict[str, FactStatus] = {}
    """The status of each value above that may be null; empty = not on record."""


class Answered(msgspec.Struct, frozen=True, kw_only=True):
    """What came back. None = not observed."""

    result: ExchangeResult
    status: int | None = None
    error_class: ErrorClass | None = None
    error_words: str | None = None
    """The provider's message, at most 500 characters, secrets masked."""
    finish: Finish | None = None
    finish_raw: str | None = None
    model_served: str | None = None
    usage: Usage | None = None
    usage_why: str | None = None
    input_includes_cache: bool | None = None
    """Whether `usage.input_tokens` has in it what a cache gave or took; None = not known."""
    output_includes_reasoning: bool | None = None
    """Whether `usage.output_tokens` has the reasoning tokens in it; None = not known."""
    reasoning_present: bool | None = None
    """True on any evidence; False only for a completed response without any; else None."""
    text_present: bool | None = None
    tool_calls: int | None = None
    """Whole tool calls."""
    cut_tool_calls: int | None = None
    """Tool calls that began and did not come whole."""
    body_sha256: str | None = None
    """Of the body as it came."""
    sent_sha256: str | None = None
    """Of the body as it was handed on, where a masked secret makes it another; else None."""
    body_bytes: int | None = None
    provider_request_id: str | None = None
    first_byte_ms: int | None = None
    duration_ms: int | None = None
    tls_server_name: str | None = None
    """The name that the provider's certificate was verified for; None = plain http, no answer."""
    tls_certificate_sha256: str | None = None
    """Of the provider's certificate (DER)."""
    ambiguous: bool = False
    """The request left and no answer began: the provider may or may not have worked on it, and may
    or may not bill it."""
    deadline: Deadline | None = None
    """Which wait of the broker's own ended it; None = none did."""
    content_encoding: str | None = None
    """Of the body as it came, though none was asked for: digest and size are those of the encoded
    body, all other facts those of what it says."""
    response_id: str | None = None
    """The provider's name of the response, at most ID_LENGTH characters of it."""
    tool_call_ids: tuple[str, ...] = ()
    """Its names of the whole tool calls, in their order, as far as it gave any."""
    flags: tuple[AnswerFlag, ...] = ()
    malformed: dict[str, str] = {}
    """By fact, what was said where it cannot be one: a number as it was, the kind of all else."""
    facts: dict[str, FactStatus] = {}
    """The status of each value above that may be null, those of `usage` as `usage.NAME`; empty =
    not on record."""

    @property
    def has_content(self) -> bool:
        """A completed response with text or a whole tool call: one half of progress."""
        return self.result is ExchangeResult.COMPLETED and bool(
            self.text_present or (self.tool_calls or 0) > 0
        )

    @property
    def may_have_cost(self) -> bool:
        """Whether the provider may have made tokens for it, reported or not."""
        if self.result in COSTS_NOTHING:
            return self.ambiguous
        return self.status is None or self.status < 300


class Mismatch(msgspec.Struct, frozen=True, kw_only=True):
    """The first difference between a request and its launch spec."""

    exchange: int
    field: str
    """`output_limit` | `effort` | `thinking_budget` | `model`."""
    declared: str | None
    observed: str | None
