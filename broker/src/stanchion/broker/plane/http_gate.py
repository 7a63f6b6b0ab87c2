"""Decides from a request's raw head whether it may go on, and to which fixed route. Pure.

The head must fit a narrow grammar (RFC 9112 without its tolerances) and the target must equal a
table entry byte for byte. Nothing of the caller's path, host or credentials ever travels on:
upstream heads are built from the tables here.
"""

import re
from enum import Enum

import msgspec

from stanchion.broker.plane.path_model import EVENTS, FOLDER, PLACE, STABLE_FOLDER, addressed
from stanchion.protocol.dialects import Dialect

MAX_HEAD_BYTES = 64 * 1024
MAX_BODY_BYTES = 64 * 1024 * 1024
LEASE_HEADER = "x-stanchion-lease"
SESSION_HEADER = "x-session-id"

_REQUEST_LINE = re.compile(rb"(?P<method>[A-Z]{1,16}) (?P<target>[\x21-\x7e]{1,8192}) HTTP/1\.1\Z")
_FIELDS = re.compile(rb"(?:[!#$%&'*+.^_`|~0-9A-Za-z-]+:[\t\x20-\x7e]*\r\n)*\r\n\Z")
_LENGTH = re.compile(r"[0-9]{1,19}\Z")
_BEARER = re.compile(r"\Abearer +", re.IGNORECASE)
_STAINLESS = re.compile(r"x-stainless-[a-z0-9-]{1,40}\Z")

FORWARDED = frozenset(
    {
        "accept",
        "anthropic-beta",
        "anthropic-version",
        "content-type",
        "openai-beta",
        "user-agent",
        "x-goog-api-client",
        "x-parent-session-id",
        "x-server-timeout",
        "x-session-affinity",
        SESSION_HEADER,
    }
)
"""Request headers that reach the provider, with those of FORWARDED_PREFIX. Not among them on
purpose: `openai-organization`, `openai-project`, `x-goog-user-project`: they choose who pays."""

_NO_HOPS = frozenset({"", "close", "keep-alive"})

FORWARDED_PREFIX = "x-stainless-"
"""What the official SDKs say about themselves and their retries."""

CREDENTIALS = ("authorization", "x-api-key", "x-goog-api-key", "api-key")
"""Headers that name a payer, with the query's `key`. None of them travels on; two that disagree
are refused, for a reader that took the first would take the other one (GHSA-57q6-fvp4-pqmm)."""

RETURNED = frozenset(
    {
        "cache-control",
        "content-type",
        "openai-model",
        "openai-processing-ms",
        "openai-version",
        "request-id",
        "retry-after",
        "retry-after-ms",
        "x-request-id",
        "x-should-retry",
    }
)
"""Response headers that reach the harness, with those of RETURNED_PREFIXES. No cookies, no
locations, nothing that changes the framing."""

RETURNED_PREFIXES = ("anthropic-ratelimit-", "x-ratelimit-")


class Route(Enum):
    """Everything the model socket answers."""

    __hash__ = object.__hash__  # members are one of a kind; the library's own is slow

    CHAT = "openai_chat.completions"
    RESPONSES = "openai_responses.create"
    MESSAGES = "anthropic_messages.create"
    MESSAGES_BETA = "anthropic_messages.create_beta"
    GENERATE = "gemini.generate_content"
    GENERATE_STREAM = "gemini.stream_generate_content"
    GENERATE_V1 = "gemini.generate_content_v1"
    GENERATE_STREAM_V1 = "gemini.stream_generate_content_v1"
    PROBE = "local.probe"
    MODELS = "local.models"
    COUNT_TOKENS = "local.count_tokens"


