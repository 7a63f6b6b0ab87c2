"""Attacks 25, 27 to 34: bodies that hide or flood, budgets, limits, and keys of the agent's own."""

import asyncio
import contextlib
import gzip
import hashlib
import json
import socket
import zlib
from pathlib import Path

import msgspec
import pytest

from fakes.launches import KEY, LIMIT, MODEL, order
from fakes.raw_sink import ANSWER_BODY, RawSink
from fakes.supervisor import ask
from fakes.upstream import STREAM_HEAD, Received, chunk, response, say, stream, upstream
from functional.broker.live import LiveBroker, enrolled
from functional.broker.plane.in_process import in_process
from security.broker.raw_client import BODY, Reply, Target, parsed, received
from stanchion.broker.plane.http_gate import MAX_BODY_BYTES
from stanchion.broker.plane.limits import Limits as Waits
from stanchion.broker.plane.model_socket import MAX_BODIES_BYTES
from stanchion.broker.plane.replies import constant_reply
from stanchion.protocol.exchange import ExchangeResult
from stanchion.protocol.launch import Budget, Limit, Limits, LimitSource
from stanchion.protocol.receipt import Denied, ExchangeEnd, ExchangeStart, RunOpen
from stanchion.protocol.refusal import RefusedError

OK = response(200, ANSWER_BODY)


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
        ((b"content-encoding: gzip",), gzip.compress(BODY)),
        ((b"content-encoding: gzip, gzip",), gzip.compress(gzip.compress(BODY))),
        ((b"content-encoding: deflate",), zlib.compress(BODY)),
        ((b"content-encoding: br",), BODY),
        ((b"content-encoding: zstd",), BODY),
        ((b"content-encoding: identity, gzip",), gzip.compress(BODY)),
        ((b"content-encoding: identity", b"content-encoding: gzip"), gzip.compress(BODY)),
        ((b"content-encoding: GZIP",), gzip.compress(BODY)),
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
    assert target.ask(body=gzip.compress(BODY)).status == 400
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


# Attack 30: a race for the budget.


@pytest.mark.parametrize(
    "budget", [Budget(requests=3), Budget(output_tokens=3 * LIMIT)], ids=["requests", "tokens"]
)
async def test_attack_30_of_200_at_once_no_more_are_sent_than_the_budget_has(
    broker: LiveBroker, budget: Budget
) -> None:
    """The answers report no usage, so that each keeps what was reserved for it."""
    async with upstream(OK) as provider, enrolled(broker, provider.port, budget=budget) as run:
        replies = await asyncio.gather(
            *(ask(run.directory, BODY, lease=run.lease) for _ in range(200))
        )
        assert len(provider.received) == 3
        assert sorted({reply.status for reply in replies}) == [200, 403]
        assert sum(reply.status == 200 for reply in replies) == 3


# Attack 31: raising one's own limits.


async def test_attack_31_the_terms_of_an_attempt_never_change(broker: LiveBroker) -> None:
    more = Limits(output_tokens=Limit(value=10 * LIMIT, source=LimitSource.LAUNCH))
    async with (
        upstream(OK) as provider,
        enrolled(broker, provider.port, budget=Budget(requests=5)) as run,
        broker.client() as client,
    ):
        name, _, attempt = run.id.partition(".")
        again = order(provider.port, run=name, attempt=int(attempt), limits=more)
        with pytest.raises(RefusedError) as refused:
            await client.open_run(again)
        assert refused.value.refusal.id == "attempt_exists"
        wide = BODY.replace(b"128000", b"1280000")
        assert (await ask(run.directory, wide, lease=run.lease)).status == 403
        for method in ("PUT", "PATCH", "DELETE"):
            assert admin(broker, method, f"/v1/runs/{run.id}") in {404, 405}
        (opened,) = [r for r in await broker.records(run.id) if isinstance(r, RunOpen)]
        assert opened.launch_sha256 == run.opened.launch_sha256
        assert opened.launch.spec.budget.requests == 5
        assert provider.received == []


def admin(broker: LiveBroker, method: str, path: str) -> int:
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(20)
        client.connect(str(broker.paths.admin_socket))
        client.sendall(
            f"{method} {path} HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\n"
            "connection: close\r\n\r\n{}".encode()
        )
        return int(received(client).split(b" ")[1])


# Attack 32: leaving before the usage comes.


async def leave(run_directory: Path, lease: str, seen: asyncio.Event) -> None:
    _, writer = await asyncio.open_unix_connection(str(run_directory / "model.sock"))
    writer.write(
        f"POST /v1/chat/completions HTTP/1.1\r\nx-stanchion-lease: {lease}\r\n"
        f"content-length: {len(BODY)}\r\n\r\n".encode()
        + BODY
    )
    await seen.wait()
    writer.transport.abort()


async def ended(broker: LiveBroker, run: str) -> ExchangeEnd:
    while True:
        for record in await broker.records(run):
            if isinstance(record, ExchangeEnd):
                return record


