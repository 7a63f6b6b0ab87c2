"""The head of a request, with the one key in it."""

from dataclasses import replace

from stanchion.broker.plane.pool import Pool
from stanchion.broker.plane.target import Target, question_head, request_head
from stanchion.broker.secrets import Secret

TARGET = Target(
    host="h", port=443, authority="h:8443", path="/v1", tls=None, key=Secret("sk-CANARY-1")
)


def test_the_head_is_ours_but_for_listed_headers() -> None:
    head = request_head(TARGET, "/chat/completions", (("accept", "*/*"),), 7).decode()
    assert head.split("\r\n") == [
        "POST /v1/chat/completions HTTP/1.1",
        "host: h:8443",
        "content-length: 7",
        "accept-encoding: identity",
        "connection: close",
        "accept: */*",
        "authorization: Bearer sk-CANARY-1",
        "",
        "",
    ]


def test_the_key_goes_in_the_header_of_its_dialect() -> None:
    target = replace(TARGET, key_header=("x-api-key", ""))
    head = request_head(target, "/v1/messages", (), 0)
    assert b"x-api-key: sk-CANARY-1\r\n" in head
    assert b"authorization" not in head


def test_an_account_without_a_key_sends_none() -> None:
    target = Target(host="h", port=80, authority="h", path="", tls=None, key=None)
    assert b"authorization" not in request_head(target, "/x", (), 0)


def test_a_target_does_not_print_its_key() -> None:
    assert "CANARY" not in repr(TARGET)


def test_a_question_is_a_get_with_the_key() -> None:
    head = question_head(TARGET, "/models", (("x", "y"),)).decode()
    assert head.startswith("GET /v1/models HTTP/1.1\r\nhost: h:8443\r\n")
    assert "content-length" not in head
    assert "\r\nx: y\r\n" in head
    assert head.endswith("authorization: Bearer sk-CANARY-1\r\n\r\n")


def test_with_a_pool_the_connection_is_asked_to_stay() -> None:
    head = request_head(replace(TARGET, pool=Pool()), "/chat/completions", (), 7)
    assert b"connection" not in head
