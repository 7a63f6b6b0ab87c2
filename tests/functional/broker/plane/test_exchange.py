"""Requests through a real broker to a scripted provider: bytes both ways, receipts, mismatch."""

import asyncio
import hashlib

from fakes.launches import KEY, LIMIT, MODEL
from fakes.supervisor import ask
from fakes.upstream import STREAM_HEAD, Received, chunk, response, say, sends, stream, upstream
from functional.broker.live import LiveBroker, enrolled
from stanchion.protocol.control import ExchangeSeen, StopOrder, WireEvent
from stanchion.protocol.events import ExchangeEnded
from stanchion.protocol.evidence import StopReason
from stanchion.protocol.exchange import Answered, ErrorClass, ExchangeResult, Finish
from stanchion.protocol.launch import Waits
from stanchion.protocol.outcome import EndReason
from stanchion.protocol.receipt import ExchangeEnd, ExchangeStart, Mismatched

ODD = (
    b'{ "model":"%b" ,\r\n "max_tokens" : %d, "reasoning_effort":"max","stream":true,'
    b'"x_unknown":{"a":1.50,"b":1.0e4},'
    b'"messages":[{"role":"user","content":"caf\\u00e9 \xc3\xa9"}]}' % (MODEL.encode(), LIMIT)
)
ANSWER = (
    say('{"model":"fx-coder-1","choices":[{"index":0,"delta":{"reasoning_content":"hm"}}]}'),
    b": ping\n\n",
    say('{"choices":[{"index":0,"delta":{"content":"do\\u006ee"}, "x":1.50}]}'),
    say('{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}'),
    say('{"choices":[],"usage":{"prompt_tokens":7,"completion_tokens":30}}', "[DONE]"),
)


async def test_bodies_pass_byte_for_byte_and_both_receipts_name_their_digests(
    broker: LiveBroker,
) -> None:
    async with upstream(stream(*ANSWER)) as provider, enrolled(broker, provider.port) as run:
        reply = await ask(run.directory, ODD, lease=run.lease)
        assert (reply.status, reply.whole) == (200, True)
        assert reply.body == b"".join(ANSWER)
        assert reply.headers["x-request-id"] == "req_1"
        assert "set-cookie" not in reply.headers
        assert provider.received[0].body == ODD
        assert provider.received[0].request_line == "POST /v1/chat/completions HTTP/1.1"
        assert provider.received[0].headers["authorization"] == f"Bearer {KEY}"
        assert "x-stanchion-lease" not in provider.received[0].headers
        records = await broker.records(run.id)
        start = next(r for r in records if isinstance(r, ExchangeStart))
        end = next(r for r in records if isinstance(r, ExchangeEnd))
        assert start.asked.body_sha256 == hashlib.sha256(ODD).hexdigest()
        assert (start.asked.output_limit, start.asked.effort) == (LIMIT, "max")
        assert end.answered.body_sha256 == hashlib.sha256(reply.body).hexdigest()
        assert end.answered.result is ExchangeResult.COMPLETED
        assert end.answered.usage is not None
        assert end.answered.usage.output_tokens == 30
        assert end.answered.usage.reasoning_tokens is None
        assert end.answered.reasoning_present is True


async def test_the_supervisor_sees_an_exchange_start_and_end(broker: LiveBroker) -> None:
    async with upstream(stream(*ANSWER)) as provider, enrolled(broker, provider.port) as run:
        await ask(run.directory, ODD, lease=run.lease)
        assert (await run.supervisor.hear_of(ExchangeSeen)).exchange == 1
        while not isinstance(
            event := (await run.supervisor.hear_of(WireEvent)).event, ExchangeEnded
        ):
            pass
        assert event.answered.finish is Finish.STOP


async def test_the_terminal_event_leaves_only_after_its_receipt(broker: LiveBroker) -> None:
    """[DONE] comes late: what was before it is already there, and no end is on record."""
    gate = asyncio.Event()

    async def answer(_: Received, writer: asyncio.StreamWriter) -> None:
        writer.write(STREAM_HEAD + chunk(b"".join(ANSWER[:4])))
        await writer.drain()
        await gate.wait()
        writer.write(chunk(ANSWER[4]) + b"0\r\n\r\n")

    async with upstream(answer) as provider, enrolled(broker, provider.port) as run:
        reader, writer = await asyncio.open_unix_connection(str(run.directory / "model.sock"))
        head = (
            f"POST /v1/chat/completions HTTP/1.1\r\nx-stanchion-lease: {run.lease}\r\n"
            f"content-length: {len(ODD)}\r\n\r\n"
        )
        writer.write(head.encode() + ODD)
        await reader.readuntil(b'"finish_reason":"stop"}]}\n\n')
        assert not any(isinstance(r, ExchangeEnd) for r in await broker.records(run.id))
        gate.set()
        await reader.readuntil(b"[DONE]")
        assert any(isinstance(r, ExchangeEnd) for r in await broker.records(run.id))
        writer.close()


