"""Takes a body whole, up to a size and for a time, where it cannot be passed on as it comes."""

import asyncio
from typing import Any

from stanchion.broker.plane.upstream import Ending, Upstream


async def first_of(timeout_s: float, *futures: asyncio.Future[Any]) -> None:
    """Wait for one of them, or for so long. Lighter than `asyncio.wait`: no sets, no tasks."""
    if any(future.done() for future in futures):
        return
    loop = futures[0].get_loop()
    first: asyncio.Future[None] = loop.create_future()

    def come(_: object = None) -> None:
        if not first.done():
            first.set_result(None)

    timer = loop.call_later(timeout_s, come)
    for future in futures:
        future.add_done_callback(come)
    try:
        await first
    finally:
        timer.cancel()
        for future in futures:
            future.remove_done_callback(come)


async def collect(
    up: Upstream, *, max_bytes: int, wait_s: float, until: asyncio.Future[None]
) -> tuple[bytes, Ending | None]:
    """The body, cut at its bound, and how it ended; None = not in its time, or `until` came first.

    A body beyond the bound counts as cut.
    """
    done: asyncio.Future[Ending] = asyncio.get_running_loop().create_future()
    body = bytearray()

    def take(data: bytes) -> None:
        body.extend(data)
        if len(body) > max_bytes:
            end(Ending.CUT)

    def end(ending: Ending) -> None:
        if not done.done():
            done.set_result(ending)

    up.take_body(take, end)
    await first_of(wait_s, done, until)
    return bytes(body[:max_bytes]), done.result() if done.done() else None
