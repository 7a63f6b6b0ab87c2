"""Calls of the official Anthropic SDK to messages, plain and beta, sync and async alike."""

from collections.abc import Callable
from typing import Any

from conformance.sdk.scenes import turn_of
from conformance.sdk.stage import EFFORT, Way
from conformance.sdk.told import Call, Told, each, entered, sdk, settled
from fakes.launches import LIMIT, MODEL
from stanchion.protocol.dialects import Dialect

anthropic = sdk("anthropic")

DIALECT = Dialect.ANTHROPIC_MESSAGES
TIMEOUT_S = 30.0
TOOLS = ("bash", "look")
BETAS = ["context-1m-2025-08-07", "interleaved-thinking-2025-05-14"]


def _tool(name: str) -> dict[str, object]:
    return {"name": name, "description": name, "input_schema": {"type": "object"}}


def client(way: Way, flavour: str, *, retries: int = 0, timeout_s: float = TIMEOUT_S) -> Any:
    """A client as a harness makes it."""
    kind = anthropic.Anthropic if flavour == "sync" else anthropic.AsyncAnthropic
    return kind(base_url=way.root, api_key=way.key, max_retries=retries, timeout=timeout_s)


def request(scene: str, nonce: str = "") -> dict[str, Any]:
    """The arguments that get a scene."""
    said: list[dict[str, str]] = []
    for _ in range(turn_of(scene)):
        said += [{"role": "assistant", "content": "Said."}, {"role": "user", "content": "Go on."}]
    return {
        "model": MODEL,
        "max_tokens": LIMIT,
        "output_config": {"effort": EFFORT},
        "thinking": {"type": "adaptive"},
        "tools": [_tool(name) for name in TOOLS],
        "system": "You are an agent: ünïcode ✓ 🦊.",
        "messages": [{"role": "user", "content": f"Do the task. {nonce}"}, *said],
    }


def whole(asked: dict[str, Any]) -> Call:
    """create()."""

    async def call(client: Any, told: Told) -> None:
        raw = await settled(client.messages.with_raw_response.create(**asked))
        told.headed(raw.headers)
        told.saw(await settled(raw.parse()))

    return call


def streamed(asked: dict[str, Any]) -> Call:
    """create(stream=True)."""

    async def call(client: Any, told: Told) -> None:
        stream = await settled(client.messages.create(**asked, stream=True))
        told.headed(stream.response.headers)
        async for event in each(stream):
            told.saw(event)

    return call


def helped(asked: dict[str, Any]) -> Call:
    """stream(), which puts events and a final message together."""

    async def call(client: Any, told: Told) -> None:
        async with entered(client.messages.stream(**asked)) as stream:
            told.headed(stream.response.headers)
            async for event in each(stream):
                told.saw(event)
            told.saw(await settled(stream.get_final_message()))

    return call


def beta(asked: dict[str, Any]) -> Call:
    """beta.messages.create(stream=True), which names its betas in a header."""

    async def call(client: Any, told: Told) -> None:
        stream = await settled(client.beta.messages.create(**asked, stream=True, betas=BETAS))
        told.headed(stream.response.headers)
        async for event in each(stream):
            told.saw(event)

    return call


def loop(asked: dict[str, Any]) -> Call:
    """An agent's loop: each answer goes back as it came, with the results of its tool calls."""

    async def call(client: Any, told: Told) -> None:
        messages = list(asked["messages"])
        while True:
            answer = await settled(client.messages.create(**{**asked, "messages": messages}))
            told.saw(answer)
            used = [block for block in answer.content if block.type == "tool_use"]
            if not used:
                return
            results = [
                {"type": "tool_result", "tool_use_id": block.id, "content": f"ran {block.name} ✓"}
                for block in used
            ]
            messages += [
                {"role": "assistant", "content": answer.content},
                {"role": "user", "content": results},
            ]

    return call


def runner(asked: dict[str, Any]) -> Call:
    """The SDK's own loop, over the beta route, with the history in each request."""
    return _runner({**asked, "thread": False})


def threaded_runner(asked: dict[str, Any]) -> Call:
    """The same as the SDK has it by itself: the provider keeps the history."""
    return _runner(asked)


def _runner(asked: dict[str, Any]) -> Call:
    async def call(client: Any, told: Told) -> None:
        tool = anthropic.beta_tool if isinstance(client, anthropic.Anthropic) else _async_tool
        tools = [tool(_ran(name), name=name, input_schema={"type": "object"}) for name in TOOLS]
        async for message in each(client.beta.messages.tool_runner(**{**asked, "tools": tools})):
            told.saw(message)

    return call


def _ran(name: str) -> Callable[..., str]:
    def run(**_arguments: object) -> str:
        return f"ran {name} ✓"

    return run


def _async_tool(run: Callable[..., str], **options: Any) -> Any:
    async def run_async(**arguments: object) -> str:
        return run(**arguments)

    return anthropic.beta_async_tool(run_async, **options)


CALLS = {"whole": whole, "streamed": streamed, "helped": helped, "beta": beta}
LOOPS = {"loop": loop, "runner": runner}
