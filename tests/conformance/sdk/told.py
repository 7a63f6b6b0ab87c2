"""Everything that a caller can see of one call through an SDK, as plain values to compare.

Sync and async clients go through the same code: whatever can be awaited is, and a sync client runs
in a thread of its own, because it blocks the loop that the relay lives on.
"""

import asyncio
import contextlib
import importlib
import inspect
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

import pytest

FLAVOURS = ("sync", "async")
OF_THE_HOP = frozenset(
    {"connection", "content-length", "date", "keep-alive", "server", "transfer-encoding"}
)
"""Response headers that each server writes for its own connection; all others are compared."""


def sdk(name: str) -> ModuleType:
    """A vendor's SDK, or a loud skip (an older development environment)."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        pytest.skip(f"{name} is not installed ({error}); make setup", allow_module_level=True)


@dataclass
class Told:
    """One call: the objects in order of arrival, the headers, and how it failed if it did."""

    objects: list[object] = field(default_factory=list)
    headers: dict[str, str] = field(default_factory=dict)
    failure: dict[str, object] | None = None

    def saw(self, thing: Any) -> None:
        """An object of the SDK: its class, its fields, and the id of the request behind it."""
        answer = getattr(thing, "sdk_http_response", None)  # google-genai puts the headers there
        if answer is not None:
            self.headed(answer.headers or {})
            thing.sdk_http_response = None
        if hasattr(thing, "model_dump"):
            fields = thing.model_dump(mode="json", warnings=False)
            thing = (type(thing).__qualname__, fields, getattr(thing, "_request_id", None))
        self.objects.append(thing)

    def headed(self, headers: Mapping[str, str]) -> None:
        """The headers of the answer."""
        self.headers = {
            name.lower(): value for name, value in headers.items() if name.lower() not in OF_THE_HOP
        }

    def failed(self, error: Exception) -> None:
        """What was raised, with all that it carries."""
        response = getattr(error, "response", None)
        headers = getattr(response, "headers", None)
        if headers is not None:
            self.headed(headers)
        self.failure = {
            "class": f"{type(error).__module__}.{type(error).__qualname__}",
            "words": str(error),
            "cause": type(error.__cause__).__qualname__ if error.__cause__ else None,
        }
        self.failure |= {
            name: getattr(error, name)
            for name in (
                *("status_code", "body", "request_id", "code", "param", "type"),
                *("status", "message", "details", "error_code"),
            )
            if hasattr(error, name)
        }
        if hasattr(self.failure.get("details"), "model_dump"):
            self.failure["details"] = error.details.model_dump(mode="json")  # type: ignore[attr-defined]


Call = Callable[[Any, Told], Awaitable[None]]
"""One call of an opened client."""


async def tell(client: Any, call: Call) -> Told:
    """What becomes of the call; the client is closed with it."""
    told = Told()

    async def run() -> None:
        async with entered(client) as opened:
            try:
                await call(opened, told)
            except Warning:
                raise  # pytest's doing: no caller sees it as an error
            except Exception as error:  # noqa: BLE001 - any error is what the caller sees
                told.failed(error)

    if hasattr(client, "__aenter__"):
        await run()
    else:
        await asyncio.to_thread(asyncio.run, run())
    return told


async def settled(value: Any) -> Any:
    """What an async client returns, or a sync one at once."""
    return await value if inspect.isawaitable(value) else value


@contextlib.asynccontextmanager
async def entered(manager: Any) -> AsyncIterator[Any]:
    """A context manager of either kind."""
    if hasattr(manager, "__aenter__"):
        async with manager as value:
            yield value
    else:
        with manager as value:
            yield value


async def each(stream: Any) -> AsyncIterator[Any]:
    """The items of a stream of either kind."""
    if hasattr(stream, "__aiter__"):
        async for item in stream:
            yield item
    else:
        for item in stream:
            yield item


async def both(one: Awaitable[Told], other: Awaitable[Told]) -> tuple[Told, Told]:
    """At the same time: what waits, waits once."""
    first, second = await asyncio.gather(one, other)
    return first, second
