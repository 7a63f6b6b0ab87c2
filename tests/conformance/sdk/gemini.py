"""Calls of the official google-genai SDK to Gemini, sync and async alike.

A base URL of its own goes in as `http_options.base_url`, without a version: the SDK puts its own
before the path (v1 since google-genai 3). The async client is built on aiohttp where that is there.
"""

import contextlib
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

from conformance.sdk.scenes import turn_of
from conformance.sdk.stage import EFFORT, Way
from conformance.sdk.told import Call, Told, each, sdk, settled
from fakes.launches import LIMIT, MODEL
from stanchion.protocol.dialects import Dialect

genai = sdk("google.genai")
types = sdk("google.genai.types")

DIALECT = Dialect.GEMINI
TIMEOUT_S = 30.0
TOOLS = ("bash", "look")


def client(way: Way, flavour: str, *, retries: int = 0, timeout_s: float = TIMEOUT_S) -> Any:
    """A client as a harness makes it, closed at the end of its block."""
    made = genai.Client(
        api_key=way.key,
        http_options=types.HttpOptions(
            base_url=way.root,
            timeout=round(timeout_s * 1000),
            retry_options=types.HttpRetryOptions(attempts=1 + retries),
        ),
    )
    return _sync(made) if flavour == "sync" else _async(made)


@contextlib.contextmanager
def _sync(made: Any) -> Iterator[Any]:
    try:
        yield made
    finally:
        made.close()


@contextlib.asynccontextmanager
async def _async(made: Any) -> AsyncIterator[Any]:
    try:
        yield made.aio
    finally:
        await made.aio.aclose()
        made.close()


def _tool(name: str) -> dict[str, object]:
    return {"name": name, "description": name, "parameters_json_schema": {"type": "object"}}


def _turn(role: str, text: str) -> dict[str, object]:
    return {"role": role, "parts": [{"text": text}]}


def request(scene: str, nonce: str = "") -> dict[str, Any]:
    """The arguments that get a scene."""
    said = [_turn("model", "Said."), _turn("user", "Go on.")] * turn_of(scene)
    return {
        "model": MODEL,
        "contents": [_turn("user", f"Do the task. {nonce}"), *said],
        "config": {
            "max_output_tokens": LIMIT,
            "thinking_config": {"thinking_level": EFFORT, "include_thoughts": True},
            "system_instruction": "You are an agent: ünïcode ✓ 🦊.",
            "tools": [{"function_declarations": [_tool(name) for name in TOOLS]}],
        },
    }


def whole(asked: dict[str, Any]) -> Call:
    """generate_content()."""

    async def call(client: Any, told: Told) -> None:
        answer = await settled(client.models.generate_content(**asked))
        told.saw(answer)

    return call


def streamed(asked: dict[str, Any]) -> Call:
    """generate_content_stream()."""

    async def call(client: Any, told: Told) -> None:
        async for part in each(await settled(client.models.generate_content_stream(**asked))):
            told.saw(part)

    return call


def chatting(asked: dict[str, Any]) -> Call:
    """A chat, which keeps the history itself, for one message."""

    async def call(client: Any, told: Told) -> None:
        *history, last = asked["contents"]
        chat = client.chats.create(model=asked["model"], config=asked["config"], history=history)
        sent = chat.send_message_stream(last["parts"][0]["text"])
        async for part in each(await settled(sent)):
            told.saw(part)

    return call


def loop(asked: dict[str, Any]) -> Call:
    """An agent's loop: each answer goes back as it came, with the results of its calls."""

    async def call(client: Any, told: Told) -> None:
        contents = list(asked["contents"])
        while True:
            answer = await settled(
                client.models.generate_content(**{**asked, "contents": contents})
            )
            told.saw(answer)
            calls = answer.function_calls
            if not calls:
                return
            results = [
                {"function_response": {"id": one.id, "name": one.name, "response": {"ran": "✓"}}}
                for one in calls
            ]
            contents += [answer.candidates[0].content, {"role": "user", "parts": results}]

    return call


def automatic(asked: dict[str, Any]) -> Call:
    """The SDK's own loop: it calls Python functions itself; the history has all that came."""

    async def call(client: Any, told: Told) -> None:
        config = {**asked["config"], "tools": [_ran(name) for name in TOOLS]}
        answer = await settled(client.models.generate_content(**{**asked, "config": config}))
        for content in answer.automatic_function_calling_history or ():
            if content.role == "model" and any(part.function_call for part in content.parts):
                told.saw(content)
        told.saw(answer)

    return call


def _ran(name: str) -> Callable[..., dict[str, str]]:
    def run(command: str = "", deep: str = "") -> dict[str, str]:
        return {"ran": f"{name} {command} {deep} ✓"}

    run.__name__ = name
    run.__doc__ = name
    return run


CALLS = {"whole": whole, "streamed": streamed, "chatting": chatting}
LOOPS = {"loop": loop, "automatic": automatic}