async def test_a_chunked_request_body_passes_unchanged(broker: LiveBroker) -> None:
    async with upstream(stream(*ANSWER)) as provider, enrolled(broker, provider.port) as run:
        reader, writer = await asyncio.open_unix_connection(str(run.directory / "model.sock"))
        head = (
            f"POST /v1/chat/completions HTTP/1.1\r\nx-stanchion-lease: {run.lease}\r\n"
            "transfer-encoding: chunked\r\n\r\n"
        )
        for piece in (head.encode(), chunk(ODD[:10]), chunk(ODD[10:]), b"0\r\n\r\n"):
            writer.write(piece)
            await writer.drain()
        assert (await reader.read()).startswith(b"HTTP/1.1 200 OK\r\n")
        writer.close()
        assert provider.received[0].body == ODD


async def test_a_whole_json_answer_passes_with_its_length(broker: LiveBroker) -> None:
    body = (
        b'{"model":"fx-coder-1", "choices":[{"message":{"content":"hi"},"finish_reason":"stop"}]}'
    )
    async with upstream(response(200, body)) as provider, enrolled(broker, provider.port) as run:
        reply = await ask(run.directory, ODD, lease=run.lease)
        assert (reply.body, reply.headers["content-length"]) == (body, str(len(body)))
        answered = await _answered(broker, run.id)
        assert answered.result is ExchangeResult.COMPLETED
        assert (answered.usage, answered.reasoning_present) == (None, False)
        assert answered.usage_why == "the provider reported no usage"


async def test_a_mismatch_is_never_sent_and_stops_the_attempt(broker: LiveBroker) -> None:
    lower = ODD.replace(b"128000", b"32000")
    async with upstream(stream(*ANSWER)) as provider, enrolled(broker, provider.port) as run:
        first = await ask(run.directory, lower, lease=run.lease)
        order = await run.supervisor.hear_of(StopOrder)
        later = await ask(run.directory, ODD, lease=run.lease)
        assert (first.status, later.status) == (403, 403)
        assert order.stop.reason is StopReason.MISMATCH
        assert provider.received == []
        found = next(r for r in await broker.records(run.id) if isinstance(r, Mismatched))
        assert found.mismatch.declared == "128000"
        assert found.mismatch.observed == "32000"
        await run.supervisor.close()
        view = await broker.close(run.id)
        assert view.outcome is not None
        assert view.outcome.reason is EndReason.MISMATCH
        assert view.limits.observed == (32000,)


async def test_a_request_without_a_limit_is_a_mismatch(broker: LiveBroker) -> None:
    absent = ODD.replace(b'"max_tokens" : 128000, ', b"")
    async with upstream(stream(*ANSWER)) as provider, enrolled(broker, provider.port) as run:
        assert (await ask(run.directory, absent, lease=run.lease)).status == 403
        assert provider.received == []


async def test_a_body_with_a_key_twice_is_refused(broker: LiveBroker) -> None:
    twice = b'{"model":"fx-coder-1","max_tokens":128000,"max\\u005ftokens":5}'
    async with upstream(stream(*ANSWER)) as provider, enrolled(broker, provider.port) as run:
        assert (await ask(run.directory, twice, lease=run.lease)).status == 400
        assert provider.received == []


async def test_a_redirect_is_not_followed(broker: LiveBroker) -> None:
    async with upstream(stream(*ANSWER)) as sink:
        moved = response(
            307, b"", headers=[("location", f"http://127.0.0.1:{sink.port}/v1/chat/completions")]
        )
        async with upstream(moved) as provider, enrolled(broker, provider.port) as run:
            reply = await ask(run.directory, ODD, lease=run.lease)
            assert reply.status == 502
            assert "location" not in reply.headers
            assert sink.received == []
            assert (await _answered(broker, run.id)).status == 307


