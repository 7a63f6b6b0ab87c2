"""A provider that encodes its body though identity was asked for."""

import asyncio
import gzip
import hashlib
import json
import zlib

import pytest

from fakes.encodings import ENCODINGS
from fakes.launches import KEY, LIMIT, MODEL
from fakes.supervisor import ask, parse
from fakes.upstream import Answer, Received, response, say, sends, upstream
from functional.broker.live import LiveBroker, enrolled
from functional.broker.plane.in_process import in_process
from stanchion.broker.plane.encoded_body import MAX_DECODED_BYTES, MAX_ENCODED_BYTES
from stanchion.broker.plane.limits import Limits
from stanchion.protocol.exchange import Deadline, ErrorClass, ExchangeResult
from stanchion.protocol.receipt import ExchangeEnd

BODY = json.dumps({"model": MODEL, "max_tokens": LIMIT, "reasoning_effort": "max"}).encode()
USAGE = {"prompt_tokens": 3, "completion_tokens": 4}


def whole(text: str) -> bytes:
    choice = {"message": {"content": text}, "finish_reason": "stop"}
    return json.dumps({"model": MODEL, "choices": [choice], "usage": USAGE}).encode()


def events(*texts: str) -> bytes:
    deltas = [json.dumps({"choices": [{"delta": {"content": text}}]}) for text in texts]
    return say(*deltas, '{"choices":[{"delta":{},"finish_reason":"stop"}]}', "[DONE]")


def encoded(
    body: bytes, encoding: str, *, status: int = 200, content_type: str = "application/json"
) -> Answer:
    return response(
        status, body, content_type=content_type, headers=[("content-encoding", encoding)]
    )


async def outcome(
    broker: LiveBroker, answer: Answer
) -> tuple[int, dict[str, str], bytes, ExchangeEnd]:
    """Status, headers and body of what came back, and the last receipt."""
    async with upstream(answer) as provider, enrolled(broker, provider.port) as run:
        reply = await ask(run.directory, BODY, lease=run.lease)
        records = await broker.records(run.id)
    end = next(record for record in records if isinstance(record, ExchangeEnd))
    assert KEY not in str(records)
    return reply.status, reply.headers, reply.body, end


@pytest.mark.parametrize("name", ENCODINGS)
@pytest.mark.parametrize("kind", ["application/json", "text/event-stream"])
async def test_without_the_key_it_goes_on_as_it_came(
    broker: LiveBroker, name: str, kind: str
) -> None:
    encoding, encode = ENCODINGS[name]
    plain = whole("hello") if kind == "application/json" else events("hel", "lo")
    body = encode(plain)
    answer = encoded(body, encoding, content_type=kind)
    status, headers, came, end = await outcome(broker, answer)
    assert (status, came) == (200, body)
    assert headers["content-encoding"] == encoding
    assert headers["content-type"] == kind
    answered = end.answered
    assert answered.result is ExchangeResult.COMPLETED
    assert answered.content_encoding == encoding
    assert (answered.body_sha256, answered.body_bytes) == (
        hashlib.sha256(body).hexdigest(),
        len(body),
    )
    assert answered.text_present
    assert (answered.sent_sha256, end.secret_scrubbed) == (None, False)


@pytest.mark.parametrize("name", ENCODINGS)
@pytest.mark.parametrize("kind", ["application/json", "text/event-stream", "deltas"])
async def test_with_the_key_it_is_refused_and_what_it_said_is_on_record(
    broker: LiveBroker, name: str, kind: str
) -> None:
    encoding, encode = ENCODINGS[name]
    plain = {
        "application/json": whole(f"it is {KEY}"),
        "text/event-stream": events(f"it is {KEY}"),
        "deltas": events(KEY[:11], KEY[11:]),
    }[kind]
    body = encode(plain)
    answer = encoded(body, encoding, content_type="text/event-stream" if kind == "deltas" else kind)
    status, headers, came, end = await outcome(broker, answer)
    assert (status, json.loads(came)["error"]["code"]) == (502, "stanchion_upstream_encoding")
    assert "content-encoding" not in headers
    assert end.secret_scrubbed
    assert end.answered.result is ExchangeResult.UNREADABLE
    assert end.answered.error_words == f"the key in a body encoded as {encoding}"
    assert end.answered.body_sha256 == hashlib.sha256(body).hexdigest()
    assert not end.answered.has_content
    if kind == "application/json":
        assert end.answered.usage is not None
        assert end.answered.usage.output_tokens == 4


async def test_the_key_in_the_encoded_form_itself_is_found_too(broker: LiveBroker) -> None:
    compressed = zlib.compress(whole("hello"), wbits=31)
    named = compressed[:3] + b"\x08" + compressed[4:10] + KEY.encode() + b"\0" + compressed[10:]
    assert gzip.decompress(named) == whole("hello")
    status, _, came, end = await outcome(broker, encoded(named, "gzip"))
    assert (status, KEY.encode() in came, end.secret_scrubbed) == (502, False, True)