ROUTES: dict[tuple[str, str], Route] = {
    ("POST", "/v1/chat/completions"): Route.CHAT,
    ("POST", "/v1/responses"): Route.RESPONSES,
    ("POST", "/v1/messages"): Route.MESSAGES,
    ("POST", "/v1/messages?beta=true"): Route.MESSAGES_BETA,
    ("GET", "/"): Route.PROBE,
    ("HEAD", "/"): Route.PROBE,
    ("GET", "/v1/models"): Route.MODELS,
    ("GET", "/v1beta/models"): Route.MODELS,
    ("POST", "/v1/messages/count_tokens"): Route.COUNT_TOKENS,
    ("POST", "/v1/messages/count_tokens?beta=true"): Route.COUNT_TOKENS,
}
"""The query belongs to the target: Claude Code and Anthropic's SDKs send `beta=true` or none."""

ROUTES_OF_A_MODEL = {
    (FOLDER, "generateContent"): Route.GENERATE,
    (FOLDER, f"streamGenerateContent{EVENTS}"): Route.GENERATE_STREAM,
    (FOLDER, "countTokens"): Route.COUNT_TOKENS,
    (STABLE_FOLDER, "generateContent"): Route.GENERATE_V1,
    (STABLE_FOLDER, f"streamGenerateContent{EVENTS}"): Route.GENERATE_STREAM_V1,
    (STABLE_FOLDER, "countTokens"): Route.COUNT_TOKENS,
}
"""POST; what stands before and after the model in a target that has one. A stream is one of events,
never the array that Gemini makes of it without the query."""

LOCAL = {
    Route.PROBE: 200,
    Route.MODELS: 200,
    Route.COUNT_TOKENS: 404,
}
"""Routes that are answered here and never sent, recorded or counted, and the status of the answer.
A count of tokens would be a guess of ours; harnesses make their own where there is none."""

UPSTREAM: dict[Route, tuple[Dialect, str]] = {
    Route.CHAT: (Dialect.OPENAI_CHAT, "/chat/completions"),
    Route.RESPONSES: (Dialect.OPENAI_RESPONSES, "/responses"),
    Route.MESSAGES: (Dialect.ANTHROPIC_MESSAGES, "/v1/messages"),
    Route.MESSAGES_BETA: (Dialect.ANTHROPIC_MESSAGES, "/v1/messages?beta=true"),
    Route.GENERATE: (Dialect.GEMINI, f"{FOLDER}{PLACE}:generateContent"),
    Route.GENERATE_STREAM: (Dialect.GEMINI, f"{FOLDER}{PLACE}:streamGenerateContent{EVENTS}"),
    Route.GENERATE_V1: (Dialect.GEMINI, f"{STABLE_FOLDER}{PLACE}:generateContent"),
    Route.GENERATE_STREAM_V1: (
        Dialect.GEMINI,
        f"{STABLE_FOLDER}{PLACE}:streamGenerateContent{EVENTS}",
    ),
}
"""The dialect of a route and what follows the account's base URL."""


class Denial(Enum):
    """Why a head is refused: status and a word for records and the constant reply."""

    BAD_REQUEST = (400, "bad_request")
    UNAUTHORIZED = (401, "unauthorized")
    FORBIDDEN = (403, "forbidden")
    NOT_FOUND = (404, "not_found")
    TOO_LARGE = (413, "too_large")
    ENCODED = (415, "encoded_body")
    HEAD_TOO_LARGE = (431, "head_too_large")
    BODIES_FULL = (503, "bodies_full")

    @property
    def status(self) -> int:
        """The HTTP status."""
        return self.value[0]

    @property
    def word(self) -> str:
        """The word."""
        return self.value[1]


class Accepted(msgspec.Struct, frozen=True):
    """A head that may go on, once its lease is checked."""

    route: Route
    lease: str
    length: int | None
    """Body bytes; None = chunked."""
    forwarded: tuple[tuple[str, str], ...]
    session: str | None
    expects_continue: bool
    model: str | None = None
    """That of the path, where it stands there."""
    is_head: bool = False
    """Whether the answer goes back without its body."""