async def test_an_unasked_encoding_is_refused(broker: LiveBroker) -> None:
    answer = response(200, b"\x1f\x8b", headers=[("content-encoding", "gzip")])
    async with upstream(answer) as provider, enrolled(broker, provider.port) as run:
        assert (await ask(run.directory, ODD, lease=run.lease)).status == 502
        assert provider.received[0].headers["accept-encoding"] == "identity"


async def test_an_unreachable_provider_is_a_constant_502_on_record(broker: LiveBroker) -> None:
    async with upstream(stream(*ANSWER)) as provider:
        port = provider.port
    async with enrolled(broker, port, waits=Waits(max_wait_s=0)) as run:
        reply = await ask(run.directory, ODD, lease=run.lease)
        answered = await _answered(broker, run.id)
        assert reply.status == 502
        assert answered.result is ExchangeResult.UPSTREAM_UNREACHABLE
        assert answered.error_class is ErrorClass.CONNECT


async def test_a_cut_stream_is_truncated_and_seen_to_be_so(broker: LiveBroker) -> None:
    async with (
        upstream(sends(STREAM_HEAD, chunk(ANSWER[0]))) as provider,
        enrolled(broker, provider.port) as run,
    ):
        reply = await ask(run.directory, ODD, lease=run.lease)
        assert (reply.body, reply.whole) == (ANSWER[0], False)
        assert (await _answered(broker, run.id)).result is ExchangeResult.TRUNCATED


async def test_the_usage_is_drained_after_the_client_left(broker: LiveBroker) -> None:
    gate = asyncio.Event()

    async def answer(_: Received, writer: asyncio.StreamWriter) -> None:
        writer.write(STREAM_HEAD + chunk(ANSWER[0]))
        await writer.drain()
        await gate.wait()
        writer.write(b"".join(map(chunk, ANSWER[1:])) + b"0\r\n\r\n")

    async with upstream(answer) as provider, enrolled(broker, provider.port) as run:
        reader, writer = await asyncio.open_unix_connection(str(run.directory / "model.sock"))
        head = (
            f"POST /v1/chat/completions HTTP/1.1\r\nx-stanchion-lease: {run.lease}\r\n"
            f"content-length: {len(ODD)}\r\n\r\n"
        )
        writer.write(head.encode() + ODD)
        await reader.readuntil(b"reasoning_content")
        writer.close()
        await writer.wait_closed()
        gate.set()
        while not isinstance(
            event := (await run.supervisor.hear_of(WireEvent)).event, ExchangeEnded
        ):
            pass
        assert event.answered.result is ExchangeResult.CLIENT_GONE
        assert event.answered.usage is not None
        assert event.answered.usage.output_tokens == 30


async def test_a_limit_that_the_provider_refuses_stops_the_attempt(broker: LiveBroker) -> None:
    words = (
        b'{"error":{"message":"max_tokens is too large: 128000. This model supports at most 4096 '
        b'completion tokens","type":"invalid_request_error","param":"max_tokens","code":null}}'
    )
    async with upstream(response(400, words)) as provider, enrolled(broker, provider.port) as run:
        reply = await ask(run.directory, ODD, lease=run.lease)
        order = await run.supervisor.hear_of(StopOrder)
        assert (reply.status, reply.body) == (400, words)
        assert order.stop.reason is StopReason.PROVIDER_REFUSED
        assert order.stop.detail.startswith("limit_rejected")


async def test_an_echoed_key_is_masked(broker: LiveBroker) -> None:
    words = b'{"error":{"message":"Incorrect key %b","code":"invalid_api_key"}}' % KEY.encode()
    answer = response(401, words, headers=[("x-request-id", f"r-{KEY}")])
    async with upstream(answer) as provider, enrolled(broker, provider.port) as run:
        reply = await ask(run.directory, ODD, lease=run.lease)
        records = await broker.records(run.id)
        end = next(r for r in records if isinstance(r, ExchangeEnd))
        assert reply.status == 401
        assert reply.body == words.replace(KEY.encode(), b"*" * len(KEY))
        assert KEY not in str(reply.headers)
        assert end.secret_scrubbed
        assert end.answered.error_class is ErrorClass.AUTH
        assert KEY not in str(records)


async def _answered(broker: LiveBroker, run: str) -> Answered:
    return next(r.answered for r in await broker.records(run) if isinstance(r, ExchangeEnd))
