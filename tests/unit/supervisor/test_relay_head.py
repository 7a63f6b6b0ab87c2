import pytest

from stanchion.supervisor.relay_head import (
    BAD_REQUEST,
    MAX_HEAD_BYTES,
    UNREACHABLE,
    constant_answer,
    rewrite,
)

OURS = b"Connection: close\r\nx-stanchion-lease: T\r\n\r\n"


def head(*fields: bytes, line: bytes = b"POST /v1/x?a=b HTTP/1.1") -> bytes:
    return b"\r\n".join([line, *fields, b"", b""])


def test_the_lease_goes_in_and_the_rest_stays_byte_for_byte() -> None:
    kept = (b"Host: 127.0.0.1:1", b"CONTENT-length:  5", b"X-Odd:\t\xff\x80 value ", b"empty:")
    assert rewrite(head(*kept), "T") == head(*kept)[:-2] + OURS


@pytest.mark.parametrize(
    "name",
    [
        b"Authorization",
        b"x-api-key",
        b"X-Goog-Api-Key",
        b"API-KEY",
        b"X-Stanchion-Lease",
        b"x-stanchion-anything",
        b"Connection",
        b"Keep-Alive",
        b"Proxy-Authorization",
        b"Proxy-Connection",
    ],
)
def test_the_caller_s_credentials_and_connection_go_out(name: bytes) -> None:
    assert rewrite(head(name + b": secret", b"A: b"), "T") == head(b"A: b")[:-2] + OURS


@pytest.mark.parametrize(
    "bad",
    [
        b"",
        b"\r\n\r\n",
        b"GET / HTTP/1.1\r\n",
        head(line=b"GET  / HTTP/1.1"),
        head(line=b"GET / HTTP/2.0"),
        head(line=b"GET / HTTP/1.1 extra"),
        head(line=b"GET /\x00 HTTP/1.1"),
        head(line=b"G\xffT / HTTP/1.1"),
        head(b"no colon"),
        head(b"Name : value"),
        head(b"A: b", b" folded: c"),
        head(b"A: b\nX-Stanchion-Lease: mine"),
        head(b"A: b\rX: y"),
        head(b"A: b\x00"),
        head(b": nameless"),
        head(b"A: " + b"x" * MAX_HEAD_BYTES),
    ],
)
def test_a_malformed_head_is_not_passed_on(bad: bytes) -> None:
    assert rewrite(bad, "T") is None


def test_a_body_that_came_with_the_head_is_not_a_head() -> None:
    assert rewrite(head(b"A: b") + b"{}", "T") is None


@pytest.mark.parametrize("answer", [BAD_REQUEST, UNREACHABLE, constant_answer("400 X", "y")])
def test_constant_answers_are_whole(answer: bytes) -> None:
    top, _, body = answer.partition(b"\r\n\r\n")
    assert f"Content-Length: {len(body)}".encode() in top
    assert b"Connection: close" in top
