import pytest
from hypothesis import given
from hypothesis import strategies as st

from stanchion.broker.plane.http_gate import (
    FORWARDED,
    FORWARDED_PREFIX,
    LOCAL,
    UPSTREAM,
    Accepted,
    Denial,
    Route,
    read_head,
    returned_headers,
)

LEASE = "x-stanchion-lease: st1_x"


def head(
    *headers: str, line: str = "POST /v1/chat/completions HTTP/1.1", lease: str = LEASE
) -> bytes:
    return "\r\n".join([line, *([lease] if lease else []), *headers]).encode() + b"\r\n\r\n"


def test_a_model_request_is_accepted() -> None:
    accepted = read_head(
        head("Content-Length: 7", "User-Agent: opencode/1", "X-Session-Id: ses_1", "Cookie: a")
    )
    assert accepted == Accepted(
        route=Route.CHAT,
        lease="st1_x",
        length=7,
        forwarded=(("user-agent", "opencode/1"), ("x-session-id", "ses_1")),
        session="ses_1",
        expects_continue=False,
    )


@pytest.mark.parametrize(
    ("target", "route"),
    [
        ("/v1/messages", Route.MESSAGES),
        ("/v1/messages?beta=true", Route.MESSAGES_BETA),
        ("/v1/messages/count_tokens", Route.COUNT_TOKENS),
        ("/v1/messages/count_tokens?beta=true", Route.COUNT_TOKENS),
    ],
)
def test_messages_have_the_query_beta_or_none(target: str, route: Route) -> None:
    accepted = read_head(
        head(
            "Anthropic-Version: 2023-06-01",
            "anthropic-beta: a,b",
            "anthropic-organization-id: org",
            line=f"POST {target} HTTP/1.1",
        )
    )
    assert isinstance(accepted, Accepted)
    assert accepted.route is route
    assert accepted.forwarded == (("anthropic-version", "2023-06-01"), ("anthropic-beta", "a,b"))


def test_responses_have_one_route() -> None:
    accepted = read_head(head(line="POST /v1/responses HTTP/1.1"))
    assert isinstance(accepted, Accepted)
    assert accepted.route is Route.RESPONSES
    for target in ("/v1/responses?x=1", "/v1/responses/resp_1", "/v1/responses/compact"):
        assert read_head(head(line=f"POST {target} HTTP/1.1")) is Denial.NOT_FOUND


@pytest.mark.parametrize(
    ("version", "action", "route"),
    [
        ("v1beta", "generateContent", Route.GENERATE),
        ("v1beta", "streamGenerateContent?alt=sse", Route.GENERATE_STREAM),
        ("v1beta", "countTokens", Route.COUNT_TOKENS),
        ("v1", "generateContent", Route.GENERATE_V1),
        ("v1", "streamGenerateContent?alt=sse", Route.GENERATE_STREAM_V1),
        ("v1", "countTokens", Route.COUNT_TOKENS),
    ],
)
def test_a_model_in_the_path_is_taken_out_of_it(version: str, action: str, route: Route) -> None:
    accepted = read_head(
        head(
            "x-goog-api-client: sdk/1",
            "x-server-timeout: 20",
            "x-goog-user-project: other",
            "x-goog-api-key: other",
            line=f"POST /{version}/models/gemini-2.5-pro:{action} HTTP/1.1",
        )
    )
    assert isinstance(accepted, Accepted)
    assert (accepted.route, accepted.model) == (route, "gemini-2.5-pro")
    assert accepted.forwarded == (("x-goog-api-client", "sdk/1"), ("x-server-timeout", "20"))


