"""A scripted provider on loopback, raw asyncio: it sends exactly the bytes it is told to."""

import asyncio
import contextlib
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass, field


@dataclass
class Received:
    """One request as its bytes came."""

    head: bytes
    body: bytes
    connection: int = 1
    """Which one it came over, in the order in which they were made."""

    @property
    def headers(self) -> dict[str, str]:
        lines = self.head.decode("latin-1").split("\r\n")[1:]
        return {k.lower(): v.strip() for k, _, v in (line.partition(":") for line in lines if line)}

    @property
    def request_line(self) -> str:
        return self.head.decode("latin-1").split("\r\n")[0]


Answer = Callable[["Received", asyncio.StreamWriter], Awaitable[None]]


@dataclass
class Upstream:
    """Answers every request with the next answer; the last one stays."""

    answers: list[Answer]
    keeps: bool = False
    """Whether a connection stays open after an answer, until either side closes it."""
    port: int = 0
    connections: int = 0
    ending: bool = False
    received: list[Received] = field(default_factory=list)
    answering: "set[asyncio.Task[None]]" = field(default_factory=set)

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self.answering.add(task)
        task.add_done_callback(self.answering.discard)
        self.connections += 1
        connection = self.connections
        try:
            while await self._answer_one(reader, writer, connection) and self.keeps:
                pass
        except (ConnectionError, asyncio.IncompleteReadError):
            pass  # the broker hung up
        except asyncio.CancelledError:
            if not self.ending:
                raise
        finally:
            writer.close()

    async def _answer_one(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, connection: int
    ) -> bool:
        head = await reader.readuntil(b"\r\n\r\n")
        request = Received(head, b"", connection)
        length = int(request.headers.get("content-length", "0"))
        request.body = await reader.readexactly(length)
        self.received.append(request)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        await answer(request, writer)
        await writer.drain()
        return not writer.is_closing()


@contextlib.asynccontextmanager
async def upstream(
    *answers: Answer, tls: ssl.SSLContext | None = None, keeps: bool = False
) -> AsyncIterator[Upstream]:
    """The provider, listening."""
    provider = Upstream(list(answers), keeps=keeps)
    server = await asyncio.start_server(provider.handle, "127.0.0.1", 0, ssl=tls)
    provider.port = server.sockets[0].getsockname()[1]
    try:
        yield provider
    finally:
        await stop_listening(server)
        provider.ending = True
        for task in provider.answering:
            task.cancel()
        await asyncio.gather(*provider.answering, return_exceptions=True)


async def stop_listening(server: asyncio.Server) -> None:
    """Close it, with the turns of the loop in which callers that were accepted get a transport.

    asyncio leaves the socket of one that was accepted just before the loop's end to the garbage
    collector, which complains in whatever test comes later.
    """
    server.close()
    for _ in range(3):
        await asyncio.sleep(0)


def sends(*pieces: bytes) -> Answer:
    """Write the pieces one by one."""

    async def answer(_: Received, writer: asyncio.StreamWriter) -> None:
        for piece in pieces:
            writer.write(piece)
            await writer.drain()
            await asyncio.sleep(0)

    return answer


def response(
    status: int,
    body: bytes,
    *,
    content_type: str = "application/json",
    headers: Sequence[tuple[str, str]] = (),
) -> Answer:
    """A whole response with its length."""
    lines = [f"HTTP/1.1 {status} Whatever", f"content-type: {content_type}"]
    lines += [f"{name}: {value}" for name, value in headers]
    lines.append(f"content-length: {len(body)}")
    return sends("\r\n".join(lines).encode() + b"\r\n\r\n" + body)


def chunk(data: bytes) -> bytes:
    return b"%x\r\n%s\r\n" % (len(data), data)


STREAM_HEAD = (
    b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n"
    b"x-request-id: req_1\r\nset-cookie: a=b\r\n\r\n"
)


def stream(*pieces: bytes) -> Answer:
    """A whole event stream, each piece in its own chunk."""
    return sends(STREAM_HEAD, *(chunk(piece) for piece in pieces), b"0\r\n\r\n")


def say(*lines: str) -> bytes:
    """Events of these data lines."""
    return b"".join(f"data: {line}\n\n".encode() for line in lines)
