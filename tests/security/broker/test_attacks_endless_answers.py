"""Attack 38: bombs, drips, and answers without an end."""

import asyncio
import functools
import gzip
import itertools

import psutil
import pytest

from fakes.refusals import constant_reply
from fakes.upstream import STREAM_HEAD, Received, chunk, response, upstream
from functional.broker.live import LiveBroker, enrolled
from functional.broker.plane.in_process import in_process
from security.broker.hostile_provider import (
    DONE,
    NO_WAITS,
    STOP,
    STREAMED,
    TEXT,
    answered,
    exchanged,
)
from stanchion.broker.plane.dialects.readers import READERS
from stanchion.broker.plane.limits import Limits
from stanchion.broker.plane.response_reader import Form, ResponseReader
from stanchion.protocol.dialects import Dialect
from stanchion.protocol.exchange import Deadline, ExchangeResult


@functools.cache
def a_bomb() -> bytes:
    return gzip.compress(b"\0" * (128 << 20))


@pytest.mark.parametrize("coding", ["gzip", "gzip, gzip", "br", "x-unknown"])
async def test_attack_38_a_packed_bomb_is_not_unpacked_into_the_brokers_memory(
    broker: LiveBroker, coding: str
) -> None:
    bomb = a_bomb()
    before = psutil.Process(broker.process.pid).memory_info().rss
    reply, _ = await exchanged(broker, response(200, bomb, headers=[("content-encoding", coding)]))
    assert reply.status == 502
    assert reply.body.startswith(b'{"error":{"message":"stanchion: ')
    assert psutil.Process(broker.process.pid).memory_info().rss - before < 64 << 20


LONG = 24 << 20
"""More than a line may have."""


async def test_attack_38_a_line_without_an_end_does_not_stay_in_memory(broker: LiveBroker) -> None:
    async def answer(_: Received, writer: asyncio.StreamWriter) -> None:
        writer.write(STREAM_HEAD + chunk(b"data: "))
        for _ in range(LONG >> 20):
            writer.write(chunk(b"x" * (1 << 20)))
            await writer.drain()
        writer.write(chunk(b"\n\n") + chunk(STOP + DONE) + b"0\r\n\r\n")

    before = psutil.Process(broker.process.pid).memory_info().rss
    async with (
        upstream(answer) as provider,
        enrolled(broker, provider.port, waits=NO_WAITS) as run,
    ):
        reader, writer = await asyncio.open_unix_connection(str(run.directory / "model.sock"))
        head = f"POST /v1/chat/completions HTTP/1.1\r\nx-stanchion-lease: {run.lease}\r\n"
        writer.write(f"{head}content-length: {len(STREAMED)}\r\n\r\n".encode() + STREAMED)
        reply = await reader.read()
        writer.close()
        end = await answered(broker, run.id)
    assert reply.count(b"x") >= LONG  # forwarded all the same
    assert reply.endswith(b"0\r\n\r\n")
    assert end.answered.result is ExchangeResult.UNREADABLE
    assert psutil.Process(broker.process.pid).memory_info().rss - before < 96 << 20


def test_attack_38_an_event_full_of_markers_costs_its_length() -> None:
    """Looking through all of it at each piece would be a hundred billion bytes here."""
    reader = ResponseReader(
        READERS[Dialect.OPENAI_CHAT], status=200, form=Form.EVENTS, output_limit=None
    )
    reader.saw(b"data: ")
    for _ in range(16_000):
        piece = b'"error"' + b"x" * 1000
        assert reader.holds_from(piece) is not None
        reader.saw(piece)
        assert reader.undecided
    reader.saw(b"\n\n")
    assert not reader.undecided


async def test_attack_38_comments_for_ever_are_no_life() -> None:
    async def answer(_: Received, writer: asyncio.StreamWriter) -> None:
        writer.write(STREAM_HEAD + chunk(TEXT))
        for number in itertools.count():
            writer.write(chunk(b": ping %d\n\n" % number))
            await writer.drain()
            await asyncio.sleep(0.001)

    async with (
        upstream(answer) as provider,
        in_process(provider.port, limits=Limits(idle_s=0.2), waits=NO_WAITS) as stage,
    ):
        reader, writer = await stage.request(STREAMED)
        assert TEXT in await reader.read()
        writer.close()
        end = await stage.answered()
        assert (end.result, end.deadline) == (ExchangeResult.TRUNCATED, Deadline.IDLE)


async def test_attack_38_an_error_without_an_end_is_bounded(broker: LiveBroker) -> None:
    reply, end = await exchanged(broker, response(400, b'{"error":"' + b"x" * (1 << 20) + b'"}'))
    assert (reply.status, reply.body) == (502, constant_reply("upstream_error_too_large"))
    assert len(end.answered.error_words or "") <= 500
