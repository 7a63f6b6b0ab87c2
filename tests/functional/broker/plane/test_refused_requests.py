"""A refusal reaches its caller although the rest of the request is still under way, for a while."""

import asyncio
import contextlib
import http.client

import pytest

from fakes.refusals import constant_reply
from functional.broker.live import LiveBroker, enrolled
from functional.broker.plane.in_process import in_process
from stanchion.broker.plane.limits import Limits
from stanchion.supervisor.relay import Relay

BRIEF = 0.1
HEAD = b"POST /v1/embeddings HTTP/1.1\r\nx-stanchion-lease: x\r\ncontent-length: 5\r\n\r\n"
NOT_FOUND = constant_reply("not_found")


def post(port: int, path: str, size: int) -> tuple[int, bytes]:
    client = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    with contextlib.closing(client):
        client.request("POST", path, body=b"x" * size)
        reply = client.getresponse()
        return reply.status, reply.read()


async def send_for_ever(writer: asyncio.StreamWriter) -> None:
    while True:
        writer.write(b"x" * 1000)
        await writer.drain()


@pytest.mark.parametrize("size", [10, 3_000, 300_000, 3_000_000])
async def test_it_reaches_the_harness_through_the_relay(broker: LiveBroker, size: int) -> None:
    """Before, more than half of the callers saw a connection that broke, and no answer."""
    async with enrolled(broker, 9) as run:
        relay = Relay(run.directory / "model.sock", lambda: run.lease)
        await relay.open()
        for _ in range(10):
            answer = await asyncio.to_thread(post, relay.port, "/v1/embeddings", size)
            assert answer == (404, NOT_FOUND)
        await relay.close()


async def test_the_rest_may_still_be_sent_once_it_is_there() -> None:
    async with in_process(9, limits=Limits()) as stage:
        reader, writer = await stage.connect()
        writer.write(HEAD)
        assert (await reader.read()).endswith(NOT_FOUND)
        writer.write(b"x" * 100_000)
        await writer.drain()
        writer.close()
        await writer.wait_closed()
        await stage.until_left()


async def test_who_never_goes_is_cut_off() -> None:
    async with in_process(9, limits=Limits(refused_s=BRIEF)) as stage:
        reader, writer = await stage.connect()
        writer.write(HEAD)
        assert (await reader.read()).endswith(NOT_FOUND)
        await stage.until_left()
        writer.close()


async def test_who_sends_on_and_on_is_cut_off() -> None:
    async with in_process(9, limits=Limits(refused_bytes=1000)) as stage:
        reader, writer = await stage.connect()
        writer.write(HEAD)
        assert (await reader.read()).endswith(NOT_FOUND)
        with pytest.raises(ConnectionError):
            await send_for_ever(writer)
        await stage.until_left()
        writer.close()
