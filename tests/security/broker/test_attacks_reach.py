"""Attacks 10, 11, 13, 14, 18 to 21 and 24: another payer, place, model or address than launched."""

import asyncio
import inspect
import json
import re
import string
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fakes.launches import MODEL
from fakes.raw_sink import ANSWER_BODY, RawSink
from fakes.supervisor import ask
from functional.broker.live import LiveBroker, enrolled
from security.broker.dialect_requests import ORDINARY
from security.broker.raw_client import (
    BODY,
    OURS,
    REQUEST_LINE,
    Reply,
    Target,
    assert_refused,
)
from stanchion.broker.admin.routes import Admin
from stanchion.broker.config import read_config, split_base_url
from stanchion.broker.egress import Egress
from stanchion.broker.plane.http_gate import FORWARDED, Accepted, read_head
from stanchion.broker.plane.replies import constant_reply
from stanchion.broker.plane.upstream import request_head
from stanchion.protocol.dialects import Dialect
from stanchion.protocol.receipt import ExchangeStart, Mismatched
from stanchion.protocol.refusal import RefusedError

LENGTH = b"content-length: %d" % len(BODY)
NOT_FOUND = Reply(404, constant_reply("not_found"))
BAD_REQUEST = Reply(400, constant_reply("bad_request"))


def post(target: Target, place: str, *fields: bytes, method: str = "POST") -> Reply:
    line = f"{method} {place} HTTP/1.1".encode()
    return target.send(target.head(*fields, LENGTH, line=line) + BODY)


# Attack 10: the caller's credentials.


@pytest.mark.parametrize(
    ("place", "fields"),
    [
        ("", (b"authorization: Bearer a", b"authorization: Bearer a")),
        ("", (b"authorization: Bearer a", b"Authorization: Bearer b")),
        ("", (b"authorization: Bearer a", b"x-api-key: b")),
        ("", (b"x-api-key: a", b"x-goog-api-key: b")),
        ("", (b"x-goog-api-key: a", b"api-key: b")),
        ("", (b"api-key: a", b"authorization: Basic YTpi")),
        ("?key=a", (b"x-goog-api-key: b",)),
        ("?key=a&key=b", ()),
    ],
)
def test_attack_10_two_credentials_that_disagree_are_refused(
    target: Target, place: str, fields: tuple[bytes, ...]
) -> None:
    assert post(target, "/v1/chat/completions" + place, *fields) == BAD_REQUEST
    target.assert_nothing_came_but()


@pytest.mark.parametrize(
    "fields",
    [
        (),
        (b"authorization: Bearer sk-own",),
        (b"x-api-key: sk-own",),
        (b"x-goog-api-key: sk-own",),
        (b"api-key: sk-own",),
        (b"authorization: Bearer sk-own", b"x-api-key: sk-own"),
    ],
)
def test_attack_10_one_credential_is_taken_away(target: Target, fields: tuple[bytes, ...]) -> None:
    assert target.ask(*fields) == Reply(200, ANSWER_BODY)
    (request,) = target.sink.taken()
    assert b"sk-own" not in request.head
    assert {name for name, _ in request.fields} <= OURS


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


# Attack 13: another model.


@pytest.mark.parametrize(
    "model",
    [
        "other-model",
        MODEL.upper(),
        MODEL + " ",
        " " + MODEL,
        MODEL + ":online",
        MODEL + "-2025",
        f"openai/{MODEL}",
        f"{MODEL}\u0000",
        MODEL.replace("-", "\u2010"),
        "",
        None,
        [MODEL],
        {"id": MODEL},
        5,
    ],
)
async def test_attack_13_another_model_is_never_sent(
    broker: LiveBroker, sink: RawSink, model: object
) -> None:
    body = json.dumps({"model": model, "max_tokens": 128_000, "reasoning_effort": "max"}).encode()
    async with enrolled(broker, sink.port) as run:
        reply = await ask(run.directory, body, lease=run.lease)
        assert (reply.status, reply.body) == (403, constant_reply("mismatch"))
        (found,) = [r for r in await broker.records(run.id) if isinstance(r, Mismatched)]
        assert found.mismatch.field == "model"
        again = await ask(run.directory, BODY, lease=run.lease)
        assert again.status == 403  # the attempt is over
    assert sink.taken() == []


@pytest.mark.parametrize(
    ("place", "body"),
    [
        ("/v1beta/models/other:generateContent", {}),
        (f"/v1beta/models/{MODEL.upper()}:generateContent", {}),
        (f"/v1beta/models/{MODEL}:generateContent", {"model": "other"}),
        (f"/v1beta/models/{MODEL}:generateContent", {"model": "models/other"}),
        (f"/v1beta/models/{MODEL}%20:generateContent", {}),
        (f"/v1beta/models/../models/{MODEL}:generateContent", {}),
        (f"/v1beta/tunedModels/{MODEL}:generateContent", {}),
        (f"/v1beta/models/{MODEL}:generateContent:generateContent", {}),
    ],
)
async def test_attack_13_gemini_has_no_other_model_in_its_path_or_body(
    broker: LiveBroker, sink: RawSink, place: str, body: dict[str, object]
) -> None:
    ordinary = ORDINARY[Dialect.GEMINI]
    async with enrolled(broker, sink.port, **ordinary.terms(Dialect.GEMINI)) as run:
        reply = await ask(run.directory, ordinary.encoded(body), lease=run.lease, target=place)
        assert reply.status in {400, 403, 404}
    assert sink.taken() == []


