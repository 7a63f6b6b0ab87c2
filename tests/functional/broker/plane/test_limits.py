"""Every wait of the data plane ends by itself, each with a name on record."""

import asyncio
import contextlib
import ssl
from collections.abc import AsyncIterator

import pytest

from fakes.supervisor import parse
from fakes.upstream import STREAM_HEAD, Received, chunk, response, say, sends, upstream
from functional.broker.plane.in_process import Stage, in_process, silent_port, until
from stanchion.broker.plane.limits import Limits
from stanchion.protocol.exchange import Deadline, ErrorClass, ExchangeResult
from stanchion.protocol.launch import Waits

BODY = b'{"model":"fx-coder-1","max_tokens":128000,"reasoning_effort":"max","stream":true}'
TEXT = say('{"choices":[{"delta":{"content":"hi"}}]}')
DONE = say('{"choices":[{"delta":{},"finish_reason":"stop"}]}', "[DONE]")
BRIEF = 0.05
NO_WAITS = Waits(header_wait_s=0, max_wait_s=0)
"""So that what fails is handed back at once."""


async def for_ever(_: Received, __: asyncio.StreamWriter) -> None:
    await asyncio.Event().wait()


@contextlib.asynccontextmanager
async def behind_a_silent_port(limits: Limits) -> AsyncIterator[Stage]:
    """A provider whose TLS handshake never ends."""
    server, port = silent_port()
    with server:
        tls = ssl.create_default_context()
        async with in_process(port, limits=limits, tls=tls, waits=NO_WAITS) as stage:
            yield stage


# the request


@pytest.mark.parametrize("start", [b"", b"POST /v1/chat/completions HTTP/1.1\r\nx-pad: 1\r\n"])
async def test_a_head_that_does_not_end(start: bytes) -> None:
    async with in_process(9, limits=Limits(request_head_s=BRIEF)) as stage:
        reader, writer = await stage.connect()
        writer.write(start)
        assert await reader.read() == b""
        assert await stage.denied() == "request_head_too_slow"
        writer.close()


async def test_a_head_that_drips_is_no_better_than_one_that_stands_still() -> None:
    async with in_process(9, limits=Limits(request_head_s=BRIEF)) as stage:
        reader, writer = await stage.connect()
        writer.write(b"POST /v1/chat/completions HTTP/1.1\r\n")
        with contextlib.suppress(ConnectionError):
            while not reader.at_eof():
                writer.write(b"a: b\r\n")
                await writer.drain()
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(reader.read(1), BRIEF / 20)
        assert await stage.denied() == "request_head_too_slow"
        writer.close()


async def test_a_body_that_does_not_end() -> None:
    async with in_process(9, limits=Limits(request_body_s=BRIEF)) as stage:
        reader, writer = await stage.connect()
        writer.write(stage.head(1000) + BODY)
        assert await reader.read() == b""
        assert await stage.denied() == "request_body_too_slow"
        assert stage.attempt.body_bytes == 0
        writer.close()


async def test_slow_connections_are_no_more_than_allowed_and_hold_nobody_else() -> None:
    """A slowloris that fills its own attempt is cut off, and its places are free again."""
    limits = Limits(request_head_s=BRIEF, connections=20)
    async with (
        upstream(response(200, b'{"choices":[]}')) as provider,
        in_process(provider.port, limits=limits) as stage,
    ):
        slow = [await stage.connect() for _ in range(40)]
        for _, writer in slow:
            with contextlib.suppress(ConnectionError):
                writer.write(b"POST /")
        for reader, writer in slow:
            with contextlib.suppress(ConnectionError):
                assert await reader.read() == b""
            writer.close()
        await stage.until_left()
        reader, writer = await stage.request(BODY)
        assert parse(await reader.read()).status == 200
        writer.close()


async def test_a_flood_behind_a_request_is_cut_off() -> None:
    async with (
        upstream(for_ever) as provider,
        in_process(provider.port, limits=Limits(drain_s=BRIEF)) as stage,
    ):
        reader, writer = await stage.request(BODY)
        with contextlib.suppress(ConnectionError):
            while not reader.at_eof():
                writer.write(b"x" * 65536)
                await writer.drain()
        assert await stage.denied() == "bytes_behind_request"
        assert (await stage.answered()).result is ExchangeResult.CLIENT_GONE
        writer.close()


# the provider


async def test_a_connection_that_is_not_made_in_time() -> None:
    async with behind_a_silent_port(Limits(connect_s=BRIEF)) as stage:
        reader, writer = await stage.request(BODY)
        reply = parse(await reader.read())
        end = await stage.answered()
        assert reply.status == 502
        assert (end.deadline, end.ambiguous) == (Deadline.CONNECT, False)
        assert (end.result, end.error_class) == (
            ExchangeResult.UPSTREAM_UNREACHABLE,
            ErrorClass.CONNECT,
        )
        assert end.error_words == "no connection within 0.05 s"
        writer.close()


