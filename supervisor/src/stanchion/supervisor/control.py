"""The supervisor's end of control.sock: enrols, publishes in order, renews, resumes after a cut.

Never loses an event that the outbox still holds, and never decides: orders and wire events go to
the callbacks. A broker that stays away is reported once.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import msgspec

from stanchion.protocol.codec import PROTOCOL_VERSION, CodecError, LineSplitter, encode_line
from stanchion.protocol.control import (
    Ack,
    Enrol,
    Enrolled,
    ExchangeSeen,
    FromBroker,
    FromSupervisor,
    Refused,
    Renew,
    Resume,
    StopOrder,
    WireEvent,
)
from stanchion.protocol.events import Event, Warned
from stanchion.protocol.evidence import Stop, StopReason
from stanchion.supervisor.clock import Clock
from stanchion.supervisor.outbox import Outbox

READ_BYTES = 64 * 1024
MOST_CREDIT_MS = 15_000
"""Longest step that counts towards the broker's absence: a paused sandbox is no absence."""


class EnrolError(Exception):
    """The attempt cannot be enrolled: nobody to work for."""


class _CutError(Exception):
    """The conversation ended; another connection may follow."""


@dataclass(frozen=True, slots=True)
class Callbacks:
    """Where the broker's messages go."""

    wire: Callable[[ExchangeSeen | WireEvent], None]
    stop: Callable[[Stop], None]


@dataclass(frozen=True, slots=True)
class Patience:
    """How long to wait for the broker."""

    answer_s: float = 10
    enrol_s: float = 30
    silent_s: float = 30
    """Longest silence of a connected broker that owes an acknowledgement."""
    away_s: float = 120
    first_backoff_s: float = 0.1
    longest_backoff_s: float = 2


class _Backoff:
    """Waits that double up to a longest one."""

    def __init__(self, patience: Patience) -> None:
        self._next_s = patience.first_backoff_s
        self._longest_s = patience.longest_backoff_s

    async def wait(self) -> None:
        await asyncio.sleep(self._next_s)
        self._next_s = min(self._next_s * 2, self._longest_s)