def test_attack_13_the_model_on_the_wire_is_that_of_receipt_and_launch(
    broker: LiveBroker, target: Target
) -> None:
    assert target.ask().status == 200
    (request,) = target.sink.taken()
    starts = [r for r in asyncio.run(broker.records(target.run)) if isinstance(r, ExchangeStart)]
    assert json.loads(request.body)["model"] == starts[-1].sent.model == MODEL


# Attack 14: other services of the same provider.

PLACES: dict[str, list[str]] = {}
for _line in (Path(__file__).parent / "provider_places.txt").read_text().splitlines()[1:]:
    _whose, _place = _line.split(" ")
    PLACES.setdefault(_whose, []).append(_place)


@pytest.mark.parametrize("provider", PLACES)
def test_attack_14_no_other_service_is_reached(target: Target, provider: str) -> None:
    for place in PLACES[provider]:
        for method in ("GET", "POST", "DELETE"):
            assert post(target, place, method=method) == NOT_FOUND, (method, place)
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
    assert post(target, place) == NOT_FOUND
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
    assert post(target, place) == NOT_FOUND
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
    reply = post(target, place)
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
    assert post(target, "/v1/chat/completions" + query) == NOT_FOUND
    target.assert_nothing_came_but()


@pytest.mark.parametrize(
    "query", ["?beta=TRUE", "?beta=true&beta=true", "?beta=true&x=1", "?beta=1", "?beta=true#x"]
)
def test_attack_20_the_one_query_of_messages_has_one_spelling(target: Target, query: str) -> None:
    assert post(target, "/v1/messages" + query) == NOT_FOUND
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


# Attack 24: headers.


@pytest.mark.parametrize(
    "fields",
    [
        (b"x_session_id: ses_1",),
        (b"Anthropic_Beta: files-api",),
        (b"x-stainless-a_b: c",),
        (b"content-length-x: 5",),
        (b"user-agent: a", b"user-agent: b"),
        (b"connection: user-agent", b"user-agent: a"),
        (b"accept-encoding: gzip",),
        (b"via: 1.1 evil",),
        (b"x-goog-api-client: a\tb",),
        (b"range: bytes=0-5", b"if-none-match: x"),
        (b"cookie: a=b", b"set-cookie: a=b"),
        (b"openai-organization: org", b"openai-project: p"),
        (b"anthropic-user-profile-id: other",),
    ],
)
def test_attack_24_a_header_that_is_not_listed_stays_here(
    target: Target, fields: tuple[bytes, ...]
) -> None:
    assert target.ask(*fields) == Reply(200, ANSWER_BODY)
    (request,) = target.sink.taken()
    names = {name for name, _ in request.fields}
    assert names <= OURS | {b"x-goog-api-client"}
    assert dict(request.fields)[b"accept-encoding"] == b"identity"


_names = st.one_of(
    st.sampled_from(sorted(FORWARDED)),
    st.sampled_from(sorted(FORWARDED)).map(lambda name: name.replace("-", "_")),
    st.text("!#$%&'*+.^_`|~-" + string.ascii_letters + string.digits, min_size=1, max_size=20),
    st.text("abcdefgh-_", max_size=12).map(lambda text: "x-stainless-" + text),
)
_values = st.text(string.printable + "\x00\x7f\u00e9\u2028", max_size=20)


@given(st.lists(st.tuples(_names, _values), max_size=6))
def test_attack_24_what_travels_is_listed_said_once_and_plain(
    fields: list[tuple[str, str]],
) -> None:
    lines = [f"{name}: {value}" for name, value in fields]
    head = "\r\n".join([REQUEST_LINE.decode(), "x-stanchion-lease: x", *lines]) + "\r\n\r\n"
    accepted = read_head(head.encode())
    if isinstance(accepted, Accepted):
        names = [name for name, _ in accepted.forwarded]
        assert len(set(names)) == len(names)
        for name, value in accepted.forwarded:
            assert name in FORWARDED or re.fullmatch(r"x-stainless-[a-z0-9-]+", name)
            assert re.fullmatch(r"[\t -~]*", value)


def test_attack_10_to_24_refusals_tell_nothing_of_what_came(target: Target) -> None:
    marked = b"CANARY-of-a-caller"
    for data in (
        target.head(line=b"GET /%b HTTP/1.1" % marked),
        target.head(marked),
        target.head(b"%b: x" % marked, b"content-length: x"),
        target.head(LENGTH, line=b"%b / HTTP/1.1" % marked),
        target.head(b"content-length: %d" % len(marked)) + marked,
    ):
        reply = target.send(data)
        assert_refused(reply)
        assert marked not in reply.body
