"""Attacks 25, 27, 28 and 29: bodies that hide, that flood, and that never come to an end."""

import asyncio
import contextlib
import gzip
import hashlib
import zlib

import pytest

from fakes.launches import LIMIT, MODEL
from fakes.raw_sink import ANSWER_BODY, RawSink
from fakes.refusals import constant_reply
from fakes.supervisor import ask
from fakes.upstream import chunk, response, upstream
from functional.broker.live import LiveBroker, enrolled
from functional.broker.plane.in_process import in_process
from security.broker.raw_client import BODY, Reply, Target
from stanchion.broker.plane.http_gate import MAX_BODY_BYTES
from stanchion.broker.plane.limits import Limits as Waits
from stanchion.broker.plane.model_socket import MAX_BODIES_BYTES
from stanchion.protocol.receipt import Denied, ExchangeStart

OK = response(200, ANSWER_BODY)
PACKED = gzip.compress(BODY, mtime=0)


# Attack 25: one key twice. (Every spelling of it is in test_json_suite.)


def test_attack_25_the_original_bytes_are_forwarded(broker: LiveBroker, target: Target) -> None:
    odd = (
        b'{ "model":"%b" ,\r\n "max_tokens" : %d,"reasoning_effort":"max","x":1.50,"y":1.0E4,'
        b'"z":"\\u00e9\xc3\xa9\\/"}\n' % (MODEL.encode(), LIMIT)
    )
    assert target.ask(body=odd).status == 200
    (request,) = target.sink.taken()
    assert request.body == odd
    starts = [r for r in asyncio.run(broker.records(target.run)) if isinstance(r, ExchangeStart)]
    assert starts[-1].sent.body_sha256 == hashlib.sha256(odd).hexdigest()


@pytest.mark.parametrize(
    "twice",
    [
        b'"max_tokens":1',
        b'"max\\u005ftokens":1',
        b'"\\u006dax_tokens":1',
        b'"reasoning_effort":"low"',
        b'"model":"other"',
        b'"x":{"a":1,"a":1}',
        b'"tools":[{"function":{"name":"a","name":"b"}}]',
    ],
)
def test_attack_25_a_key_twice_is_refused(target: Target, twice: bytes) -> None:
    for body in (BODY[:-1] + b"," + twice + b"}", b"{" + twice + b"," + BODY[1:]):
        assert target.ask(body=body) == Reply(400, constant_reply("bad_body"))
    target.assert_nothing_came_but()


# Attack 27: encoded bodies.


@pytest.mark.parametrize(
    ("fields", "body"),
    [
        ((b"content-encoding: gzip",), PACKED),
        ((b"content-encoding: gzip, gzip",), gzip.compress(PACKED, mtime=0)),
        ((b"content-encoding: deflate",), zlib.compress(BODY)),
        ((b"content-encoding: br",), BODY),
        ((b"content-encoding: zstd",), BODY),
        ((b"content-encoding: identity, gzip",), PACKED),
        ((b"content-encoding: identity", b"content-encoding: gzip"), PACKED),
        ((b"content-encoding: GZIP",), PACKED),
        ((b"content-encoding: x-unknown",), BODY),
        ((b"content-encoding:",), BODY),
    ],
)
def test_attack_27_an_encoded_body_is_refused_unread(
    target: Target, fields: tuple[bytes, ...], body: bytes
) -> None:
    assert target.ask(*fields, body=body) == Reply(415, constant_reply("encoded_body"))
    target.assert_nothing_came_but()


def test_attack_27_compressed_bytes_without_the_header_are_no_body(target: Target) -> None:
    assert target.ask(body=PACKED).status == 400
    assert target.ask(b"content-encoding: identity").status == 200
    assert [request.body for request in target.sink.taken()] == [BODY]


# Attack 28: floods of bytes.


def test_attack_28_a_length_beyond_the_cap_is_refused_before_a_byte_of_it(target: Target) -> None:
    head = target.head(b"content-length: %d" % (MAX_BODY_BYTES + 1))
    assert target.send(head) == Reply(413, constant_reply("too_large"))