class _Line:
    """One connection: whole messages both ways."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.writer = writer
        self._reader = reader
        self._splitter = LineSplitter()
        self._decoder = msgspec.json.Decoder(FromBroker)
        self._lines: list[bytes] = []

    def send(self, message: FromSupervisor) -> None:
        self.writer.write(encode_line(message))

    async def receive(self) -> FromBroker | CodecError:
        """The next message, or why its line is none."""
        while not self._lines:
            data = await self._reader.read(READ_BYTES)
            if not data:
                raise _CutError("the broker closed the connection")
            self._lines += self._splitter.feed(data)
        try:
            return self._decoder.decode(self._lines.pop(0))
        except msgspec.DecodeError as error:
            return CodecError(str(error))


class Control:
    """The channel to the broker, over as many connections as it takes."""

    def __init__(
        self,
        socket: Path,
        outbox: Outbox,
        clock: Clock,
        callbacks: Callbacks,
        *,
        boot: str,
        patience: Patience | None = None,
    ) -> None:
        self._socket = socket
        self._outbox = outbox
        self._clock = clock
        self._callbacks = callbacks
        self._boot = boot
        self._patience = patience or Patience()
        self._enrolled: Enrolled | None = None
        self._line: _Line | None = None
        self._connected = False
        self._work = asyncio.Event()
        self._progress = asyncio.Event()

    @property
    def lease(self) -> str:
        """The token for the relay, as last renewed."""
        if self._enrolled is None:
            raise EnrolError("not enrolled yet")
        return self._enrolled.lease

    def publish(self, event: Event) -> None:
        """Queue an event; returns at once."""
        self._outbox.add(event, mono_ms=self._clock.mono_ms(), wall_ms=self._clock.wall_ms())
        self._work.set()

    async def room(self, below_bytes: int) -> None:
        """Wait until less than this waits for a broker that is there."""
        while self._connected and self._outbox.waiting_bytes >= below_bytes:
            self._progress.clear()
            await self._progress.wait()

    async def flush(self, timeout_s: float) -> bool:
        """Wait until everything is acknowledged; False = it was not in time."""
        try:
            async with asyncio.timeout(timeout_s):
                while not self._outbox.empty:
                    self._progress.clear()
                    await self._progress.wait()
        except TimeoutError:
            return False
        return True

    async def enrol(self, token: str, spec_sha256: str) -> None:
        """Say who we are; EnrolError where that cannot be had."""
        message = Enrol(
            protocol=PROTOCOL_VERSION, token=token, boot=self._boot, spec_sha256=spec_sha256
        )
        why: BaseException | None = None
        backoff = _Backoff(self._patience)
        try:
            async with asyncio.timeout(self._patience.enrol_s):
                while self._line is None:
                    try:
                        self._line = await self._open(message)
                    except (OSError, CodecError, _CutError) as error:
                        why = error
                        await backoff.wait()
        except TimeoutError:
            raise EnrolError(f"the broker cannot be reached for enrolment: {why}") from why

    async def keep(self) -> None:
        """Hold the conversation, over as many connections as it takes, until cancelled."""
        while True:
            line = self._line or await self._resume()
            self._line = None
            self._connected = True
            try:
                await self._converse(line)
            except* (OSError, CodecError, _CutError):
                pass  # every cut looks alike: the next connection tells what was not acknowledged
            finally:
                self._connected = False
                self._progress.set()
                line.writer.close()

    async def _resume(self) -> _Line:
        away_ms, reported, last_ms = 0, False, self._clock.mono_ms()
        backoff = _Backoff(self._patience)
        while True:
            try:
                return await self._open(
                    Resume(protocol=PROTOCOL_VERSION, token=self.lease, boot=self._boot)
                )
            except (OSError, CodecError, _CutError, EnrolError) as error:
                why = error
            await backoff.wait()
            now_ms = self._clock.mono_ms()
            away_ms += min(now_ms - last_ms, MOST_CREDIT_MS)
            last_ms = now_ms
            if away_ms >= self._patience.away_s * 1000 and not reported:
                reported = True
                detail = f"the broker was away for {away_ms // 1000} s: {why}"
                self._callbacks.stop(Stop(reason=StopReason.BROKER_LOST, detail=detail))

    async def _open(self, first: Enrol | Resume) -> _Line:
        """A connection whose first message was accepted."""
        reader, writer = await asyncio.open_unix_connection(str(self._socket))
        line = _Line(reader, writer)
        try:
            line.send(first)
            async with asyncio.timeout(self._patience.answer_s):
                answer = _accepted(await line.receive())
        except TimeoutError as error:
            writer.close()
            raise _CutError("the broker does not answer") from error
        except BaseException:
            writer.close()
            raise
        self._enrolled = answer
        self._outbox.ack(answer.acked_seq)
        self._outbox.rewind()
        self._progress.set()
        return line

    async def _converse(self, line: _Line) -> None:
        async with asyncio.TaskGroup() as tasks:
            others = [tasks.create_task(self._send(line)), tasks.create_task(self._renew(line))]
            try:
                while True:
                    await self._take_next(line)
            finally:
                for other in others:
                    other.cancel()

    async def _send(self, line: _Line) -> None:
        while True:
            self._work.clear()
            while (data := self._outbox.take()) is not None:
                line.writer.write(data)
                await line.writer.drain()
            await self._work.wait()

    async def _renew(self, line: _Line) -> None:
        while self._enrolled is not None:
            await asyncio.sleep(self._enrolled.expires_in_s * 2 / 3)
            line.send(Renew(generation=self._enrolled.generation))

    async def _take_next(self, line: _Line) -> None:
        """One message; a broker that owes an acknowledgement for too long is left."""
        for _ in range(2):  # what was published just now is not owed yet
            try:
                async with asyncio.timeout(self._patience.silent_s / 2):
                    message = await line.receive()
            except TimeoutError:
                if self._outbox.empty:
                    return
            else:
                self._take(message)
                return
        raise _CutError("the broker acknowledges nothing")

    def _take(self, message: FromBroker | CodecError) -> None:
        match message:
            case Ack(seq=seq):
                self._outbox.ack(seq)
                self._work.set()
                self._progress.set()
            case Enrolled():
                self._enrolled = message
            case ExchangeSeen() | WireEvent():
                self._callbacks.wire(message)
            case StopOrder(stop=stop):
                self._callbacks.stop(stop)
            case Refused(why=why):
                raise _CutError(f"the broker refused: {why}")
            case CodecError():
                self.publish(Warned(what="control", detail=f"a message was not read: {message}"))


def _accepted(answer: FromBroker | CodecError) -> Enrolled:
    if isinstance(answer, Enrolled):
        return answer
    if isinstance(answer, Refused):
        raise EnrolError(f"the broker refused: {answer.why}")
    raise CodecError(f"expected enrolled or refused, got {answer!r}")
