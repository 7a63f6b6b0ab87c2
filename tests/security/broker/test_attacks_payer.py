"""Attacks 10, 13 and 24: the caller's credentials, another model than launched, and headers."""

import asyncio
import json
import re
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes.launches import MODEL
from fakes.raw_sink import ANSWER_BODY, RawSink
from fakes.refusals import constant_reply
from fakes.supervisor import ask
from functional.broker.live import LiveBroker, enrolled
from security.broker.dialect_requests import ORDINARY
from security.broker.raw_client import (
    BAD_REQUEST,
    BODY,
    LENGTH,
    OURS,
    REQUEST_LINE,
    Reply,
    Target,
    assert_refused,
)
from stanchion.broker.plane.http_gate import FORWARDED, Accepted, read_head
from stanchion.protocol.dialects import Dialect
from stanchion.protocol.receipt import ExchangeStart, Mismatched

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
    assert target.post("/v1/chat/completions" + place, *fields) == BAD_REQUEST
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
