"""Streams under strain: slow readers, providers that linger, lie about their framing or vanish."""

import asyncio

import pytest

from fakes.supervisor import ask, parse
from fakes.upstream import STREAM_HEAD, Received, chunk, say, sends, stream, upstream
from functional.broker.live import LiveBroker, enrolled
from stanchion.protocol.exchange import Answered, ExchangeResult
from stanchion.protocol.launch import Waits
from stanchion.protocol.receipt import ExchangeEnd

BODY = b'{"model":"fx-coder-1","max_tokens":128000,"reasoning_effort":"max","stream":true}'
TEXT = say('{"choices":[{"delta":{"content":"hi"}}]}')
STOP = say('{"choices":[{"delta":{},"finish_reason":"stop"}]}')
DONE = say("[DONE]")


async def answered(broker: LiveBroker, run: str) -> Answered:
    return next(r.answered for r in await broker.records(run) if isinstance(r, ExchangeEnd))


async def test_a_reader_that_is_slow_slows_the_provider_down(broker: LiveBroker) -> None:
    """48 MiB through a reader that waits: the broker does not take them in."""
    stalled = asyncio.Event()
    sent = 0
    filler = chunk(b": " + b"x" * 65533 + b"\n")

    async def flood(_: Received, writer: asyncio.StreamWriter) -> None:
        nonlocal sent
        writer.write(STREAM_HEAD)
        for _ in range(768):
            writer.write(filler)
            try:
                await asyncio.wait_for(asyncio.shield(writer.drain()), 1)
            except TimeoutError:
                stalled.set()
                await writer.drain()
            sent += len(filler)
        writer.write(chunk(TEXT + STOP + DONE) + b"0\r\n\r\n")

    async with upstream(flood) as provider, enrolled(broker, provider.port) as run:
        reader, writer = await asyncio.open_unix_connection(str(run.directory / "model.sock"))
        head = (
            f"POST /v1/chat/completions HTTP/1.1\r\nx-stanchion-lease: {run.lease}\r\n"
            f"content-length: {len(BODY)}\r\n\r\n"
        )
        writer.write(head.encode() + BODY)
        await stalled.wait()
        assert sent < 24 * 1024 * 1024
        reply = parse(await reader.read())
        writer.close()
        assert (len(reply.body), reply.whole) == (768 * 65536 + len(TEXT + STOP + DONE), True)


async def test_the_word_done_inside_a_text_passes(broker: LiveBroker) -> None:
    tricky = say('{"choices":[{"delta":{"content":"say [DONE] and \\"error\\""}}]}')
    cut = tricky.index(b"DONE") + 2
    pieces = (tricky[:cut], tricky[cut:], STOP, DONE[:8], DONE[8:])
    async with upstream(stream(*pieces)) as provider, enrolled(broker, provider.port) as run:
        reply = await ask(run.directory, BODY, lease=run.lease)
        assert (reply.body, reply.whole) == (tricky + STOP + DONE, True)
        assert (await answered(broker, run.id)).result is ExchangeResult.COMPLETED


async def test_a_provider_that_keeps_the_connection_open_after_done_does_not_hold_us(
    broker: LiveBroker,
) -> None:
    async def linger(_: Received, writer: asyncio.StreamWriter) -> None:
        writer.write(STREAM_HEAD + chunk(TEXT + STOP + DONE))
        await asyncio.Event().wait()

    async with upstream(linger) as provider, enrolled(broker, provider.port) as run:
        reply = await asyncio.wait_for(ask(run.directory, BODY, lease=run.lease), 20)
        assert (reply.body, reply.whole) == (TEXT + STOP + DONE, True)
        assert (await answered(broker, run.id)).result is ExchangeResult.COMPLETED


async def test_what_follows_an_error_passes_and_does_not_win(broker: LiveBroker) -> None:
    error = say('{"error":{"message":"engine died","code":500}}')
    usage = say('{"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":4}}')
    async with (
        upstream(stream(TEXT, error, usage, DONE)) as provider,
        enrolled(broker, provider.port) as run,
    ):
        reply = await ask(run.directory, BODY, lease=run.lease)
        assert reply.body == TEXT + error + usage + DONE
        end = await answered(broker, run.id)
        assert end.result is ExchangeResult.PROVIDER_ERROR
        assert end.usage is not None
        assert end.usage.output_tokens == 4


