"""Calls of the official OpenAI SDK to chat completions, sync and async alike."""

from typing import Any

from conformance.sdk.scenes import turn_of
from conformance.sdk.stage import EFFORT, Way
from conformance.sdk.told import Call, Told, each, entered, sdk, settled
from fakes.launches import LIMIT, MODEL
from stanchion.protocol.dialects import Dialect

openai = sdk("openai")

DIALECT = Dialect.OPENAI_CHAT
TIMEOUT_S = 30.0
TOOLS = ("bash", "look")


def _tool(name: str) -> dict[str, object]:
    parameters = {"type": "object", "properties": {}, "additionalProperties": True}
    return {"type": "function", "function": {"name": name, "parameters": parameters}}


def client(way: Way, flavour: str, *, retries: int = 0, timeout_s: float = TIMEOUT_S) -> Any:
    """A client as a harness makes it."""
    kind = openai.OpenAI if flavour == "sync" else openai.AsyncOpenAI
    return kind(base_url=f"{way.root}/v1", api_key=way.key, max_retries=retries, timeout=timeout_s)


def request(scene: str, nonce: str = "") -> dict[str, Any]:
    """The arguments that get a scene."""
    said: list[dict[str, str]] = []
    for _ in range(turn_of(scene)):
        said += [{"role": "assistant", "content": "Said."}, {"role": "user", "content": "Go on."}]
    return {
        "model": MODEL,
        "max_completion_tokens": LIMIT,
        "reasoning_effort": EFFORT,
        "tools": [_tool(name) for name in TOOLS],
        "messages": [
            {"role": "system", "content": "You are an agent: ünïcode ✓ 🦊."},
            {"role": "user", "content": f"Do the task. {nonce}"},
            *said,
        ],
    }


def whole(asked: dict[str, Any]) -> Call:
    """create()."""

    async def call(client: Any, told: Told) -> None:
        raw = await settled(client.chat.completions.with_raw_response.create(**asked))
        told.headed(raw.headers)
        told.saw(await settled(raw.parse()))

    return call


def streamed(asked: dict[str, Any]) -> Call:
    """create(stream=True)."""

    async def call(client: Any, told: Told) -> None:
        options = {"include_usage": True}
        stream = await settled(
            client.chat.completions.create(**asked, stream=True, stream_options=options)
        )
        told.headed(stream.response.headers)
        async for chunk in each(stream):
            told.saw(chunk)

    return call


def helped(asked: dict[str, Any]) -> Call:
    """stream(), which puts events and a final object together."""

    async def call(client: Any, told: Told) -> None:
        options = {"include_usage": True}
        async with entered(
            client.chat.completions.stream(**asked, stream_options=options)
        ) as stream:
            async for event in each(stream):
                told.saw(event)
            told.saw(await settled(stream.get_final_completion()))

    return call


def loop(asked: dict[str, Any]) -> Call:
    """An agent's loop: each answer goes back as it came, with the results of its tool calls."""

    async def call(client: Any, told: Told) -> None:
        messages = list(asked["messages"])
        while True:
            answer = await settled(
                client.chat.completions.create(**{**asked, "messages": messages})
            )
            told.saw(answer)
            message = answer.choices[0].message
            if not message.tool_calls:
                return
            messages.append(message)
            messages += [
                {"role": "tool", "tool_call_id": one.id, "content": f"ran {one.function.name} ✓"}
                for one in message.tool_calls
            ]

    return call


CALLS = {"whole": whole, "streamed": streamed, "helped": helped}
LOOPS = {"loop": loop}
