"""Connections kept for the next request: of one identity, over TLS, dropped on any surprise."""

import asyncio
import contextlib
import ssl
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from fakes.certificates import make_certificate, server_context
from fakes.upstream import Answer, Received, Upstream, chunk, response, sends, upstream
from stanchion.broker.plane.connecting import connected
from stanchion.broker.plane.pool import Line, Pool, PoolLimits
from stanchion.broker.plane.target import Target, request_head
from stanchion.broker.plane.upstream import Ending, ResponseHead
from stanchion.broker.secrets import Secret

OK = response(200, b"{}")
BODY = b'{"x":1}'
LIMITS = PoolLimits()


@dataclass
class Way:
    """A provider that keeps its connections, and how to reach it."""

    provider: Upstream
    tls: ssl.SSLContext | None
    pool: Pool = field(default_factory=Pool)

    def target(self, pool: Pool | None = None) -> Target:
        place = f"127.0.0.1:{self.provider.port}"
        return Target(
            host="127.0.0.1",
            port=self.provider.port,
            authority=place,
            path="",
            tls=self.tls,
            key=Secret("sk-CANARY-1"),
            pool=self.pool if pool is None else pool,
        )

    async def ask(self, pool: Pool | None = None) -> tuple[int, bytes]:
        """One exchange: status and body."""
        target = self.target(pool)
        async with connected(target) as up:
            up.send(request_head(target, "/chat/completions", (), len(BODY)), BODY)
            head = await up.head
            assert isinstance(head, ResponseHead), head
            return head.status, await whole_body(up)

    async def until_idle(self, connections: int) -> None:
        while self.pool.idle != connections:  # noqa: ASYNC110 - the loop's own next turn is awaited
            await asyncio.sleep(0)

    @property
    def came_over(self) -> list[int]:
        """The connection of each request."""
        return [request.connection for request in self.provider.received]


async def whole_body(up: object) -> bytes:
    done: asyncio.Future[Ending] = asyncio.get_running_loop().create_future()
    body = bytearray()
    up.take_body(body.extend, done.set_result)  # type: ignore[attr-defined]
    await done
    return bytes(body)


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tls")
    make_certificate(folder)
    return folder


@contextlib.asynccontextmanager
async def a_way(
    *answers: Answer, certificate: Path | None = None, limits: PoolLimits = LIMITS
) -> AsyncIterator[Way]:
    server = None if certificate is None else server_context(certificate)
    client = None
    if certificate is not None:
        client = ssl.create_default_context(cafile=str(certificate / "cert.pem"))
    async with upstream(*answers, tls=server, keeps=True) as provider:
        way = Way(provider, client, Pool(limits))
        try:
            yield way
        finally:
            way.pool.close()


@pytest.mark.parametrize("secure", [True, False])
async def test_the_next_request_goes_over_the_same_connection(
    certificate: Path, *, secure: bool
) -> None:
    async with a_way(OK, certificate=certificate if secure else None) as way:
        assert [await way.ask() for _ in range(3)] == [(200, b"{}")] * 3
        assert way.came_over == [1, 1, 1]
        assert way.pool.idle == 1
        assert "connection" not in way.provider.received[0].headers


async def test_two_at_once_have_two_connections_and_the_last_one_back_is_the_next(
    certificate: Path,
) -> None:
    asked, gate = asyncio.Event(), asyncio.Event()

    async def late(request: Received, writer: asyncio.StreamWriter) -> None:
        asked.set()
        await gate.wait()
        await OK(request, writer)

    async with a_way(late, OK, certificate=certificate) as way, asyncio.TaskGroup() as tasks:
        first = tasks.create_task(way.ask())
        await asked.wait()
        await way.ask()
        gate.set()
        await first
        await way.ask()
        assert way.came_over == [1, 2, 1]


async def test_two_identities_never_share_a_connection() -> None:
    other = Pool()
    async with a_way(OK) as way:
        await way.ask()
        await way.ask(other)
        await way.ask()
        await way.ask(other)
        assert way.came_over == [1, 2, 1, 2]
        other.close()


async def test_without_a_pool_each_request_has_its_own_connection() -> None:
    async with a_way(OK) as way:
        target = Target(
            host="127.0.0.1", port=way.provider.port, authority="x", path="", tls=None, key=None
        )
        for _ in range(2):
            async with connected(target) as up:
                up.send(request_head(target, "/x", (), 0), b"")
                await up.head
        assert way.came_over == [1, 2]
        assert way.provider.received[0].headers["connection"] == "close"


WHOLE = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}"
CHUNKED = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n" + chunk(b"{}") + b"0\r\n\r\n"
SMUGGLED = b"HTTP/1.1 200 OK\r\ncontent-length: 8\r\n\r\nsmuggled"


@pytest.mark.parametrize(
    "raw",
    [
        WHOLE + SMUGGLED,
        CHUNKED + SMUGGLED,
        WHOLE + b"x",
        WHOLE + b"\r\n",
        WHOLE + b"\0",
        CHUNKED + b"\r\n",
        b"HTTP/1.1 204 No Content\r\n\r\nbody",
        b"HTTP/1.0 200 OK\r\ncontent-length: 2\r\n\r\n{}",
        b"HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 2\r\n\r\n{}",
        b"HTTP/1.1 200 OK\r\nconnection: Keep-Alive, Close\r\ncontent-length: 2\r\n\r\n{}",
        b"HTTP/1.1 200 OK\r\nkeep-alive: timeout=1\r\ncontent-length: 2\r\n\r\n{}",
    ],
)
async def test_an_answer_that_is_not_only_one_answer_ends_its_connection(raw: bytes) -> None:
    """An attacker's second answer must never be the next request's (attack 41)."""
    async with a_way(sends(raw), OK) as way:
        assert (await way.ask())[1] in {b"{}", b""}
        assert way.pool.idle == 0
        assert await way.ask() == (200, b"{}")
        assert way.came_over == [1, 2]