def read_head(head: bytes) -> Accepted | Denial:
    """What a request head (up to and with its blank line) asks for."""
    line, _, fields = head.partition(b"\r\n")
    request = _REQUEST_LINE.match(line)
    if request is None or _FIELDS.match(fields) is None:
        return Denial.BAD_REQUEST
    headers: dict[str, list[str]] = {}
    for field in fields.decode("ascii").split("\r\n")[:-2]:
        name, _, value = field.partition(":")
        name, value = name.lower(), value.strip(" \t")
        if name in headers:
            headers[name].append(value)
        else:
            headers[name] = [value]
    return _decide(request["method"].decode(), request["target"].decode(), headers)


def _decide(method: str, target: str, headers: dict[str, list[str]]) -> Accepted | Denial:
    leases = headers.get(LEASE_HEADER, [])
    if len(leases) != 1:
        return Denial.UNAUTHORIZED
    if not _is_one_payer(target, headers):
        return Denial.BAD_REQUEST
    route, model = _route(method, target)
    if route is None:
        return Denial.NOT_FOUND
    length = _body_length(headers)
    if isinstance(length, Denial):
        return length
    if "upgrade" in headers or headers.get("expect", ["100-continue"]) != ["100-continue"]:
        return Denial.BAD_REQUEST
    sessions = headers.get(SESSION_HEADER, [])
    return Accepted(
        route=route,
        lease=leases[0],
        length=None if length == _CHUNKED else length,
        forwarded=_forwarded(headers),
        session=sessions[0][:200] if len(sessions) == 1 and sessions[0] else None,
        expects_continue="expect" in headers,
        model=model,
        is_head=method == "HEAD",
    )


def _is_one_payer(target: str, headers: dict[str, list[str]]) -> bool:
    """Whether the caller's credentials, if there are any, are one and the same."""
    given = [value for name in CREDENTIALS if name in headers for value in headers[name]]
    if "?" in target:
        query = target.partition("?")[2].split("&")
        given += [pair.removeprefix("key=") for pair in query if pair.startswith("key=")]
    if len(given) < 2:
        return True
    twice = any(len(headers.get(name, ())) > 1 for name in CREDENTIALS)
    return not twice and len({_BEARER.sub("", value) for value in given}) == 1


def _route(method: str, target: str) -> tuple[Route | None, str | None]:
    named = addressed(target) if method == "POST" else None
    if named is None:
        return ROUTES.get((method, target)), None
    return ROUTES_OF_A_MODEL.get((named.folder, named.action)), named.model


_CHUNKED = -1


def _body_length(headers: dict[str, list[str]]) -> int | Denial:
    if headers.get("content-encoding", ["identity"]) != ["identity"]:
        return Denial.ENCODED
    lengths = headers.get("content-length")
    encodings = headers.get("transfer-encoding")
    if encodings is not None:
        chunked = lengths is None and encodings == ["chunked"]
        return _CHUNKED if chunked else Denial.BAD_REQUEST
    if lengths is None:
        return 0
    if len(lengths) != 1 or not _LENGTH.match(lengths[0]):
        return Denial.BAD_REQUEST
    return int(lengths[0]) if int(lengths[0]) <= MAX_BODY_BYTES else Denial.TOO_LARGE


def _forwarded(headers: dict[str, list[str]]) -> tuple[tuple[str, str], ...]:
    """What is listed, said once, and not meant for this hop only (RFC 9110, section 7.6.1)."""
    listed = [
        (name, values[0])
        for name, values in headers.items()
        if len(values) == 1
        and (name in FORWARDED or (name.startswith(FORWARDED_PREFIX) and _STAINLESS.match(name)))
    ]
    hops = ",".join(headers.get("connection", ())).lower()
    if hops in _NO_HOPS:
        return tuple(listed)
    own = {name.strip() for name in hops.split(",")}
    return tuple(header for header in listed if header[0] not in own)


def returned_headers(headers: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """The response headers that go back, each once and printable."""
    kept: dict[str, str] = {}
    for name, value in headers:
        lower = name.lower()
        allowed = lower in RETURNED or lower.startswith(RETURNED_PREFIXES)
        if allowed and lower not in kept and value.isascii() and value.isprintable():
            kept[lower] = value
    return list(kept.items())
