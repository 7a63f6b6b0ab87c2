"""The client against a socket where no broker, or something else, answers."""

import asyncio
import tempfile
from pathlib import Path

import pytest

from fakes.launches import order
from stanchion.broker.client import BrokerClient, BrokerUnreachableError
from stanchion.protocol.codec import CodecError
from stanchion.protocol.refusal import RefusedError


async def test_a_client_without_a_broker_says_so() -> None:
    async with BrokerClient(Path("/nonexistent/admin.sock")) as client:
        with pytest.raises(BrokerUnreachableError, match="stanchion broker serve"):
            await client.health()


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (b"HTTP/1.1 500 x\r\ncontent-length: 3\r\n\r\nabc", RefusedError),
        (b"HTTP/1.1 200 x\r\ncontent-length: 3\r\n\r\nabc", CodecError),
        (b"HTTP/1.1 200 x\r\ncontent-length: 30\r\n\r\nabc", BrokerUnreachableError),
        (b"", BrokerUnreachableError),
        (b"garbage\r\n\r\n", BrokerUnreachableError),
    ],
)
async def test_another_server_is_no_broker(answer: bytes, error: type[Exception]) -> None:
    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(answer)
        await writer.drain()
        writer.close()

    with tempfile.TemporaryDirectory(prefix="st") as folder:
        path = Path(folder) / "s"
        server = await asyncio.start_unix_server(handle, path)
        async with server, BrokerClient(path) as client:
            with pytest.raises(error):
                await client.open_run(order())


async def test_it_is_used_in_a_context() -> None:
    with pytest.raises(RuntimeError, match="async with"):
        await BrokerClient(Path("/x")).health()