@pytest.mark.parametrize("encoding", ["zstd", "gzip, gzip", "compress", KEY])
async def test_an_unknown_encoding_is_refused(broker: LiveBroker, encoding: str) -> None:
    status, _, came, end = await outcome(broker, encoded(gzip.compress(b"{}"), encoding))
    assert (status, json.loads(came)["error"]["code"]) == (502, "stanchion_upstream_encoding")
    assert (end.answered.result, end.answered.body_sha256) == (ExchangeResult.UNREADABLE, None)
    assert end.answered.error_class is ErrorClass.UPSTREAM_PROTOCOL
    assert end.answered.error_words is not None
    assert "unknown here" in end.answered.error_words


@pytest.mark.parametrize(
    "body",
    [
        gzip.compress(whole("hello"))[:-3],
        gzip.compress(bytes(MAX_DECODED_BYTES + 1)),
        gzip.compress(b"\0" * (MAX_ENCODED_BYTES + 1), compresslevel=0),
        b"no gzip",
    ],
    ids=["cut", "bomb", "too large", "none"],
)
async def test_what_cannot_be_looked_into_is_refused(broker: LiveBroker, body: bytes) -> None:
    status, _, came, end = await outcome(broker, encoded(body, "gzip"))
    assert (status, json.loads(came)["error"]["code"]) == (502, "stanchion_upstream_encoding")
    assert end.answered.result is ExchangeResult.UNREADABLE
    assert end.answered.usage_why == "the answer was refused unread"


async def test_an_encoded_error_keeps_its_class_whether_or_not_the_key_is_in_it(
    broker: LiveBroker,
) -> None:
    said = {"error": {"message": "too long", "code": "context_length_exceeded"}}
    body = gzip.compress(json.dumps(said).encode())
    status, headers, came, end = await outcome(broker, encoded(body, "gzip", status=400))
    assert (status, came, headers["content-encoding"]) == (400, body, "gzip")
    assert end.answered.error_class is ErrorClass.CONTEXT_OVERFLOW

    said = {"error": {"message": f"bad key {KEY}", "code": "invalid_api_key"}}
    body = gzip.compress(json.dumps(said).encode())
    status, _, came, end = await outcome(broker, encoded(body, "gzip", status=401))
    assert (status, KEY.encode() in came) == (502, False)
    assert end.answered.error_class is ErrorClass.AUTH
    assert end.answered.error_words == f"bad key {'*' * len(KEY)}"


async def test_an_error_that_cannot_be_decoded_still_has_its_status(broker: LiveBroker) -> None:
    status, _, _, end = await outcome(broker, encoded(b"?", "zstd", status=401))
    assert status == 502
    assert end.answered.result is ExchangeResult.PROVIDER_ERROR
    assert (end.answered.status, end.answered.error_class) == (401, ErrorClass.AUTH)


async def test_a_body_that_is_cut_on_its_way_is_refused(broker: LiveBroker) -> None:
    head = b"HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 900\r\n\r\n"
    status, _, _, end = await outcome(broker, sends(head, gzip.compress(whole("hello"))))
    assert (status, end.answered.result) == (502, ExchangeResult.UNREADABLE)


async def test_identity_is_no_encoding(broker: LiveBroker) -> None:
    answer = response(200, whole("hi"), headers=[("content-encoding", "identity")])
    status, headers, came, end = await outcome(broker, answer)
    assert (status, came) == (200, whole("hi"))
    assert "content-encoding" not in headers
    assert end.answered.content_encoding is None


BEGUN = b"HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 900\r\n\r\nab"


def endless(begun: asyncio.Event) -> Answer:
    async def answer(_: Received, writer: asyncio.StreamWriter) -> None:
        writer.write(BEGUN)
        await writer.drain()
        begun.set()
        await asyncio.Event().wait()

    return answer


async def test_a_client_that_leaves_is_not_waited_for() -> None:
    begun = asyncio.Event()
    async with (
        upstream(endless(begun)) as provider,
        in_process(provider.port, limits=Limits()) as stage,
    ):
        _, writer = await stage.request(BODY)
        await begun.wait()
        writer.close()
        assert (await stage.answered()).result is ExchangeResult.CLIENT_GONE


async def test_a_lease_that_ends_is_not_waited_for() -> None:
    begun = asyncio.Event()
    async with (
        upstream(endless(begun)) as provider,
        in_process(provider.port, limits=Limits()) as stage,
    ):
        reader, writer = await stage.request(BODY)
        await begun.wait()
        await stage.attempt.revoke("the test says so")
        assert await reader.read() == b""
        assert (await stage.answered()).result is ExchangeResult.REVOKED
        writer.close()


async def test_a_body_that_does_not_end_is_waited_for_only_so_long() -> None:
    async with (
        upstream(endless(asyncio.Event())) as provider,
        in_process(provider.port, limits=Limits(idle_s=0.05)) as stage,
    ):
        reader, writer = await stage.request(BODY)
        assert parse(await reader.read()).status == 502
        end = await stage.answered()
        assert (end.result, end.deadline) == (ExchangeResult.UNREADABLE, Deadline.IDLE)
        writer.close()
