"""The broker's two sockets, scripted: what the supervisor meets outside of its sandbox."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Self, TypeVar

import msgspec

from stanchion.protocol.codec import LineSplitter, encode_line
from stanchion.protocol.control import (
    Ack,
    Enrol,
    Enrolled,
    ExchangeSeen,
    FromBroker,
    FromSupervisor,
    Publish,
    Refused,
    Renew,
    Resume,
    WireEvent,
)
from stanchion.protocol.events import Envelope, ExchangeEnded
from stanchion.protocol.exchange import Answered, ExchangeResult, Finish

LEASE = "st1_lease"
ANSWER = (
    b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n" + b'{"ok":1}'
)
GOOD = Answered(
    result=ExchangeResult.COMPLETED, status=200, finish=Finish.STOP, text_present=True, tool_calls=0
)

T = TypeVar("T")


class FakeBroker:
    """Enrols, acknowledges, resumes, and answers each model request with `answer`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.envelopes: dict[int, Envelope] = {}
        self.openings: list[Enrol | Resume] = []
        self.renewals: list[Renew] = []
        self.heads: list[bytes] = []
        self.refuse: str | None = None
        self.acks = True
        self.expires_in_s = 900
        self.answer = ANSWER
        self.answered: Answered = GOOD
        self.model_handler: Callable[
            [asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]
        ] = self._answer_model
        self._generation = 0
        self._exchange = 0
        self._servers: list[asyncio.Server] = []
        self._writer: asyncio.StreamWriter | None = None
        self._open: set[asyncio.StreamWriter] = set()
        self._moved = asyncio.Event()

    async def __aenter__(self) -> Self:
        await self.listen()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.vanish()

    async def listen(self) -> None:
        control = await asyncio.start_unix_server(self._control, self.folder / "control.sock")
        model = await asyncio.start_unix_server(self._model, self.folder / "model.sock")
        self._servers = [control, model]

    async def vanish(self) -> None:
        """As a broker that died: no socket, no connection."""
        for server in self._servers:
            server.close()
        for name in ("control.sock", "model.sock"):
            (self.folder / name).unlink(missing_ok=True)
        self.cut()
        await self.until(lambda: not self._open)

    def cut(self) -> None:
        for writer in self._open:
            writer.close()

    def send(self, message: FromBroker) -> None:
        assert self._writer is not None
        self._writer.write(encode_line(message))

    @property
    def events(self) -> list[object]:
        return [self.envelopes[seq].event for seq in sorted(self.envelopes)]

    def of(self, kind: type[T]) -> list[T]:
        return [event for event in self.events if isinstance(event, kind)]

    async def until(self, happened: Callable[[], object]) -> None:
        """Wait for something of the above to become true."""
        async with asyncio.timeout(20):
            while not happened():
                self._moved.clear()
                await self._moved.wait()

    async def _control(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._open.add(writer)
        splitter = LineSplitter()
        try:
            while data := await reader.read(65536):
                for line in splitter.feed(data):
                    self._take(msgspec.json.decode(line, type=FromSupervisor), writer)
                self._moved.set()
        except ConnectionError:
            pass
        finally:
            writer.close()
            self._open.discard(writer)
            self._moved.set()

    def _take(self, message: FromSupervisor, writer: asyncio.StreamWriter) -> None:
        match message:
            case Enrol() | Resume() if self.refuse is not None:
                writer.write(encode_line(Refused(why=self.refuse)))
            case Enrol() | Resume():
                self.openings.append(message)
                self._writer = writer
                writer.write(encode_line(self._enrolled()))
            case Renew():
                self.renewals.append(message)
                writer.write(encode_line(self._enrolled()))
            case Publish(envelope=envelope):
                self.envelopes[envelope.seq] = envelope
                if self.acks:
                    writer.write(encode_line(Ack(seq=envelope.seq)))

    def _enrolled(self) -> Enrolled:
        self._generation += 1
        return Enrolled(
            lease=f"{LEASE}_{self._generation}",
            generation=self._generation,
            expires_in_s=self.expires_in_s,
            acked_seq=max(self.envelopes, default=0) if self.acks else 0,
        )

    async def _model(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._open.add(writer)
        try:
            self.heads.append(await reader.readuntil(b"\r\n\r\n"))
            self._moved.set()
            await self.model_handler(reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()
            self._open.discard(writer)
            self._moved.set()

    async def _answer_model(self, _: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._exchange += 1
        self.send(ExchangeSeen(exchange=self._exchange))
        ended = ExchangeEnded(exchange=self._exchange, answered=self.answered)
        self.send(WireEvent(event=ended))
        writer.write(self.answer)
        await writer.drain()