@pytest.mark.parametrize(
    "line",
    [
        "GET /v1beta/models/m:generateContent",
        "GET /v1beta/models/m:streamGenerateContent?alt=sse",
        "GET /v1beta/models/m",
        "GET /v1beta/models?pageSize=5",
        "POST /v1beta/models",
        "POST /v1beta/models/m:generateContent?alt=sse",
        "POST /v1beta/models/m:generateContent?key=x",
        "POST /v1beta/models/m:generateContent?",
        "POST /v1beta/models/m:generateContent/",
        "POST /v1beta/models/m:streamGenerateContent",
        "POST /v1beta/models/m:streamGenerateContent?alt=SSE",
        "POST /v1beta/models/m:streamGenerateContent?alt=sse&key=x",
        "POST /v1beta/models/m:streamGenerateContent?key=x&alt=sse",
        "POST /v1beta/models/m:GenerateContent",
        "POST /v1beta/models/m:batchGenerateContent",
        "POST /v1beta/models/m:embedContent",
        "POST /v1beta/models/m:predict",
        "POST /v1beta/models/m:countTokens?x",
        "POST /v1beta/models/m%3agenerateContent",
        "POST /v1beta/models/m/../n:generateContent",
        "POST /v1beta/models/m:n:generateContent",
        "POST /v1beta/models/{model}:generateContent",
        "POST /v1beta/models/:generateContent",
        "POST /v1beta/tunedModels/m:generateContent",
        "POST /v1beta/cachedContents",
        "POST /v1beta/files",
        "POST /v1beta/interactions",
        "POST /upload/v1beta/files",
        "POST /v1beta1/models/m:generateContent",
        "POST /v1alpha/models/m:generateContent",
    ],
)
def test_no_other_path_with_a_model_is_served(line: str) -> None:
    assert read_head(head(line=f"{line} HTTP/1.1")) is Denial.NOT_FOUND


def test_a_route_is_answered_here_or_sent_on_by_its_dialect() -> None:
    assert set(LOCAL) | set(UPSTREAM) == set(Route)
    assert not set(LOCAL) & set(UPSTREAM)


def test_a_chunked_body_has_no_length() -> None:
    accepted = read_head(head("transfer-encoding: chunked", "expect: 100-continue"))
    assert isinstance(accepted, Accepted)
    assert (accepted.length, accepted.expects_continue) == (None, True)


@pytest.mark.parametrize(
    ("data", "denial"),
    [
        (head(lease=""), Denial.UNAUTHORIZED),
        (head(LEASE), Denial.UNAUTHORIZED),
        (head("X-STANCHION-LEASE: other"), Denial.UNAUTHORIZED),
        (head(line="GET /v1/chat/completions HTTP/1.1"), Denial.NOT_FOUND),
        (head(line="POST /v1/chat/completions? HTTP/1.1"), Denial.NOT_FOUND),
        (head(line="POST /v1/chat/completions#x HTTP/1.1"), Denial.NOT_FOUND),
        (head(line="POST /v1/chat%2fcompletions HTTP/1.1"), Denial.NOT_FOUND),
        (head(line="POST /v1/messages? HTTP/1.1"), Denial.NOT_FOUND),
        (head(line="POST /v1/messages?beta=TRUE HTTP/1.1"), Denial.NOT_FOUND),
        (head(line="POST /v1/messages?beta=true&beta=true HTTP/1.1"), Denial.NOT_FOUND),
        (head(line="GET /v1/messages HTTP/1.1"), Denial.NOT_FOUND),
        (head(line="POST /V1/chat/completions HTTP/1.1"), Denial.NOT_FOUND),
        (head(line="CONNECT x:443 HTTP/1.1"), Denial.NOT_FOUND),
        (head(line="POST /v1/chat/completions HTTP/1.0"), Denial.BAD_REQUEST),
        (head(line="POST /v1/chat/completions HTTP/2.0"), Denial.BAD_REQUEST),
        (head(line="POST /v1/chat/completions"), Denial.BAD_REQUEST),
        (head(line="post /v1/chat/completions HTTP/1.1"), Denial.BAD_REQUEST),
        (head(line="POST  /v1/chat/completions HTTP/1.1"), Denial.BAD_REQUEST),
        (head("content-length: 1", "content-length: 1"), Denial.BAD_REQUEST),
        (head("content-length: 1, 1"), Denial.BAD_REQUEST),
        (head("content-length: 0x1"), Denial.BAD_REQUEST),
        (head("content-length: -1"), Denial.BAD_REQUEST),
        (head("content-length: 67108865"), Denial.TOO_LARGE),
        (head("content-length: 1", "transfer-encoding: chunked"), Denial.BAD_REQUEST),
        (head("transfer-encoding: Chunked "), Denial.BAD_REQUEST),
        (head("transfer-encoding: identity"), Denial.BAD_REQUEST),
        (head("content-encoding: gzip"), Denial.ENCODED),
        (head("content-encoding: gzip, gzip"), Denial.ENCODED),
        (head("upgrade: h2c"), Denial.BAD_REQUEST),
        (head("authorization: Bearer a", "authorization: Bearer a"), Denial.BAD_REQUEST),
        (head("authorization: Bearer a", "x-api-key: b"), Denial.BAD_REQUEST),
        (head("x-goog-api-key: a", "api-key: b"), Denial.BAD_REQUEST),
        (head("x-api-key: a", line="POST /v1/messages?key=b HTTP/1.1"), Denial.BAD_REQUEST),
        (head(line="POST /v1/messages?key=a&key=b HTTP/1.1"), Denial.BAD_REQUEST),
        (head(line="POST /v1/messages?key=a HTTP/1.1"), Denial.NOT_FOUND),
        (head("expect: else"), Denial.BAD_REQUEST),
        (head("a b: c"), Denial.BAD_REQUEST),
        (head("name : c"), Denial.BAD_REQUEST),
        (head(" folded"), Denial.BAD_REQUEST),
        (head("x: \x7f"), Denial.BAD_REQUEST),
        (head("x: é"), Denial.BAD_REQUEST),
        (head("x: a\nb: c"), Denial.BAD_REQUEST),
        (b"\r\n\r\n", Denial.BAD_REQUEST),
    ],
)
def test_everything_else_is_denied(data: bytes, denial: Denial) -> None:
    assert read_head(data) is denial