async def test_nobody_waits_for_a_connection_once_the_client_left_or_the_lease_ended() -> None:
    async with behind_a_silent_port(Limits(connect_s=3600)) as stage:
        _, writer = await stage.request(BODY)
        await until(lambda: bool(stage.attempt.body_bytes))
        writer.close()
        end = await stage.answered()
        assert (end.result, end.ambiguous) == (ExchangeResult.CLIENT_GONE, False)
    async with behind_a_silent_port(Limits(connect_s=3600)) as stage:
        reader, writer = await stage.request(BODY)
        await until(lambda: bool(stage.attempt.target.turns.in_flight))
        await stage.attempt.revoke("test")
        assert await reader.read() == b""
        assert (await stage.answered()).result is ExchangeResult.REVOKED
        writer.close()


async def test_an_answer_that_does_not_begin() -> None:
    async with (
        upstream(for_ever) as provider,
        in_process(provider.port, limits=Limits(first_byte_s=BRIEF), waits=NO_WAITS) as stage,
    ):
        reader, writer = await stage.request(BODY)
        reply = parse(await reader.read())
        end = await stage.answered()
        assert reply.status == 504
        assert (end.deadline, end.ambiguous) == (Deadline.FIRST_BYTE, True)
        assert end.error_words == "no answer began within 0.05 s"
        assert end.usage is None
        writer.close()


async def drips(_: Received, writer: asyncio.StreamWriter) -> None:
    writer.write(STREAM_HEAD + chunk(TEXT))
    while not writer.is_closing():
        writer.write(chunk(b": ping\n\n"))
        await writer.drain()
        await asyncio.sleep(BRIEF / 20)


async def test_comments_are_no_life() -> None:
    async with (
        upstream(drips) as provider,
        in_process(provider.port, limits=Limits(idle_s=BRIEF)) as stage,
    ):
        reader, writer = await stage.request(BODY)
        reply = parse(await reader.read())
        end = await stage.answered()
        assert reply.body.startswith(TEXT + b": ping\n\n")
        assert not reply.whole
        assert (end.result, end.deadline) == (ExchangeResult.TRUNCATED, Deadline.IDLE)
        assert end.error_words == "no semantic event for 0.05 s"
        writer.close()


async def test_an_errors_body_that_does_not_end() -> None:
    cut = sends(b"HTTP/1.1 400 No\r\ncontent-length: 10\r\n\r\n{")

    async def never_whole(request: Received, writer: asyncio.StreamWriter) -> None:
        await cut(request, writer)
        await asyncio.Event().wait()

    async with (
        upstream(never_whole) as provider,
        in_process(provider.port, limits=Limits(error_body_s=BRIEF)) as stage,
    ):
        reader, writer = await stage.request(BODY)
        assert parse(await reader.read()).status == 502
        end = await stage.answered()
        assert (end.status, end.deadline) == (400, Deadline.ERROR_BODY)
        writer.close()


# the reader


async def floods(_: Received, writer: asyncio.StreamWriter) -> None:
    writer.write(STREAM_HEAD)
    event = chunk(b": " + b"x" * 65533 + b"\n")
    while True:
        writer.write(event)
        await writer.drain()


async def test_a_client_that_takes_nothing() -> None:
    async with (
        upstream(floods) as provider,
        in_process(provider.port, limits=Limits(reader_s=BRIEF, flush_s=BRIEF)) as stage,
    ):
        _, writer = await stage.request(BODY)
        end = await stage.answered()
        assert (end.result, end.deadline) == (ExchangeResult.CLIENT_GONE, Deadline.READER)
        assert end.error_words == "the client took nothing of the answer for 0.05 s"
        await stage.until_left()
        writer.close()


async def test_a_client_that_does_not_take_the_rest() -> None:
    """The answer is over and on record; its last bytes do not wait for ever for their reader."""
    body = b'{"choices":[{"message":{"content":"%b"},"finish_reason":"stop"}]}' % (b"x" * 400_000)
    async with (
        upstream(response(200, body)) as provider,
        in_process(provider.port, limits=Limits(flush_s=BRIEF)) as stage,
    ):
        reader, writer = await stage.request(BODY)
        reader._transport.pause_reading()  # type: ignore[attr-defined]
        assert (await stage.answered()).result is ExchangeResult.COMPLETED
        await stage.until_left()
        writer.close()


async def test_the_rest_of_an_answer_whose_client_left() -> None:
    async def one_event(_: Received, writer: asyncio.StreamWriter) -> None:
        writer.write(STREAM_HEAD + chunk(TEXT))
        await asyncio.Event().wait()

    async with (
        upstream(one_event) as provider,
        in_process(provider.port, limits=Limits(drain_s=BRIEF)) as stage,
    ):
        reader, writer = await stage.request(BODY)
        await reader.readuntil(b"hi")
        writer.close()
        end = await stage.answered()
        assert (end.result, end.deadline) == (ExchangeResult.CLIENT_GONE, Deadline.DRAIN)
        assert (end.usage, end.usage_why) == (None, "the client left before usage came")


async def test_nothing_is_named_where_no_wait_ended_it() -> None:
    async with (
        upstream(sends(STREAM_HEAD, chunk(TEXT + DONE), b"0\r\n\r\n")) as provider,
        in_process(provider.port, limits=Limits()) as stage,
    ):
        reader, writer = await stage.request(BODY)
        assert parse(await reader.read()).whole
        assert (await stage.answered()).deadline is None
        writer.close()