async def test_trailers_are_dropped_and_interim_responses_ignored(broker: LiveBroker) -> None:
    raw = sends(
        b"HTTP/1.1 103 Early Hints\r\nx-request-id: early\r\n\r\n",
        STREAM_HEAD + chunk(TEXT + STOP + DONE) + b"0\r\nx-ratelimit-left: 1\r\n\r\n",
    )
    async with upstream(raw) as provider, enrolled(broker, provider.port) as run:
        reply = await ask(run.directory, BODY, lease=run.lease)
        assert (reply.body, reply.headers["x-request-id"]) == (TEXT + STOP + DONE, "req_1")
        assert "x-ratelimit-left" not in reply.headers


async def test_a_body_that_ends_with_its_connection_is_whole(broker: LiveBroker) -> None:
    head = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n"
    async with (
        upstream(sends(head, TEXT, STOP)) as provider,
        enrolled(broker, provider.port) as run,
    ):
        reply = await ask(run.directory, BODY, lease=run.lease)
        assert (reply.body, reply.whole) == (TEXT + STOP, True)
        assert (await answered(broker, run.id)).result is ExchangeResult.COMPLETED


@pytest.mark.parametrize(
    ("answer", "result"),
    [
        (b"garbage\r\n\r\n", ExchangeResult.UNREADABLE),
        (b"HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\n\r\n", ExchangeResult.UNREADABLE),
        (b"HTTP/1.1 200 OK\r\nx: " + b"y" * 70_000 + b"\r\n\r\n", ExchangeResult.UNREADABLE),
        (
            b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\ncontent-length: 6\r\n\r\n12345",
            ExchangeResult.UNREADABLE,
        ),
        (b"", ExchangeResult.UPSTREAM_UNREACHABLE),
        (b"HTTP/1.1 200 OK\r\nx: y", ExchangeResult.UPSTREAM_UNREACHABLE),
    ],
)
async def test_an_answer_that_is_none_is_a_constant_502(
    broker: LiveBroker, answer: bytes, result: ExchangeResult
) -> None:
    async with (
        upstream(sends(answer)) as provider,
        enrolled(broker, provider.port, waits=Waits(max_wait_s=0)) as run,
    ):
        reply = await ask(run.directory, BODY, lease=run.lease)
        assert (reply.status, reply.whole) == (502, True)
        assert reply.body.startswith(b'{"error":{"message":"stanchion: ')
        assert (await answered(broker, run.id)).result is result


async def test_a_json_body_shorter_than_announced_is_cut_for_the_reader_too(
    broker: LiveBroker,
) -> None:
    raw = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 50\r\n\r\n{"
    async with upstream(sends(raw)) as provider, enrolled(broker, provider.port) as run:
        reply = await ask(run.directory, BODY, lease=run.lease)
        assert (reply.status, reply.whole) == (200, False)
        assert (await answered(broker, run.id)).result is ExchangeResult.TRUNCATED


async def test_many_streams_at_once_keep_their_own_bytes(broker: LiveBroker) -> None:
    """Over connections that stay open: on one that is closed just as the next request is written
    to it, that one would fail, as it should (a POST is not sent again)."""

    async def echo(request: Received, writer: asyncio.StreamWriter) -> None:
        mark = request.headers["x-session-id"]
        event = say(f'{{"choices":[{{"delta":{{"content":"{mark}"}}}}]}}')
        writer.write(STREAM_HEAD)
        for _ in range(20):
            writer.write(chunk(event))
            await writer.drain()
            await asyncio.sleep(0)
        writer.write(chunk(STOP + DONE) + b"0\r\n\r\n")

    async with upstream(echo, keeps=True) as provider, enrolled(broker, provider.port) as run:
        replies = await asyncio.gather(
            *(
                ask(run.directory, BODY, lease=run.lease, extra=(("x-session-id", f"s{n}"),))
                for n in range(40)
            )
        )
        for number, reply in enumerate(replies):
            assert reply.whole
            assert reply.body.count(f'"s{number}"'.encode()) == 20
        starts = [r for r in await broker.records(run.id) if isinstance(r, ExchangeEnd)]
        assert len(starts) == 40
