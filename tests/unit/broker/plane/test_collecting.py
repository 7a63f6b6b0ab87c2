import asyncio
from collections.abc import Callable
from typing import cast

import pytest

from stanchion.broker.plane.collecting import collect
from stanchion.broker.plane.upstream import Ending, Upstream


class Up:
    """A body that comes in the turn in which it is taken."""

    def __init__(self, *pieces: bytes, ending: Ending | None = None) -> None:
        self._pieces, self._ending = pieces, ending

    def take_body(self, on_body: Callable[[bytes], None], on_end: Callable[[Ending], None]) -> None:
        for piece in self._pieces:
            on_body(piece)
        if self._ending is not None:
            on_end(self._ending)


@pytest.mark.parametrize(
    ("up", "found"),
    [
        (Up(b"ab", b"c", ending=Ending.COMPLETE), (b"abc", Ending.COMPLETE)),
        (Up(b"ab", ending=Ending.MALFORMED), (b"ab", Ending.MALFORMED)),
        (Up(b"abcd", b"e", ending=Ending.COMPLETE), (b"abcd", Ending.CUT)),
        (Up(b"ab"), (b"ab", None)),
    ],
)
async def test_a_body_is_taken_up_to_its_bounds(up: Up, found: tuple[bytes, Ending]) -> None:
    until: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    assert await collect(cast("Upstream", up), max_bytes=4, wait_s=0.02, until=until) == found


async def test_it_ends_when_nobody_waits_any_more() -> None:
    until: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    until.set_result(None)
    up = cast("Upstream", Up(b"ab"))
    assert await collect(up, max_bytes=4, wait_s=3600, until=until) == (b"ab", None)
