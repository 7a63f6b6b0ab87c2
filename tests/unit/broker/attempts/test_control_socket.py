"""What one control connection writes, and when: a write wakes the sandbox."""

import asyncio
from typing import Any, cast

from stanchion.broker.attempts.attempt import Attempt
from stanchion.broker.attempts.control_socket import ControlConnection
from stanchion.protocol.codec import encode_line
from stanchion.protocol.control import ExchangeSeen, FromBroker, WireEvent
from stanchion.protocol.events import ExchangeHeld

HELD = WireEvent(event=ExchangeHeld(exchange=2, holding=True, why="room"))


class Writer:
    """Takes down each write. Its transport is itself."""

    def __init__(self) -> None:
        self.writes: list[bytes] = []
        self.transport = self
        self.written = asyncio.Event()

    def write(self, data: bytes) -> None:
        self.writes.append(data)
        self.written.set()

    def is_closing(self) -> bool:
        return False

    def get_write_buffer_size(self) -> int:
        return 0

    def close(self) -> None:
        pass


def connection(attempt: Attempt, writer: Writer) -> ControlConnection:
    reader = asyncio.StreamReader()
    reader.feed_eof()
    return ControlConnection(attempt, reader, cast("Any", writer))


async def test_a_start_waits_for_what_is_told_next_and_goes_before_it(attempt: Attempt) -> None:
    writer = Writer()
    told = connection(attempt, writer)
    for number in (1, 2):
        told.send(ExchangeSeen(exchange=number))
    assert writer.writes == []
    told.send(HELD)
    seen = b"".join(encode_line(ExchangeSeen(exchange=number)) for number in (1, 2))
    assert writer.writes == [seen + encode_line(HELD)]


async def test_a_start_alone_is_told_a_moment_later(attempt: Attempt) -> None:
    writer = Writer()
    told = connection(attempt, writer)
    told.send(ExchangeSeen(exchange=1))
    await writer.written.wait()
    assert writer.writes == [encode_line(ExchangeSeen(exchange=1))]


async def test_what_a_cut_connection_had_not_written_the_next_one_tells(attempt: Attempt) -> None:
    told, heard = connection(attempt, Writer()), list[FromBroker]()
    attempt.leases.boot = "b"
    attempt.tell = told.send
    attempt.send(ExchangeSeen(exchange=1))
    await told.run()
    attempt.tell = heard.append
    attempt.catch_up()
    assert heard == [ExchangeSeen(exchange=1)]