def test_a_session_that_is_said_twice_is_unknown() -> None:
    accepted = read_head(head("x-session-id: a", "x-session-id: b"))
    assert isinstance(accepted, Accepted)
    assert accepted.session is None
    assert accepted.forwarded == ()


def test_one_credential_is_no_offence_and_never_travels() -> None:
    for lines in (
        ("authorization: Bearer sk-a",),
        ("x-api-key: sk-a",),
        ("Authorization: bearer sk-a", "x-api-key: sk-a", "api-key: sk-a"),
    ):
        accepted = read_head(head(*lines))
        assert isinstance(accepted, Accepted)
        assert accepted.forwarded == ()


def test_a_header_for_this_hop_only_does_not_travel() -> None:
    accepted = read_head(
        head("connection: close, X-Session-Id", "x-session-id: ses_1", "accept: */*")
    )
    assert isinstance(accepted, Accepted)
    assert accepted.forwarded == (("accept", "*/*"),)


def test_an_sdks_headers_travel_by_their_plain_names_only() -> None:
    accepted = read_head(head("x-stainless-os: Linux", "x-stainless-a_b: c", "x-stainless-: d"))
    assert isinstance(accepted, Accepted)
    assert accepted.forwarded == (("x-stainless-os", "Linux"),)


_names = st.sampled_from(["accept", "x-stainless-os", "authorization", "cookie", "host", "te"])


@given(
    st.lists(
        st.tuples(_names, st.text("abc :;=", max_size=8)), max_size=6, unique_by=lambda p: p[0]
    )
)
def test_only_listed_headers_travel(pairs: list[tuple[str, str]]) -> None:
    accepted = read_head(head(*(f"{name}: {value}" for name, value in pairs)))
    assert isinstance(accepted, Accepted)
    for name, _ in accepted.forwarded:
        assert name in FORWARDED or name.startswith(FORWARDED_PREFIX)


@given(st.binary(max_size=200))
def test_any_bytes_are_decided(data: bytes) -> None:
    assert isinstance(read_head(data), (Accepted, Denial))


def test_response_headers_go_back_by_list() -> None:
    headers = [
        ("Content-Type", "text/event-stream"),
        ("X-RateLimit-Remaining", "3"),
        ("anthropic-ratelimit-requests-remaining", "4"),
        ("anthropic-organization-id", "org"),
        ("Set-Cookie", "a=b"),
        ("Location", "http://x"),
        ("Transfer-Encoding", "chunked"),
        ("content-type", "second"),
        ("retry-after", "1\x1b[0m"),
    ]
    assert returned_headers(headers) == [
        ("content-type", "text/event-stream"),
        ("x-ratelimit-remaining", "3"),
        ("anthropic-ratelimit-requests-remaining", "4"),
    ]
