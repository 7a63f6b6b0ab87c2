"""From the provider's socket to the harness's over fake transports: when each byte leaves."""

import asyncio
from typing import Any, cast

import pytest

from stanchion.broker.plane.dialects.readers import READERS
from stanchion.broker.plane.limits import Limits
from stanchion.broker.plane.masking import Masking
from stanchion.broker.plane.model_socket import ModelConnection
from stanchion.broker.plane.relay import Flow, Relayed, RelayEnd, relay
from stanchion.broker.plane.response_reader import Form, ResponseReader
from stanchion.broker.plane.upstream import MAX_EARLY_BYTES, Upstream
from stanchion.broker.secrets import Secret
from stanchion.protocol.dialects import Dialect

KEY = "sk-CANARY-7Qm2ZtXv9LdKc4Rw8HsYfG1uNb"
HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
TEXTS = (
    "I will read the failing test first,", " then", " the module. ", "`rows.append(row)`", "\\n",
    " sk", "-", " \\u00e9 ", "say [done] and error", '{\\"a\\": 1}', "k", "", "12 tests pass",
)  # fmt: skip
CHAT = [b'data: {"choices":[{"index":0,"delta":{"content":"%b"}}]}\n\n' % t.encode() for t in TEXTS]


class Transport(asyncio.Transport):
    """Takes down what is done to it."""

    def __init__(self) -> None:
        super().__init__()
        self.written = bytearray()
        self.paused = False

    def write(self, data: Any) -> None:
        self.written += data

    def writelines(self, pieces: Any) -> None:
        self.written += b"".join(pieces)

    def is_closing(self) -> bool:
        return False

    def pause_reading(self) -> None:
        self.paused = True

    def resume_reading(self) -> None:
        self.paused = False

    def get_write_buffer_size(self) -> int:
        return 0

    def abort(self) -> None:
        pass

    def close(self) -> None:
        pass


class Attended:
    """What a connection needs of its attempt."""

    limits = Limits()
    connections = 0
    body_bytes = 0

    def denied(self, word: str) -> None:
        raise AssertionError(word)


class Line:
    """A response under way; `came` is the callback of the provider's socket."""

    def __init__(self, dialect: Dialect) -> None:
        loop = asyncio.get_running_loop()
        self.provider, self.harness = Transport(), Transport()
        self.up = Upstream(loop)
        self.up.connection_made(self.provider)
        self.up.send(b"", b"")
        self.down = ModelConnection(cast("Any", Attended()), loop)
        self.down.connection_made(self.harness)
        masking = Masking(Secret(KEY))
        self.reader = ResponseReader(
            READERS[dialect], status=200, form=Form.EVENTS, output_limit=None, mask=masking.text
        )
        self.flow: Flow = relay(
            self.up,
            self.down,
            self.reader,
            limits=Limits(),
            on_alive=lambda: None,
            scrub=masking.new_body(self.reader.digest, events=True),
        )
        self.up.data_received(HEAD)
        self.down.begin(200, [], None)
        self.task: asyncio.Task[Relayed] = loop.create_task(self.flow.run())

    def came(self, data: bytes) -> bytes:
        """What left, within the callback, of its bytes."""
        before = len(self.harness.written)
        self.up.data_received(data)
        return bytes(self.harness.written[before:])


def chunk(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data)


def body_of(framed: bytes) -> bytes:
    """Of one chunk or none."""
    size, _, rest = framed.partition(b"\r\n")
    body = rest.removesuffix(b"\r\n")
    assert len(body) == int(size or b"0", 16)
    return body


async def line_of(dialect: Dialect) -> Line:
    line = Line(dialect)
    await asyncio.sleep(0)
    return line


async def ended(line: Line) -> Relayed:
    line.up.connection_lost(None)
    return await line.task


@pytest.mark.parametrize("event", [CHAT[0], CHAT[7], CHAT[8]])
async def test_every_part_of_an_event_leaves_as_it_comes_wherever_it_is_cut(event: bytes) -> None:
    """But for the few letters at the cut with which a spelling of the key may begin."""
    framed = chunk(event)
    for cut in range(1, len(framed)):
        line = await line_of(Dialect.OPENAI_CHAT)
        came = event[: max(0, cut - len(b"%x\r\n" % len(event)))]
        first = body_of(line.came(framed[:cut]))
        assert came.startswith(first)
        assert len(came) - len(first) <= len(b"\\u00e9")
        assert first + body_of(line.came(framed[cut:])) == event
        await ended(line)


async def test_many_chunks_in_one_read_leave_as_one() -> None:
    line = await line_of(Dialect.OPENAI_CHAT)
    assert line.came(b"".join(map(chunk, CHAT))) == chunk(b"".join(CHAT))
    await ended(line)


async def test_only_a_terminal_event_waits_and_what_came_with_it_before_does_not() -> None:
    line = await line_of(Dialect.OPENAI_CHAT)
    done = b"data: [DONE]\n\n"
    assert line.came(chunk(CHAT[0] + done)) == chunk(CHAT[0] + b"data: ")
    assert line.came(b"0\r\n\r\n") == b""
    relayed = await line.task
    assert (relayed.end, relayed.held) == (RelayEnd.COMPLETE, b"[DONE]\n\n")


async def test_a_reader_that_is_slow_stops_the_provider_until_it_reads_on() -> None:
    line = await line_of(Dialect.OPENAI_CHAT)
    assert not line.provider.paused
    line.down.pause_writing()
    assert line.provider.paused
    line.down.resume_writing()
    assert not line.provider.paused
    await ended(line)


async def test_a_body_that_nobody_takes_yet_is_read_up_to_a_bound_and_not_lost() -> None:
    up, provider = Upstream(asyncio.get_running_loop()), Transport()
    up.connection_made(provider)
    up.send(b"", b"")
    up.data_received(HEAD)
    came = bytearray()
    while not provider.paused:
        up.data_received(chunk(CHAT[0] * 100))
        came += CHAT[0] * 100
    assert len(came) < MAX_EARLY_BYTES + 100 * len(CHAT[0])
    taken = bytearray()
    up.take_body(taken.extend, lambda _: None)
    assert (taken, provider.paused) == (came, False)
