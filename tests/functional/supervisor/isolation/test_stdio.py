"""The three pipes on the event loop, with their other ends in the test's hands."""

import asyncio
import os
import socket

from stanchion.supervisor.isolation.spawn import Spawned
from stanchion.supervisor.isolation.stdio import STREAM_LIMIT_BYTES, Stdio


def connected() -> tuple[Spawned, int, int, int]:
    agents_in, ours_in = os.pipe()
    ours_out, agents_out = os.pipe()
    ours_err, agents_err = os.pipe()
    channel, other_end = socket.socketpair()
    with channel, other_end:
        return Spawned(1, ours_in, ours_out, ours_err, channel), agents_in, agents_out, agents_err


async def test_reading_stops_while_nobody_takes_what_was_read() -> None:
    spawned, agents_in, agents_out, agents_err = connected()
    stdio = Stdio(spawned)
    await stdio.connect()
    os.set_blocking(agents_out, False)
    written = refused = 0
    while refused < 50:
        try:
            written += os.write(agents_out, b"x" * 65536)
        except BlockingIOError:
            refused += 1
        await asyncio.sleep(0)  # the loop reads, as long as it wants to
    assert STREAM_LIMIT_BYTES < written < 4 * STREAM_LIMIT_BYTES
    stdio.close()
    for descriptor in (agents_in, agents_out, agents_err):
        os.close(descriptor)


async def test_input_is_written_and_then_closed() -> None:
    spawned, agents_in, agents_out, agents_err = connected()
    stdio = Stdio(spawned)
    await stdio.connect()
    stdio.feed(b"all of it")
    with os.fdopen(agents_in, "rb") as reader:
        assert await asyncio.to_thread(reader.read) == b"all of it"
    for descriptor in (agents_out, agents_err):
        os.close(descriptor)
    assert await stdio.stdout.read() == b""
    assert await stdio.stderr.read() == b""
    stdio.close()


async def test_pipes_that_were_never_connected_are_closed_too() -> None:
    spawned, agents_in, agents_out, agents_err = connected()
    Stdio(spawned).close()
    assert os.read(agents_in, 1) == b""
    for descriptor in (agents_in, agents_out, agents_err):
        os.close(descriptor)
