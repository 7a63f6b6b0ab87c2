"""An HTTP proxy on loopback that knows CONNECT only, and keeps every byte that passed it."""

import asyncio
import contextlib
import ssl
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

from fakes.upstream import stop_listening


@dataclass
class EgressProxy:
    """Answers CONNECT; `answer` other than 200 closes at once."""

    answer: bytes = b"HTTP/1.1 200 Connection established\r\n\r\n"
    port: int = 0
    heads: list[bytes] = field(default_factory=list)
    passed: bytearray = field(default_factory=bytearray)
    joining: "set[asyncio.Task[None]]" = field(default_factory=set)

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self.joining.add(task)
        task.add_done_callback(self.joining.discard)
        try:
            head = await reader.readuntil(b"\r\n\r\n")
            self.heads.append(head)
            writer.write(self.answer)
            await writer.drain()
            if b" 200 " in self.answer:
                host, _, port = head.split(b" ")[1].decode().rpartition(":")
                await self._join(reader, writer, host, int(port))
        except (ConnectionError, asyncio.IncompleteReadError):
            pass  # the client hung up
        finally:
            await close(writer)

    async def _join(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, host: str, port: int
    ) -> None:
        inner, outer = await asyncio.open_connection(host, port)

        async def copy(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
            with contextlib.suppress(ConnectionError):
                while data := await source.read(65536):
                    self.passed += data
                    sink.write(data)
                    await sink.drain()
            sink.close()

        try:
            await asyncio.gather(copy(reader, outer), copy(inner, writer))
        finally:
            await close(outer)


async def close(writer: asyncio.StreamWriter) -> None:
    writer.close()
    with contextlib.suppress(ConnectionError, ssl.SSLError):
        await writer.wait_closed()


@contextlib.asynccontextmanager
async def egress_proxy(answer: bytes | None = None) -> AsyncIterator[EgressProxy]:
    """The proxy, listening."""
    proxy = EgressProxy() if answer is None else EgressProxy(answer)
    server = await asyncio.start_server(proxy.handle, "127.0.0.1", 0)
    proxy.port = server.sockets[0].getsockname()[1]
    try:
        yield proxy
    finally:
        await stop_listening(server)
        for task in proxy.joining:
            task.cancel()
        await asyncio.gather(*proxy.joining, return_exceptions=True)
