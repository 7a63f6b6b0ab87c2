"""A client that leaves in the middle: it has what it had, and its provider sees it go."""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from conformance.sdk import anthropic_messages, gemini, openai_chat, openai_responses
from conformance.sdk.matrix import TALKS, Talk
from conformance.sdk.stage import PLACEHOLDER, Stage, Way, brokered
from conformance.sdk.told import FLAVOURS, Call, Told, both, each, settled, tell
from fakes.launches import MODEL
from fakes.upstream import STREAM_HEAD, Received, chunk, upstream
from stanchion.protocol.exchange import ExchangeResult
from stanchion.protocol.receipt import ExchangeEnd

BEFORE = 3
"""Events that come before the client leaves; then the provider sends more than anybody drains."""


def _chat(number: int) -> bytes:
    choice = {"index": 0, "delta": {"content": f"word {number} "}, "finish_reason": None}
    document = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": MODEL}
    return b"data: " + json.dumps({**document, "choices": [choice]}).encode() + b"\n\n"


def _messages(number: int) -> bytes:
    delta = {"type": "text_delta", "text": f"word {number} "}
    document = {"type": "content_block_delta", "index": 0, "delta": delta}
    return b"event: content_block_delta\ndata: " + json.dumps(document).encode() + b"\n\n"


def _responses(number: int) -> bytes:
    document = {"type": "response.output_text.delta", "item_id": "m", "output_index": 0}
    document |= {"content_index": 0, "delta": f"word {number} ", "sequence_number": number}
    return b"event: response.output_text.delta\ndata: " + json.dumps(document).encode() + b"\n\n"


def _gemini(number: int) -> bytes:
    content = {"role": "model", "parts": [{"text": f"word {number} "}]}
    document = {"candidates": [{"index": 0, "content": content}]}
    return b"data: " + json.dumps(document).encode() + b"\n\n"


EVENTS = {
    openai_chat.DIALECT: _chat,
    openai_responses.DIALECT: _responses,
    anthropic_messages.DIALECT: _messages,
    gemini.DIALECT: _gemini,
}


class Flood:
    """A provider that sends a few events, waits until the client has left, and then floods."""

    def __init__(self, talk: Talk, before: int = BEFORE) -> None:
        self._event = EVENTS[talk.DIALECT]
        self._before = before
        """Events at once, with the head; 0 = not even that."""
        self.asked = asyncio.Semaphore(0)
        """Released for each request."""
        self.client_left = asyncio.Event()
        self.noticed = asyncio.Semaphore(0)
        """Released for each connection that it saw closed."""

    async def __call__(self, _: Received, writer: asyncio.StreamWriter) -> None:
        self.asked.release()
        if self._before:
            writer.write(STREAM_HEAD + b"".join(chunk(self._event(i)) for i in range(self._before)))
            await writer.drain()
        await self.client_left.wait()
        if not self._before:
            writer.write(STREAM_HEAD)
        try:
            while True:
                writer.write(chunk(self._event(self._before) * 64))
                await writer.drain()
        except ConnectionError:
            self.noticed.release()
            raise


def leaving(talk: Talk, left: asyncio.Event) -> Call:
    """Reads the first events of a stream and closes it."""
    loop = asyncio.get_running_loop()

    async def call(client: Any, told: Told) -> None:
        asked = talk.request("text")
        if talk is gemini:
            stream = await settled(client.models.generate_content_stream(**asked))
        elif talk is anthropic_messages:
            stream = await settled(client.messages.create(**asked, stream=True))
        elif talk is openai_responses:
            stream = await settled(client.responses.create(**asked, stream=True))
        else:
            stream = await settled(client.chat.completions.create(**asked, stream=True))
        async for event in _first(stream, BEFORE):
            told.saw(event)
        await settled(stream.aclose() if hasattr(stream, "aclose") else stream.close())
        loop.call_soon_threadsafe(left.set)

    return call


async def _first(stream: Any, count: int) -> AsyncIterator[Any]:
    async for item in each(stream):
        yield item
        count -= 1
        if count == 0:
            return


@pytest.mark.parametrize("flavour", FLAVOURS)
@pytest.mark.parametrize("talk", TALKS, ids=lambda talk: str(talk.DIALECT))
async def test_a_stream_that_the_client_closes(stage: Stage, talk: Talk, flavour: str) -> None:
    flood = Flood(talk)
    async with (
        upstream(flood) as provider,
        brokered(stage.broker, provider.port, talk.DIALECT) as (way, run),
    ):
        direct_way = Way(f"http://127.0.0.1:{provider.port}", PLACEHOLDER)
        call = leaving(talk, flood.client_left)
        direct, through = await both(
            tell(talk.client(direct_way, flavour), call), tell(talk.client(way, flavour), call)
        )
        for _ in range(2):
            await flood.noticed.acquire()
        end = (await stage.record(run.id, ExchangeEnd)).answered
    assert (through.objects, through.failure) == (direct.objects, direct.failure)
    assert (len(direct.objects), direct.failure) == (BEFORE, None)
    assert (end.result, end.usage) == (ExchangeResult.CLIENT_GONE, None)
    assert end.usage_why is not None


async def test_a_task_that_is_cancelled(stage: Stage) -> None:
    """As an orchestrator stops an async client before an answer began."""
    flood = Flood(openai_chat, before=0)
    call = openai_chat.whole(openai_chat.request("text"))
    async with (
        upstream(flood) as provider,
        brokered(stage.broker, provider.port, openai_chat.DIALECT) as (way, run),
    ):
        direct = Way(f"http://127.0.0.1:{provider.port}", PLACEHOLDER)
        async with asyncio.TaskGroup() as tasks:
            calls = [
                tasks.create_task(tell(openai_chat.client(one, "async"), call))
                for one in (direct, way)
            ]
            for _ in calls:
                await flood.asked.acquire()
            for task in calls:
                task.cancel()
        flood.client_left.set()
        for _ in calls:
            await flood.noticed.acquire()
        end = (await stage.record(run.id, ExchangeEnd)).answered
    assert end.result is ExchangeResult.CLIENT_GONE
