"""Attacks 11, 14 and 18 to 21: another place or address than launched."""

import inspect
import json
import re
import string
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fakes.raw_sink import ANSWER_BODY
from security.broker.raw_client import BAD_REQUEST, NOT_FOUND, REQUEST_LINE, Reply, Target
from stanchion.broker.admin.routes import Admin
from stanchion.broker.config import read_config, split_base_url
from stanchion.broker.egress import Egress
from stanchion.broker.plane.target import request_head
from stanchion.protocol.dialects import Dialect
from stanchion.protocol.refusal import RefusedError

# Attack 11: the admin API.


def admin_routes() -> list[tuple[str, str]]:
    source = inspect.getsource(Admin.application)
    found = re.findall(r'add_(get|post)\(\s*"([^"]+)"', source)
    assert len(found) >= 20
    return [(method.upper(), path) for method, path in found]


def test_attack_11_no_admin_route_is_behind_the_model_socket(target: Target) -> None:
    for method, path in admin_routes():
        for place in (path, path.replace("{id}", target.run).replace("{name}", "rehearsal")):
            line = f"{method} {place} HTTP/1.1".encode()
            sent = target.head(b"content-length: 2", line=line) + b"{}"
            reply = target.send(sent)
            assert reply.status in {400, 404}, place  # braces are no letters of a target either
            assert reply.body in {NOT_FOUND.body, BAD_REQUEST.body}
    target.assert_nothing_came_but()


# Attack 14: other services of the same provider.

PLACES: dict[str, list[str]] = {}
for _line in (Path(__file__).parent / "provider_places.txt").read_text().splitlines()[1:]:
    _whose, _place = _line.split(" ")
    PLACES.setdefault(_whose, []).append(_place)


@pytest.mark.parametrize("provider", PLACES)
def test_attack_14_no_other_service_is_reached(target: Target, provider: str) -> None:
    for place in PLACES[provider]:
        for method in ("GET", "POST", "DELETE"):
            assert target.post(place, method=method) == NOT_FOUND, (method, place)
    target.assert_nothing_came_but()


# Attack 18: Host and absolute addresses.


@pytest.mark.parametrize(
    "place",
    [
        "http://evil.example/v1/chat/completions",
        "https://evil.example/v1/chat/completions",
        "//evil.example/v1/chat/completions",
        "http:/v1/chat/completions",
        "evil.example:443",
        "*",
        "/\\evil.example/v1/chat/completions",
        "@evil.example/v1/chat/completions",
    ],
)
def test_attack_18_a_target_with_a_host_is_none(target: Target, place: str) -> None:
    assert target.post(place) == NOT_FOUND
    target.assert_nothing_came_but()


@pytest.mark.parametrize(
    "fields",
    [
        (),
        (b"host: evil.example",),
        (b"host: x:4000/#@evil.example",),
        (b"host: evil.example", b"host: other.example"),
        (b"host:",),
        (b"host: 169.254.169.254", b"x-forwarded-host: evil.example", b"forwarded: host=evil"),
        (b"host: evil.example", b"x-forwarded-proto: https", b"x-real-ip: 127.0.0.1"),
    ],
)
def test_attack_18_the_host_that_a_caller_names_is_never_used(
    target: Target, fields: tuple[bytes, ...]
) -> None:
    assert target.ask(*fields) == Reply(200, ANSWER_BODY)
    (request,) = target.sink.taken()
    assert dict(request.fields)[b"host"] == b"127.0.0.1:%d" % target.sink.port
    assert b"evil" not in request.head


# Attacks 19 and 20: other spellings of a path, and queries.


@pytest.mark.parametrize(
    "place",
    [
        "/v1/../v1/chat/completions",
        "/v1/./chat/completions",
        "/v1/chat/completions/",
        "/v1/chat/completions/.",
        "/v1/chat/completions/../../files",
        "/v1/%2e%2e/v1/chat/completions",
        "/v1/chat%2fcompletions",
        "/v1/ch%61t/completions",
        "/v1/%252e%252e/files",
        "/v1//chat/completions",
        "//v1/chat/completions",
        "/v1/chat/completions;x=1",
        "/v1/chat/completions#frag",
        "/v1\\chat\\completions",
        "/V1/Chat/Completions",
        "/v1/chat/completions%00",
        "/v1/chat/completions%0d%0a",
        "/v1/messages/../files",
        "/chat/completions",
        "/v1/v1/chat/completions",
    ],
)
def test_attack_19_only_the_very_bytes_of_a_route_are_one(target: Target, place: str) -> None:
    assert target.post(place) == NOT_FOUND
    target.assert_nothing_came_but()


_path_letters = st.text(string.ascii_letters + string.digits + "/%.;?#&=\\:@-_~", max_size=40)


@settings(max_examples=150)
@given(
    st.one_of(
        _path_letters.map(lambda text: "/" + text),
        st.tuples(
            st.integers(0, 20), st.sampled_from(["/", "..", "%2e", "//", ";", "?", "#", "%"])
        ).map(
            lambda cut: "/v1/chat/completions"[: cut[0]] + cut[1] + "/v1/chat/completions"[cut[0] :]
        ),
    )
)
def test_attack_19_what_goes_upstream_is_always_of_the_table(target: Target, place: str) -> None:
    reply = target.post(place)
    came = target.sink.taken()
    assert {request.request_line for request in came} <= {REQUEST_LINE}
    if came == []:
        assert 400 <= reply.status < 500
        assert place.encode() not in reply.body or len(place) < 5


@pytest.mark.parametrize(
    "query",
    ["?key=sk-x", "?alt=sse", "?$.xgafv=1", "?api-version=2024-01", "?", "?beta=true", "?stream=1",
     "?a=b&beta=true", "?key=", "?access_token=x", "?base_url=http://x", "?model=x", "?%6bey=x"],
)  # fmt: skip
def test_attack_20_a_query_belongs_to_the_route(target: Target, query: str) -> None:
    assert target.post("/v1/chat/completions" + query) == NOT_FOUND
    target.assert_nothing_came_but()


@pytest.mark.parametrize(
    "query", ["?beta=TRUE", "?beta=true&beta=true", "?beta=true&x=1", "?beta=1", "?beta=true#x"]
)
def test_attack_20_the_one_query_of_messages_has_one_spelling(target: Target, query: str) -> None:
    assert target.post("/v1/messages" + query) == NOT_FOUND
    target.assert_nothing_came_but()


# Attack 21: addresses in the configuration.

ACCOUNT = """
version = 1
[profiles.p.accounts.a]
api = "openai_chat"
credential = "none"
base_url = {}
"""
_url_parts = st.text(
    string.ascii_letters + string.digits + "./:@#?%[]\\ \t\r\n_-~$&*é", max_size=30
)


@given(st.sampled_from(["https://", "http://127.0.0.1", "https://api.example.com"]), _url_parts)
def test_attack_21_an_address_that_is_configured_is_plain_or_refused(start: str, rest: str) -> None:
    text = ACCOUNT.format(json.dumps(start + rest))
    try:
        config = read_config(text.encode())
    except RefusedError:
        return
    account = config.profiles["p"].accounts["a"]
    url = split_base_url(account.base_url, field="f", allow_plain_http=False)
    target = Egress(tls=None, proxy=None).target(url, None, Dialect.OPENAI_CHAT)
    head = request_head(target, "/chat/completions", (), 0).decode()
    first, host = head.split("\r\n")[:2]
    assert re.fullmatch(r"POST (/[A-Za-z0-9._~-]+)*/chat/completions HTTP/1\.1", first)
    assert re.fullmatch(r"host: [A-Za-z0-9.:\[\]-]+", host)