async def test_bytes_that_come_while_it_waits_end_it() -> None:
    async def then_more(request: Received, writer: asyncio.StreamWriter) -> None:
        await OK(request, writer)
        await writer.drain()
        await way.until_idle(1)
        writer.write(SMUGGLED)

    async with a_way(then_more, OK) as way:
        await way.ask()
        await way.until_idle(0)
        assert await way.ask() == (200, b"{}")
        assert way.came_over == [1, 2]


async def test_what_the_kernel_has_and_the_loop_has_not_seen_ends_it_too() -> None:
    writers: list[asyncio.StreamWriter] = []

    async def keep(request: Received, writer: asyncio.StreamWriter) -> None:
        writers.append(writer)
        await OK(request, writer)

    async with a_way(keep, OK) as way:
        await way.ask()
        assert way.pool.idle == 1
        writers[0].write(SMUGGLED)  # leaves now, and not one turn of the loop until the next take
        assert way.pool.take() is None
        assert await way.ask() == (200, b"{}")
        assert way.came_over == [1, 2]


@pytest.mark.parametrize("secure", [True, False])
async def test_a_connection_that_the_provider_closed_is_not_used(
    certificate: Path, *, secure: bool
) -> None:
    closed = asyncio.Event()

    async def close_later(request: Received, writer: asyncio.StreamWriter) -> None:
        await OK(request, writer)
        await writer.drain()
        await way.until_idle(1)
        writer.close()
        closed.set()

    async with a_way(close_later, OK, certificate=certificate if secure else None) as way:
        await way.ask()
        await closed.wait()
        await way.until_idle(0)
        assert await way.ask() == (200, b"{}")
        assert way.came_over == [1, 2]


async def test_an_answer_before_the_request_was_read_ends_its_connection() -> None:
    """The server answers at the head; what of the body is read next is anybody's guess."""
    answered = asyncio.Event()

    async def early(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 413 Too Large\r\ncontent-length: 2\r\n\r\n{}")
        await writer.drain()
        await answered.wait()
        writer.close()

    server = await asyncio.start_server(early, "127.0.0.1", 0)
    pool = Pool()
    port = server.sockets[0].getsockname()[1]
    body = b"x" * (32 * 1024 * 1024)
    target = Target(host="127.0.0.1", port=port, authority="x", path="", tls=None, key=None,
                    pool=pool)  # fmt: skip
    async with server, connected(target) as up:
        up.send(request_head(target, "/x", (), len(body)), body)
        head = await up.head
        assert isinstance(head, ResponseHead)
        assert (head.status, await whole_body(up)) == (413, b"{}")
        assert not up.clean
        answered.set()
    assert pool.idle == 0
    pool.close()


async def test_a_body_that_was_not_read_ends_its_connection() -> None:
    async with a_way(response(307, b"x" * 200_000), OK) as way:
        target = way.target()
        async with connected(target) as up:
            up.send(request_head(target, "/x", (), len(BODY)), BODY)
            await up.head
        await way.ask()
        assert way.came_over == [1, 2]


@pytest.mark.parametrize("limits", [PoolLimits(idle_s=0.02), PoolLimits(age_s=0.02)])
async def test_the_time_that_a_connection_waits_is_bounded(limits: PoolLimits) -> None:
    ended = asyncio.Event()

    async def until_closed(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        await reader.readexactly(len(BODY))
        writer.write(WHOLE)
        assert await reader.read() == b""
        writer.close()
        ended.set()

    server = await asyncio.start_server(until_closed, "127.0.0.1", 0)
    pool = Pool(limits)
    async with server:
        port = server.sockets[0].getsockname()[1]
        target = Target(host="127.0.0.1", port=port, authority="x", path="", tls=None, key=None,
                        pool=pool)  # fmt: skip
        async with connected(target) as up:
            up.send(request_head(target, "/x", (), len(BODY)), BODY)
            await up.head
            await whole_body(up)
        await ended.wait()
    assert pool.idle == 0


async def test_the_number_that_waits_is_bounded_and_a_closed_pool_keeps_none() -> None:
    async with a_way(OK, limits=PoolLimits(idle_connections=2)) as way:
        async with asyncio.TaskGroup() as tasks:
            for _ in range(5):
                tasks.create_task(way.ask())
        assert way.pool.idle <= 2
        way.pool.close()
        assert way.pool.idle == 0
        await way.ask()
        assert way.pool.idle == 0


async def test_whoever_had_a_connection_before_can_do_nothing_to_it() -> None:
    """A slow reader of the last answer must not pause the next one's."""
    async with a_way(OK) as way:
        target = way.target()
        async with connected(target) as up:
            up.send(request_head(target, "/x", (), len(BODY)), BODY)
            await up.head
            await whole_body(up)
        up.pause()
        up.close()
        assert await way.ask() == (200, b"{}")
        assert way.came_over == [1, 1]


async def test_a_connection_without_a_socket_is_not_kept() -> None:
    class NoSocket(asyncio.Transport):
        def is_closing(self) -> bool:
            return False

    assert Pool().park(Line(NoSocket(), 0.0)) is False
