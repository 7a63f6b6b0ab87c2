"""The control socket of one attempt: enrolment, events in, acknowledgements and orders out.

One connection speaks at a time; a resumed one takes the place of the cut one. An event is
acknowledged only after it is durable, and never stored twice. It must never answer an unenrolled
caller with anything but a refusal.
"""

import asyncio
import contextlib
from dataclasses import dataclass

import msgspec

from stanchion.broker.attempts.attempt import Attempt
from stanchion.broker.attempts.leases import Grant, LeaseError
from stanchion.broker.receipts.ledger import LedgerError
from stanchion.protocol.codec import (
    MAX_LINE_BYTES,
    PROTOCOL_VERSION,
    CodecError,
    LineSplitter,
    decode,
    encode_line,
)
from stanchion.protocol.control import (
    Ack,
    Enrol,
    Enrolled,
    ExchangeSeen,
    FromBroker,
    Refused,
    Renew,
    Resume,
)
from stanchion.protocol.events import Warned

FIRST_MESSAGE_S = 10.0
MAX_UNSENT_BYTES = MAX_LINE_BYTES
"""A supervisor that reads this little is cut; it resumes."""
MAX_NEWS_WAIT_S = 0.02
"""For a request that began to be told; its end tells it at the latest."""

_READ_BYTES = 256 * 1024


class _LooseEnvelope(msgspec.Struct, frozen=True, kw_only=True):
    """An envelope whose event is stored as it came, of whatever type."""

    seq: int
    boot: str
    mono_ms: int
    wall_ms: int
    event: msgspec.Raw


class _LoosePublish(msgspec.Struct, frozen=True, kw_only=True, tag="publish"):
    envelope: _LooseEnvelope


_Incoming = Enrol | Resume | _LoosePublish | Renew


class _StopTalkingError(Exception):
    """The connection ends here; the message went to the caller."""


@dataclass(slots=True)
class _Waiting:
    """The last appended event of a connection and its place in the stream."""

    seq: int = 0
    cursor: str | None = None


