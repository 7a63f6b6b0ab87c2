"""The provider's side of one exchange: it sends a fixture's bytes and captures what reached it.

What it captures is read from the received bytes with the standard library alone, by tables of its
own: no code of the broker has a part in it, so that the two can be held against each other.
"""

import asyncio
import contextlib
import hashlib
import json
import socket
import struct
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

from conformance.wire.recorded import Recorded
from fakes.upstream import Received, chunk, stop_listening
from stanchion.protocol.dialects import Dialect

_LIMITS = {
    Dialect.OPENAI_CHAT: ("max_completion_tokens", "max_tokens"),
    Dialect.OPENAI_RESPONSES: ("max_output_tokens",),
    Dialect.ANTHROPIC_MESSAGES: ("max_tokens",),
    Dialect.GEMINI: ("generationConfig.maxOutputTokens",),
}
_EFFORTS = {
    Dialect.OPENAI_CHAT: ("reasoning_effort", "reasoning.effort"),
    Dialect.OPENAI_RESPONSES: ("reasoning.effort",),
    Dialect.ANTHROPIC_MESSAGES: ("output_config.effort",),
    Dialect.GEMINI: ("generationConfig.thinkingConfig.thinkingLevel",),
}


@dataclass
class Capture:
    """What came to the provider, and what it sent."""

    requests: list[Received] = field(default_factory=list)
    sent: bytes = b""
    """Body bytes of the response, without their framing."""

    @property
    def body(self) -> bytes:
        (request,) = self.requests
        return request.body

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.body).hexdigest()

    @property
    def fields(self) -> tuple[str, ...]:
        return tuple(sorted(json.loads(self.body)))

    def limit(self, dialect: Dialect) -> object:
        """The one output limit of the request; None where there is none, or fields disagree."""
        return self._one(_LIMITS[dialect])

    def effort(self, dialect: Dialect) -> object:
        return self._one(_EFFORTS[dialect])

    def model(self, dialect: Dialect) -> object:
        if dialect is Dialect.GEMINI:  # the model is in the path
            return self.requests[0].request_line.split("/models/")[1].split(":")[0]
        return self._one(("model",))

    def _one(self, places: tuple[str, ...]) -> object:
        found = {value for place in places if (value := self._at(place)) is not None}
        return found.pop() if len(found) == 1 else None

    def _at(self, place: str) -> object:
        value: object = json.loads(self.body)
        for name in place.split("."):
            value = value.get(name) if isinstance(value, dict) else None
        return value


@dataclass
class Provider:
    """Listens for one exchange."""

    recorded: Recorded
    body: list[bytes]
    capture: Capture = field(default_factory=Capture)
    seen: asyncio.Event = field(default_factory=asyncio.Event)
    """Set by the harness's side once it has everything that may leave before a reset."""
    port: int = 0

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
            head = await reader.readuntil(b"\r\n\r\n")
            request = Received(head, b"")
            length = int(request.headers.get("content-length", "0"))
            request.body = await reader.readexactly(length)
            self.capture.requests.append(request)
            await self._answer(reader, writer)
        writer.close()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        framed = chunk if self._framing == "chunked" else bytes
        writer.write(self._head())
        for piece in self.body:
            if piece:
                writer.write(framed(piece))
                self.capture.sent += piece
                await writer.drain()
                await asyncio.sleep(0)
        if self.recorded.ends == "whole":
            writer.write(b"0\r\n\r\n" if self._framing == "chunked" else b"")
        elif self.recorded.ends == "stall":
            await reader.read()  # until the broker has enough of it
        elif self.recorded.ends == "rst":
            await self.seen.wait()
            linger = struct.pack("ii", 1, 0)  # closes with a reset
            writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)

    @property
    def _framing(self) -> str:
        by_kind = "chunked" if self.recorded.content_type.startswith("text/event") else "length"
        return self.recorded.framing or by_kind

    def _head(self) -> bytes:
        recorded = self.recorded
        version = "1.0" if self._framing == "close" else "1.1"
        lines = [f"HTTP/{version} {recorded.status} Whatever"]
        if recorded.content_type:
            lines.append(f"content-type: {recorded.content_type}")
        lines += [f"{name}: {value}" for name, value in recorded.headers.items()]
        if self._framing == "chunked":
            lines.append("transfer-encoding: chunked")
        elif self._framing == "length":
            whole = recorded.ends == "whole"
            lines.append(f"content-length: {len(recorded.whole) + (0 if whole else 1)}")
        return "\r\n".join(lines).encode() + b"\r\n\r\n"


@contextlib.asynccontextmanager
async def provider(recorded: Recorded, body: list[bytes]) -> AsyncIterator[Provider]:
    """It, listening on loopback."""
    one = Provider(recorded, body)
    server = await asyncio.start_server(one.handle, "127.0.0.1", 0)
    one.port = server.sockets[0].getsockname()[1]
    try:
        yield one
    finally:
        await stop_listening(server)
