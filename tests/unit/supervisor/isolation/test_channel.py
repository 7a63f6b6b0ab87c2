"""The supervisor's end of a shim's socket, fed by hand."""

import asyncio

from stanchion.supervisor.isolation.channel import MAX_LINE_BYTES, Channel
from stanchion.supervisor.isolation.reports import Ended, Started
from stanchion.supervisor.isolation.shim_wire import encode_report


class Wire(asyncio.Transport):
    """What the channel does to its connection."""

    def __init__(self) -> None:
        super().__init__()
        self.sent = b""
        self.aborted = False

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self.sent += data

    def abort(self) -> None:
        self.aborted = True

    def is_closing(self) -> bool:
        return self.aborted


def connected() -> tuple[Channel, Wire]:
    channel, wire = Channel(), Wire()
    channel.connection_made(wire)
    return channel, wire


async def test_reports_come_in_order_however_they_were_cut() -> None:
    channel, _ = connected()
    for byte in encode_report("started") + encode_report("ended", exit_code=3):
        channel.data_received(bytes([byte]))
    channel.connection_lost(None)
    assert await channel.next() == Started()
    assert await channel.next() == Ended(exit_code=3)
    assert await channel.next() is None
    assert channel.closed.done()


async def test_whoever_waits_is_woken_by_a_report_and_by_the_end() -> None:
    channel, _ = connected()
    async with asyncio.TaskGroup() as tasks:
        waiting = tasks.create_task(channel.next())
        await asyncio.sleep(0)
        channel.data_received(encode_report("started"))
    assert waiting.result() == Started()
    async with asyncio.TaskGroup() as tasks:
        waiting = tasks.create_task(channel.next())
        await asyncio.sleep(0)
        channel.connection_lost(None)
    assert waiting.result() is None


async def test_garbage_closes_the_channel_and_is_no_report() -> None:
    channel, wire = connected()
    channel.data_received(b'{"type":"ended","exit_code":"0"}\n')
    assert wire.aborted
    channel.connection_lost(None)
    assert await channel.next() is None


async def test_a_line_without_an_end_closes_the_channel() -> None:
    channel, wire = connected()
    channel.data_received(b"x" * (MAX_LINE_BYTES + 1))
    assert wire.aborted


async def test_nothing_is_sent_to_a_shim_that_is_gone() -> None:
    channel, wire = connected()
    channel.send(b"order")
    channel.abort()
    channel.send(b"go")
    assert wire.sent == b"order"
    Channel().send(b"never connected")
    Channel().abort()
