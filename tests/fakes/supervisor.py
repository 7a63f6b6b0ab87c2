"""A supervisor's side of the control and model sockets, as the broker's tests drive it."""

import asyncio
import socket
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

import msgspec

from stanchion.protocol.codec import PROTOCOL_VERSION, LineSplitter, decode, encode_line
from stanchion.protocol.control import (
    Ack,
    Enrol,
    Enrolled,
    FromBroker,
    FromSupervisor,
    Publish,
    Refused,
    Resume,
)
from stanchion.protocol.events import Envelope, Event

M = TypeVar("M", bound=msgspec.Struct)


@dataclass
class Response:
    """What came back on the model socket."""

    status: int
    headers: dict[str, str]
    body: bytes
    whole: bool


@dataclass
class Supervisor:
    """One connection to the control socket."""

    directory: Path
    boot: str = "boot-1"
    lease: str = ""
    generation: int = 0
    acked: int = 0
    seq: int = 0
    heard: list[FromBroker] = field(default_factory=list)
    _reader: asyncio.StreamReader | None = None
    _writer: asyncio.StreamWriter | None = None
    _lines: LineSplitter = field(default_factory=LineSplitter)
    _ready: list[bytes] = field(default_factory=list)

    async def connect(self, connected: socket.socket | None = None) -> None:
        path = str(self.directory / "control.sock")
        self._reader, self._writer = (
            await asyncio.open_unix_connection(path)
            if connected is None
            else await asyncio.open_unix_connection(sock=connected)
        )

    async def send(self, message: FromSupervisor) -> None:
        assert self._writer is not None
        self._writer.write(encode_line(message))
        await self._writer.drain()

    async def hear(self) -> FromBroker | None:
        """The next message; None at the end."""
        assert self._reader is not None
        while not self._ready:
            data = await self._reader.read(65536)
            if not data:
                return None
            self._ready += self._lines.feed(data)
        message: FromBroker = decode(self._ready.pop(0), FromBroker)  # type: ignore[arg-type]
        self.heard.append(message)
        if isinstance(message, Enrolled):
            self.lease, self.generation = message.lease, message.generation
        if isinstance(message, Ack):
            self.acked = message.seq
        return message

    async def hear_of(self, kind: type[M]) -> M:
        """The next message of this kind."""
        while (message := await self.hear()) is not None:
            if isinstance(message, kind):
                return message
        raise AssertionError(f"the connection ended without {kind.__name__}")

    async def enrol(self, token: str, spec_sha256: str) -> Enrolled | Refused:
        await self.connect()
        await self.send(
            Enrol(protocol=PROTOCOL_VERSION, token=token, boot=self.boot, spec_sha256=spec_sha256)
        )
        answer = await self.hear()
        assert isinstance(answer, (Enrolled, Refused))
        return answer

    async def resume(self) -> Enrolled | Refused:
        await self.connect()
        await self.send(Resume(protocol=PROTOCOL_VERSION, token=self.lease, boot=self.boot))
        answer = await self.hear()
        assert isinstance(answer, (Enrolled, Refused))
        return answer

    async def publish(self, *events: Event, seq: int | None = None) -> None:
        """Send events and wait for their acknowledgement."""
        for event in events:
            self.seq = self.seq + 1 if seq is None else seq
            await self.send(
                Publish(
                    envelope=Envelope(
                        seq=self.seq, boot=self.boot, mono_ms=1, wall_ms=1, event=event
                    )
                )
            )
        while self.acked < self.seq:
            await self.hear_of(Ack)

    async def close(self) -> None:
        if self._writer is not None:
            self._writer.close()
            await self._writer.wait_closed()


async def ask(
    directory: Path,
    body: bytes,
    *,
    lease: str | None,
    target: str = "/v1/chat/completions",
    method: str = "POST",
    extra: tuple[tuple[str, str], ...] = (),
) -> Response:
    """One request on the model socket."""
    lines = [f"{method} {target} HTTP/1.1", "host: relay", "content-type: application/json"]
    lines += [] if lease is None else [f"x-stanchion-lease: {lease}"]
    lines += [f"{name}: {value}" for name, value in extra]
    lines.append(f"content-length: {len(body)}")
    return await raw(directory, "\r\n".join(lines).encode() + b"\r\n\r\n" + body)


async def raw(directory: Path, data: bytes) -> Response:
    """Raw bytes in, one parsed response out."""
    reader, writer = await asyncio.open_unix_connection(str(directory / "model.sock"))
    writer.write(data)
    answer = await reader.read()
    writer.close()
    return parse(answer)


def parse(answer: bytes) -> Response:
    """A response by its own framing."""
    head, _, rest = answer.partition(b"\r\n\r\n")
    lines = head.decode("latin-1").split("\r\n")
    headers = {k.lower(): v.strip() for k, _, v in (line.partition(":") for line in lines[1:])}
    status = int(lines[0].split(" ")[1]) if lines[0] else 0
    if headers.get("transfer-encoding") == "chunked":
        body, whole = _unchunk(rest)
    else:
        length = int(headers.get("content-length", "0"))
        body, whole = rest, len(rest) == length
    return Response(status, headers, body, whole)


def _unchunk(rest: bytes) -> tuple[bytes, bool]:
    body = b""
    while rest:
        size, _, rest = rest.partition(b"\r\n")
        length = int(size, 16)
        if length == 0:
            return body, rest == b"\r\n"
        body, rest = body + rest[:length], rest[length + 2 :]
    return body, False