def test_attack_28_chunks_beyond_the_cap_are_refused(target: Target) -> None:
    head = target.head(b"transfer-encoding: chunked")
    piece = chunk(b" " * (1 << 20))
    reply = target.send(head, *[piece] * (MAX_BODY_BYTES // (1 << 20) + 2))
    assert reply in {Reply(413, constant_reply("too_large")), Reply(0, b"")}
    target.assert_nothing_came_but()


def test_attack_28_small_chunks_with_much_around_them_are_refused(target: Target) -> None:
    head = target.head(b"transfer-encoding: chunked")
    piece = b"1;" + b"e" * 60_000 + b"\r\n \r\n"
    reply = target.send(head, *[piece] * 1400)
    assert reply in {
        Reply(413, constant_reply("too_large")),
        Reply(400, constant_reply("bad_request")),
        Reply(0, b""),
    }
    target.assert_nothing_came_but()


async def test_attack_28_bodies_of_one_attempt_are_bounded_together_and_others_go_on(
    broker: LiveBroker,
) -> None:
    """Each within its cap, none of them ended."""
    size = MAX_BODY_BYTES - 1
    piece = b" " * (1 << 20)
    async with (
        upstream(OK) as provider,
        enrolled(broker, provider.port) as run,
        enrolled(broker, provider.port) as other,
    ):
        target = Target(run.id, run.directory, run.lease, RawSink(0))
        head = target.head(b"content-length: %d" % size)
        held, refused = [], []
        for _ in range(MAX_BODIES_BYTES // size + 1):
            reader, writer = await asyncio.open_unix_connection(str(run.directory / "model.sock"))
            writer.write(head)
            try:
                for _ in range(size >> 20):
                    writer.write(piece)
                    await writer.drain()
            except ConnectionError:
                refused.append(reader)
            held.append(writer)
        assert len(refused) == 1
        assert (await ask(other.directory, BODY, lease=other.lease)).status == 200
        for writer in held:
            writer.close()
        while (await ask(run.directory, BODY, lease=run.lease)).status != 200:
            pass  # the broker has not heard of the last close yet
    denied = [r.why for r in await broker.records(run.id) if isinstance(r, Denied)]
    assert set(denied) == {"bodies_full"}


# Attack 29: those who never come to an end.

SOON = 0.1


@pytest.mark.parametrize(
    ("data", "word"),
    [
        (b"", "request_head_too_slow"),
        (b"\r\n", "request_head_too_slow"),
        (b"POST /v1/chat/completions HTTP/1.1\r\nx: ", "request_head_too_slow"),
        (b"@content-length: 99\r\n\r\n{", "request_body_too_slow"),
        (b"@transfer-encoding: chunked\r\n\r\n1\r\n{\r\n", "request_body_too_slow"),
    ],
)
async def test_attack_29_what_never_ends_is_cut_off(data: bytes, word: str) -> None:
    async with in_process(9, limits=Waits(request_head_s=SOON, request_body_s=SOON)) as stage:
        start = stage.head(0).partition(b"content-length")[0]
        reader, writer = await stage.connect()
        writer.write(data.replace(b"@", start))
        assert await reader.read() == b""
        assert await stage.denied() == word
        writer.close()


async def test_attack_29_a_head_that_drips_is_cut_off_all_the_same() -> None:
    async with in_process(9, limits=Waits(request_head_s=SOON)) as stage:
        reader, writer = await stage.connect()
        with contextlib.suppress(ConnectionError):
            while not reader.at_eof():
                writer.write(b"P")
                await writer.drain()
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(reader.read(1), SOON / 20)
        assert await stage.denied() == "request_head_too_slow"
        writer.close()


async def test_attack_29_many_idle_connections_are_in_nobodys_way(broker: LiveBroker) -> None:
    async with (
        upstream(OK) as provider,
        enrolled(broker, provider.port) as run,
        enrolled(broker, provider.port) as other,
    ):
        path = str(run.directory / "model.sock")
        idle = [await asyncio.open_unix_connection(path) for _ in range(Waits().connections + 50)]
        answers = await asyncio.gather(
            *(ask(other.directory, BODY, lease=other.lease) for _ in range(20))
        )
        assert {answer.status for answer in answers} == {200}
        for _, writer in idle:
            writer.close()