@pytest.mark.parametrize("reported", [True, False], ids=["usage follows", "nothing follows"])
async def test_attack_32_who_leaves_in_mid_stream_hides_no_usage(
    broker: LiveBroker, reported: bool
) -> None:
    seen = asyncio.Event()

    async def answer(_: Received, writer: asyncio.StreamWriter) -> None:
        writer.write(STREAM_HEAD + chunk(say('{"choices":[{"delta":{"content":"a"}}]}')))
        await writer.drain()
        seen.set()
        if reported:
            usage = '{"choices":[],"usage":{"prompt_tokens":7,"completion_tokens":900}}'
            writer.write(chunk(say(usage, "[DONE]")) + b"0\r\n\r\n")

    async with (
        upstream(answer) as provider,
        enrolled(broker, provider.port, budget=Budget(output_tokens=LIMIT)) as run,
    ):
        await leave(run.directory, run.lease, seen)
        end = await ended(broker, run.id)
        if reported:
            assert end.answered.usage is not None
            assert end.answered.usage.output_tokens == 900
        else:
            assert end.answered.result is not ExchangeResult.COMPLETED
            assert end.answered.usage is None
            assert end.answered.usage_why
            # What nobody knows is counted as all that it may have been.
            assert (await ask(run.directory, BODY, lease=run.lease)).status == 403


async def test_attack_32_leaving_at_once_again_and_again_is_counted(broker: LiveBroker) -> None:
    async with (
        upstream(stream(say('{"choices":[{"delta":{"content":"a"}}]}', "[DONE]"))) as provider,
        enrolled(broker, provider.port, budget=Budget(requests=4)) as run,
    ):
        now = asyncio.Event()
        now.set()
        for _ in range(10):
            await leave(run.directory, run.lease, now)
        while (await ask(run.directory, BODY, lease=run.lease)).status != 403:
            pass
        assert len(provider.received) <= 4


# Attack 33: pooling by a key of the caller's.


async def test_attack_33_a_cache_key_means_nothing_beyond_its_account(broker: LiveBroker) -> None:
    """Forwarded and on record; neither connections, answers nor calls are shared by it."""
    body = BODY[:-1] + b',"prompt_cache_key":"shared","user":"shared"}'
    extra = (("x-request-id", "shared"), ("idempotency-key", "shared"))
    async with (
        upstream(response(200, ANSWER_BODY, headers=[("x-request-id", "one")])) as first,
        upstream(response(200, ANSWER_BODY, headers=[("x-request-id", "two")])) as second,
        enrolled(broker, first.port) as run,
        enrolled(broker, second.port) as other,
    ):
        for attempt, provider, name in ((run, first, "one"), (other, second, "two")):
            reply = await ask(attempt.directory, body, lease=attempt.lease, extra=extra)
            assert reply.headers["x-request-id"] == name
            assert [received.body for received in provider.received] == [body]
            assert "shared" not in str(provider.received[0].headers)
            records = await broker.records(attempt.id)
            start = next(r for r in records if isinstance(r, ExchangeStart))
            end = next(r for r in records if isinstance(r, ExchangeEnd))
            assert {"prompt_cache_key", "user"} <= set(start.asked.fields)
            assert end.answered.provider_request_id == name


# Attack 34: the agent's own key.

OWN = "sk-ant-of-the-agent-0123456789"


@pytest.mark.parametrize(
    "field",
    [
        f"authorization: Bearer {OWN}",
        f"x-api-key: {OWN}",
        f"x-goog-api-key: {OWN}",
        f"api-key: {OWN}",
        f"proxy-authorization: Bearer {OWN}",
        f"x-amz-security-token: {OWN}",
        f"cookie: token={OWN}",
    ],
)
def test_attack_34_a_key_of_the_agents_own_pays_nothing(
    broker: LiveBroker, target: Target, field: str
) -> None:
    assert target.ask(field.encode()).status == 200
    (request,) = target.sink.taken()
    assert OWN.encode() not in request.head
    assert dict(request.fields)[b"authorization"] == f"Bearer {KEY}".encode()
    assert OWN not in str(asyncio.run(broker.records(target.run)))


@pytest.mark.parametrize("name", ["api_key", "apiKey", "aws_access_key_id", "authorization"])
def test_attack_34_nor_does_one_in_the_body(target: Target, name: str) -> None:
    for more in ({name: OWN}, {"x": [{name: OWN}]}):
        body = msgspec.json.encode({**json.loads(BODY), **more})
        assert target.ask(body=body) == Reply(403, constant_reply("field_denied"))
    target.assert_nothing_came_but()


@pytest.mark.parametrize(
    "place", ["/v1/files", "/v1/uploads", "/v1/skills", "/upload/v1beta/files"]
)
def test_attack_34_and_there_is_no_place_to_put_a_file(target: Target, place: str) -> None:
    line = f"POST {place} HTTP/1.1".encode()
    reply = target.send(target.head(b"content-length: 0", f"x-api-key: {OWN}".encode(), line=line))
    assert reply == Reply(404, constant_reply("not_found"))
    target.assert_nothing_came_but()


def test_a_reply_is_parsed_strictly() -> None:
    """The checks of this folder rest on it."""
    with pytest.raises(AssertionError):
        parsed(b"HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 1\r\n\r\nab")
