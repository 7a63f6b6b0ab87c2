import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from stanchion.supervisor.relay import Relay
from stanchion.supervisor.relay_head import BAD_REQUEST, UNREACHABLE

GET = b"GET /v1/models HTTP/1.1\r\nHost: x\r\n\r\n"


class Upstream:
    """A model socket that does as it is told."""

    def __init__(self, path: Path, answer: bytes = b"HTTP/1.1 200 OK\r\n\r\nbody") -> None:
        self.path = path
        self.answer = answer
        self.heads: list[bytes] = []
        self.bodies: list[bytes] = []
        self.body_bytes = 0
        self.hold: asyncio.Event | None = None
        self.gone = asyncio.Event()
        self.arrived = asyncio.Event()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            self.heads.append(await reader.readuntil(b"\r\n\r\n"))
            self.arrived.set()
            self.bodies.append(await reader.readexactly(self.body_bytes))
            if self.hold is not None:
                await reader.read()
                self.gone.set()
            writer.write(self.answer)
            await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError):
            self.gone.set()
        finally:
            writer.close()


@asynccontextmanager
async def relaying(upstream: Upstream) -> AsyncIterator[Relay]:
    server = await asyncio.start_unix_server(upstream.serve, upstream.path)
    relay = Relay(upstream.path, lambda: "LEASE")
    await relay.open()
    try:
        yield relay
    finally:
        await relay.close()
        server.close()


async def ask(relay: Relay, request: bytes) -> bytes:
    reader, writer = await asyncio.open_connection("127.0.0.1", relay.port)
    writer.write(request)
    async with asyncio.timeout(20):
        answer = await reader.read()
    writer.close()
    return answer


async def test_the_answer_comes_back_byte_for_byte_and_the_lease_goes_in(tmp_path: Path) -> None:
    upstream = Upstream(tmp_path / "s")
    async with relaying(upstream) as relay:
        assert await ask(relay, GET) == upstream.answer
    assert upstream.heads[0].endswith(b"Connection: close\r\nx-stanchion-lease: LEASE\r\n\r\n")


async def test_bodies_larger_than_every_buffer_pass_both_ways(tmp_path: Path) -> None:
    body, answer = b"u" * 3_000_000, b"HTTP/1.1 200 OK\r\n\r\n" + b"d" * 5_000_000
    upstream = Upstream(tmp_path / "s", answer)
    upstream.body_bytes = len(body)
    async with relaying(upstream) as relay:
        assert await ask(relay, b"POST / HTTP/1.1\r\nA: b\r\n\r\n" + body) == answer
    assert upstream.bodies == [body]


async def test_an_early_answer_reaches_a_caller_that_still_sends(tmp_path: Path) -> None:
    upstream = Upstream(tmp_path / "s", b"HTTP/1.1 403 No\r\n\r\n")
    async with relaying(upstream) as relay:
        answer = await ask(relay, b"POST / HTTP/1.1\r\nA: b\r\n\r\n" + b"x" * 100_000)
    assert answer == upstream.answer


@pytest.mark.parametrize(
    "request_bytes",
    [b"nonsense\r\n\r\n", b"GET / HTTP/1.1\r\n X: folded\r\n\r\n", b"x" * 70_000],
)
async def test_a_malformed_head_gets_the_constant_answer(
    tmp_path: Path, request_bytes: bytes
) -> None:
    upstream = Upstream(tmp_path / "s")
    async with relaying(upstream) as relay:
        assert await ask(relay, request_bytes) == BAD_REQUEST
    assert upstream.heads == []


async def test_a_broker_that_is_away_gets_the_constant_answer(tmp_path: Path) -> None:
    relay = Relay(tmp_path / "nobody", lambda: "LEASE")
    await relay.open()
    assert await ask(relay, GET) == UNREACHABLE
    await relay.close()


async def test_a_caller_that_hangs_up_is_gone_for_the_broker_too(tmp_path: Path) -> None:
    upstream = Upstream(tmp_path / "s")
    upstream.hold = asyncio.Event()
    async with relaying(upstream) as relay:
        _, writer = await asyncio.open_connection("127.0.0.1", relay.port)
        writer.write(GET)
        async with asyncio.timeout(20):
            await upstream.arrived.wait()
            writer.close()
            await upstream.gone.wait()


async def test_closing_cuts_what_is_in_flight_and_accepts_nothing_more(tmp_path: Path) -> None:
    upstream = Upstream(tmp_path / "s")
    upstream.hold = asyncio.Event()
    async with relaying(upstream) as relay:
        port = relay.port
        asking = asyncio.gather(ask(relay, GET))
        async with asyncio.timeout(20):
            await upstream.arrived.wait()
            await relay.close()
            assert (await asking)[0] == b""
            await upstream.gone.wait()
        with pytest.raises(ConnectionRefusedError):
            await asyncio.open_connection("127.0.0.1", port)


async def test_a_connection_without_a_byte_is_let_go(tmp_path: Path) -> None:
    upstream = Upstream(tmp_path / "s")
    async with relaying(upstream) as relay:
        reader, writer = await asyncio.open_connection("127.0.0.1", relay.port)
        writer.write_eof()
        assert await reader.read() == b""
        writer.close()
    assert upstream.heads == []


async def test_the_port_cannot_be_taken_over_and_is_known_before_it_serves(tmp_path: Path) -> None:
    relay = Relay(tmp_path / "s", lambda: "LEASE")
    with pytest.raises(ConnectionRefusedError):
        await asyncio.open_connection("127.0.0.1", relay.port)
    await relay.close()
