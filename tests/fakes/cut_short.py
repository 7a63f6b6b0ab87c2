"""A coroutine that is ended from outside while it waits, at a place of the test's choice."""

import asyncio
import types
from collections.abc import Coroutine, Generator
from typing import Any, TypeVar

T = TypeVar("T")


@types.coroutine
def cut_short(
    coroutine: Coroutine[Any, None, T], at: int, error: type[BaseException]
) -> Generator[Any, Any, T]:
    """Await it; when it waits for the `at`-th time, what it waits for is cancelled and it gets the
    error there, as a task does that is cancelled. Its tidying up may wait for as long as it likes.
    """
    try:
        waited = coroutine.send(None)
        for _ in range(at - 1):
            yield waited
            waited = coroutine.send(None)
        if isinstance(waited, asyncio.Future):
            waited.cancel()
            yield  # who waits for it with us hears of it first
        waited = coroutine.throw(error)
        while True:
            yield waited
            waited = coroutine.send(None)
    except StopIteration as end:
        return end.value  # type: ignore[no-any-return]  # of the coroutine