class ControlConnection:
    """One connection from its first message to its end."""

    def __init__(
        self, attempt: Attempt, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self._attempt = attempt
        self._reader = reader
        self._writer = writer
        self._boot = ""
        self._waiting = _Waiting()
        self._news = asyncio.Event()
        self._soon: list[ExchangeSeen] = []
        """Not written yet: most requests are over in a moment, and a write wakes the sandbox."""
        self._timer: asyncio.TimerHandle | None = None

    async def run(self) -> None:
        """Serve it; never raises for what the caller sends."""
        splitter = LineSplitter()
        try:
            async with asyncio.timeout(FIRST_MESSAGE_S):
                lines = await self._first_lines(splitter)
                await self._admit(_parse(lines[0]))
            await self._talk(splitter, lines[1:])
        except* (_StopTalkingError, CodecError, LedgerError, OSError, TimeoutError, EOFError):
            pass
        finally:
            if self._attempt.tell == self.send:
                self._attempt.heard()
                self._attempt.tell = None
                self._attempt.control_free.set()
            self._hand_back()
            self._writer.close()

    def send(self, message: FromBroker) -> None:
        """Write one message; a caller that does not read is cut."""
        if isinstance(message, ExchangeSeen) and not self._writer.transport.is_closing():
            self._soon.append(message)
            if self._timer is None:
                self._timer = asyncio.get_running_loop().call_later(MAX_NEWS_WAIT_S, self._flush)
        else:
            self._write(message)

    def _flush(self) -> None:
        self._timer = None
        if self._soon:
            self._write(self._soon.pop())

    def _write(self, message: FromBroker) -> None:
        """This message, behind those that waited for it."""
        transport = self._writer.transport
        if transport.is_closing():
            return
        if transport.get_write_buffer_size() > MAX_UNSENT_BYTES:
            transport.abort()
            return
        line = self._attempt.line_of(message)
        if self._soon:
            line = b"".join(map(encode_line, self._soon)) + line
            self._soon.clear()
        self._writer.write(line)
        if isinstance(message, Refused):
            transport.close()

    def _hand_back(self) -> None:
        """What was not written is for the connection that comes next."""
        if self._timer is not None:
            self._timer.cancel()
        for message in self._soon:
            self._attempt.send(message)

    async def _first_lines(self, splitter: LineSplitter) -> list[bytes]:
        while data := await self._reader.read(_READ_BYTES):
            if lines := list(splitter.feed(data)):
                return lines
        raise EOFError

    async def _admit(self, message: _Incoming) -> None:
        """The first message says who this is."""
        if not isinstance(message, (Enrol, Resume)):
            raise self._refusal("the first message is enrol or resume")
        if message.protocol != PROTOCOL_VERSION:
            raise self._refusal(
                f"protocol {message.protocol} is not spoken here, {PROTOCOL_VERSION} is"
            )
        if isinstance(message, Enrol):
            await self._enrol(message)
        else:
            await self._resume(message)
        previous = self._attempt.tell
        self._attempt.heard()
        self._attempt.tell = self.send
        self._attempt.control_free.clear()
        if previous is not None:
            previous(Refused(why="another connection took this one's place"))
        self._attempt.catch_up()

    async def _enrol(self, message: Enrol) -> None:
        attempt = self._attempt
        if message.spec_sha256 != attempt.terms.launch_sha256:
            await attempt.note_security("spec_differs", "the supervisor read another launch spec")
            raise self._refusal("the launch spec is not the one that was frozen")
        grant = await attempt.enrol(message.token, message.boot)
        if isinstance(grant, LeaseError):
            raise self._refusal(f"enrolment refused: {grant}")
        self._boot = message.boot
        self._greet(grant)

    async def _resume(self, message: Resume) -> None:
        grant = await self._attempt.resume(message.token, message.boot)
        if isinstance(grant, LeaseError):
            raise self._refusal(f"resume refused: {grant}")
        self._boot = message.boot
        self._greet(grant)

    def _greet(self, grant: Grant) -> None:
        self.send(
            Enrolled(
                lease=grant.token,
                generation=grant.generation,
                expires_in_s=grant.expires_in_ms // 1000,
                acked_seq=self._attempt.story.last_seq,
            )
        )

    async def _talk(self, splitter: LineSplitter, lines: list[bytes]) -> None:
        async with asyncio.TaskGroup() as group:
            acks = group.create_task(self._acknowledge())
            for line in lines:
                await self._take(_parse(line))
            while data := await self._reader.read(_READ_BYTES):
                for line in splitter.feed(data):
                    await self._take(_parse(line))
            acks.cancel()

    async def _take(self, message: _Incoming) -> None:
        if isinstance(message, _LoosePublish):
            await self._event(message.envelope)
        elif isinstance(message, Renew):
            grant = await self._attempt.renew(message.generation)
            if isinstance(grant, LeaseError):
                raise self._refusal(f"renewal refused: {grant}")
            self._greet(grant)
        else:
            raise self._refusal("already enrolled")

    async def _event(self, envelope: _LooseEnvelope) -> None:
        attempt = self._attempt
        attempt.heard()
        if attempt.sealed:
            raise self._refusal("the attempt is closed")
        if envelope.boot != self._boot:
            await attempt.note_security("boot_differs", "an event of another supervisor start")
            raise self._refusal("an event of another supervisor start")
        expected = attempt.story.last_seq + 1
        if envelope.seq > expected:
            lost = f"events {expected} to {envelope.seq - 1} never came"
            attempt.publish(Warned(what="events_missing", detail=lost))
        if envelope.seq >= expected:
            event = bytes(envelope.event)
            self._waiting.cursor = await attempt.take_from_sandbox(event, envelope.seq)
        self._waiting.seq = max(envelope.seq, self._waiting.seq)
        self._news.set()

    async def _acknowledge(self) -> None:
        while True:
            await self._news.wait()
            self._news.clear()
            seq, cursor = self._waiting.seq, self._waiting.cursor
            if cursor is not None:
                await self._attempt.ledger.events.flushed(cursor)
            self.send(Ack(seq=seq))

    def _refusal(self, why: str) -> _StopTalkingError:
        self.send(Refused(why=why))
        return _StopTalkingError(why)


def _parse(line: bytes) -> _Incoming:
    return decode(line, _Incoming)  # type: ignore[arg-type]  # a union is a type to msgspec


async def serve_control(
    attempt: Attempt, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> None:
    """Serve one connection to its end."""
    with contextlib.suppress(ConnectionError):
        await ControlConnection(attempt, reader, writer).run()
