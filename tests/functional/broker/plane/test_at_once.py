"""With a key to look for, every healthy chunk leaves in the callback that received it.

The provider's connection and the harness's are the real ones on a transport of the test's, which
writes down what it was given; there is no loop between the two to wait for.
"""

import asyncio
import contextlib
import json
import urllib.parse
from collections.abc import AsyncIterator, Iterable
from typing import cast

import pytest

from fakes.echoes import SPELLINGS
from fakes.launches import KEY
from functional.broker.plane.in_process import in_process
from stanchion.broker.plane.dialects.readers import READERS
from stanchion.broker.plane.limits import Limits
from stanchion.broker.plane.masking import Masking
from stanchion.broker.plane.model_socket import ModelConnection
from stanchion.broker.plane.relay import relay
from stanchion.broker.plane.response_reader import Form, ResponseReader
from stanchion.broker.plane.upstream import Upstream
from stanchion.broker.secrets import Secret
from stanchion.protocol.dialects import Dialect

TEXTS = (
    "It", " is", " a", " mess", "age", "s", " of", " tasks", ", sk", "etch", "es", "-", "\n\n```py",
    "thon\n", 'print("100 %")\n', "caf\u00e9", " \u2014 \U0001f600", "aGVsbG8gd29ybGQsIGhlbGxv", "",
    "736b2d", "%73k", " sk-", "ant", " keys: sk-CAN", "T", "c2st", " https://h/?q=%2Fa&b=1", ".",
)  # fmt: skip
"""With beginnings of the key among them, none of which goes on."""


def chat(text: str) -> bytes:
    choice = {"index": 0, "delta": {"content": text}, "finish_reason": None}
    return b"data: %b\n\n" % json.dumps({"id": "c-1s", "choices": [choice]}).encode()


def messages(text: str) -> bytes:
    delta = {"type": "text_delta", "text": text}
    event = {"type": "content_block_delta", "index": 0, "delta": delta}
    return b"event: content_block_delta\ndata: %b\n\n" % json.dumps(event).encode()


def responses(text: str) -> bytes:
    event = {"type": "response.output_text.delta", "item_id": "msg_s", "delta": text}
    return b"event: response.output_text.delta\ndata: %b\n\n" % json.dumps(event).encode()


def gemini(text: str) -> bytes:
    content = {"parts": [{"text": text}], "role": "model"}
    event = {"candidates": [{"content": content, "index": 0}], "modelVersion": "fx-s"}
    return b"data: %b\r\n\r\n" % json.dumps(event, ensure_ascii=False).encode()


EVENTS = {
    Dialect.OPENAI_CHAT: chat,
    Dialect.ANTHROPIC_MESSAGES: messages,
    Dialect.OPENAI_RESPONSES: responses,
    Dialect.GEMINI: gemini,
}


class Wire:
    """A transport that keeps what it is given."""

    def __init__(self) -> None:
        self.written = b""

    def write(self, data: bytes) -> None:
        self.written += data

    def writelines(self, pieces: Iterable[bytes]) -> None:
        self.written += b"".join(pieces)

    def get_extra_info(self, _: str) -> None:
        return None

    def get_write_buffer_size(self) -> int:
        return 0

    def is_closing(self) -> bool:
        return False

    def __getattr__(self, name: str) -> object:
        assert name in {
            "abort", "close", "pause_reading", "resume_reading", "set_protocol",
            "set_write_buffer_limits",
        }, name  # fmt: skip
        return lambda *_: None


class Line:
    """A response under way from one end to the other."""

    def __init__(self, up: Upstream, wire: Wire) -> None:
        self._up, self._wire = up, wire
        self._seen = len(wire.written)

    def receive(self, chunk: bytes) -> bytes:
        """What left while the provider's chunk was received."""
        self._up.data_received(b"%x\r\n%b\r\n" % (len(chunk), chunk))
        left, self._seen = self._wire.written[self._seen :], len(self._wire.written)
        size, _, rest = left.partition(b"\r\n")
        return rest[: int(size, 16)] if size else b""


@contextlib.asynccontextmanager
async def line(dialect: Dialect) -> AsyncIterator[Line]:
    loop = asyncio.get_running_loop()
    async with in_process(9, limits=Limits()) as stage:
        wire, up = Wire(), Upstream(loop)
        down = ModelConnection(stage.attempt, loop)
        down.connection_made(cast("asyncio.Transport", wire))
        up.connection_made(cast("asyncio.Transport", Wire()))
        up.send(b"", b"")
        up.data_received(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n")
        reader = ResponseReader(READERS[dialect], status=200, form=Form.EVENTS, output_limit=None)
        scrub = Masking(Secret(KEY)).new_body(reader.digest, events=True)
        down.begin(200, [], None)
        flow = relay(up, down, reader, limits=Limits(), on_alive=lambda: None, scrub=scrub)
        async with asyncio.TaskGroup() as group:
            running = group.create_task(flow.run())
            await asyncio.sleep(0)
            yield Line(up, wire)
            flow.revoke()
            await running
        down.connection_lost(None)


@pytest.mark.parametrize("dialect", EVENTS)
async def test_each_event_leaves_in_its_callback(dialect: Dialect) -> None:
    event = EVENTS[dialect]
    async with line(dialect) as wire:
        for text in TEXTS * 3:
            assert wire.receive(event(text)) == event(text), text
        for noise in (b": ping\n\n", b"\n", b": OPENROUTER PROCESSING\r\n\r\n"):
            assert wire.receive(noise) == noise


@pytest.mark.parametrize("dialect", EVENTS)
@pytest.mark.parametrize("size", [1, 7, 64, 1000])
async def test_of_any_other_chunk_only_the_beginning_of_a_key_stays(
    dialect: Dialect, size: int
) -> None:
    stream = b"".join(map(EVENTS[dialect], TEXTS))
    spelled = [spell(KEY) for spell in SPELLINGS.values()]
    received = sent = b""
    async with line(dialect) as wire:
        for at in range(0, len(stream), size):
            received += stream[at : at + size]
            sent += wire.receive(stream[at : at + size])
            held = received[len(sent) :]
            assert received.startswith(sent)
            plain = urllib.parse.unquote_to_bytes(held)
            assert KEY.encode().startswith(plain) or any(held in echo for echo in spelled), held
    assert sent == stream


async def test_the_key_itself_does_not_leave_and_what_follows_it_does() -> None:
    async with line(Dialect.OPENAI_CHAT) as wire:
        assert KEY.encode() not in wire.receive(chat(f"it is {KEY}"))
        assert wire.receive(chat("so")) == chat("so")
