"""Attacks 35, 37 and 41: redirects, what else a head can carry, and an answer behind the answer."""

import asyncio

import pytest

from fakes.raw_sink import ANSWER_BODY, raw_sink
from fakes.refusals import constant_reply
from fakes.supervisor import ask
from fakes.upstream import response, sends, upstream
from functional.broker.live import LiveBroker, enrolled
from security.broker.hostile_provider import JSON_HEAD, NO_WAITS, WHOLE, exchanged
from security.broker.raw_client import BODY
from stanchion.protocol.exchange import ErrorClass, ExchangeResult

# Attack 35: redirects.


@pytest.mark.parametrize("status", [300, 301, 302, 303, 305, 307, 308, 399])
async def test_attack_35_no_redirect_is_followed(broker: LiveBroker, status: int) -> None:
    with raw_sink() as other:
        place = f"http://127.0.0.1:{other.port}/v1/chat/completions"
        moved = response(
            status, b"{}", headers=[("location", place), ("refresh", f"0;url={place}")]
        )
        reply, end = await exchanged(broker, moved)
        assert (reply.status, reply.body) == (502, constant_reply("upstream_redirect"))
        assert "location" not in reply.headers
        assert end.answered.error_class is ErrorClass.UPSTREAM_PROTOCOL
        assert (other.requests, other.surplus) == ([], b"")


# Attack 37: what else a head can carry.


async def test_attack_37_of_headers_only_listed_and_plain_ones_come_through(
    broker: LiveBroker,
) -> None:
    headers = [
        ("set-cookie", "a=b"),
        ("location", "http://evil.example"),
        ("content-security-policy", "x"),
        ("alt-svc", 'h3="evil.example:443"'),
        ("upgrade", "h2c"),
        ("x-request-id", "caf\u00e9"),
        ("x-ratelimit-limit-requests", "5"),
        ("trailer", "x-echo"),
        ("strict-transport-security", "max-age=1"),
    ]
    reply, _ = await exchanged(broker, response(200, ANSWER_BODY, headers=headers))
    assert set(reply.headers) == {
        *("content-type", "content-length", "connection", "x-ratelimit-limit-requests"),
    }


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 101 Switching Protocols\r\nupgrade: h2c\r\nconnection: upgrade\r\n\r\n",
        b"HTTP/1.1 101 Switching Protocols\r\n\r\n",
        b"HTTP/1.1 102 Processing\r\n\r\n" * 5000,
        b"HTTP/1.1 103 Early Hints\r\nlink: <http://evil.example>\r\n\r\n" * 2000,
        b"HTTP/1.1 099 Low\r\n\r\n",
        b"HTTP/1.1 2000 High\r\n\r\n",
        b"HTTP/2.0 200 OK\r\ncontent-length: 2\r\n\r\n{}",
        b"ICY 200 OK\r\ncontent-length: 2\r\n\r\n{}",
        b"HTTP/1.1 200 OK\r\nx-request-id: \x1b]52;c;aGk=\x07\r\ncontent-length: 2\r\n\r\n{}",
        b"HTTP/1.1 200 OK\r\nretry-after: 1\x00\r\ncontent-length: 2\r\n\r\n{}",
    ],
    ids=["101", "bare 101", "many 102", "many 103", "099", "2000", "HTTP/2.0", "ICY", "ESC", "NUL"],
)
async def test_attack_37_a_head_that_is_no_answer_is_a_constant_502(
    broker: LiveBroker, answer: bytes
) -> None:
    reply, end = await exchanged(broker, sends(answer))
    assert reply.status == 502
    assert reply.body in {constant_reply("upstream_protocol"), constant_reply("upstream_redirect")}
    assert end.answered.result is ExchangeResult.UNREADABLE


async def test_attack_37_the_reason_is_ours(broker: LiveBroker) -> None:
    raw = b"HTTP/1.1 200 \x1b]0;evil\x07\r\ncontent-length: %d\r\n\r\n" % len(ANSWER_BODY)
    async with (
        upstream(sends(raw + ANSWER_BODY)) as provider,
        enrolled(broker, provider.port, waits=NO_WAITS) as run,
    ):
        reader, writer = await asyncio.open_unix_connection(str(run.directory / "model.sock"))
        head = f"POST /v1/chat/completions HTTP/1.1\r\nx-stanchion-lease: {run.lease}\r\n"
        writer.write(f"{head}content-length: {len(BODY)}\r\n\r\n".encode() + BODY)
        answer = await reader.read()
        writer.close()
    assert answer.startswith((b"HTTP/1.1 200 OK\r\n", b"HTTP/1.1 502 Bad Gateway\r\n"))
    assert b"evil" not in answer


# Attack 41: an answer behind the answer.


@pytest.mark.parametrize(
    "behind",
    [
        b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n%b"
        % (len(WHOLE), WHOLE.replace(b"hi", b"EV")),
        b"HTTP/1.1 200 OK\r\n",
        b"garbage",
        b"\r\n",
    ],
    ids=["whole", "head", "garbage", "empty line"],
)
async def test_attack_41_what_follows_an_answer_belongs_to_nobody(
    broker: LiveBroker, behind: bytes
) -> None:
    first = JSON_HEAD + b"content-length: %d\r\nconnection: keep-alive\r\n\r\n" % len(WHOLE) + WHOLE
    second = response(200, WHOLE.replace(b"hi", b"me"))
    async with (
        upstream(sends(first + behind), second) as provider,
        enrolled(broker, provider.port, waits=NO_WAITS) as run,
        enrolled(broker, provider.port, waits=NO_WAITS) as other,
    ):
        assert (await ask(run.directory, BODY, lease=run.lease)).body == WHOLE
        for attempt in (other, run):
            reply = await ask(attempt.directory, BODY, lease=attempt.lease)
            assert reply.body == WHOLE.replace(b"hi", b"me")
