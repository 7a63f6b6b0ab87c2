"""Calls of the official OpenAI SDK to responses, sync and async alike."""

from typing import Any

from conformance.sdk.openai_chat import TOOLS, client
from conformance.sdk.scenes import turn_of
from conformance.sdk.stage import EFFORT
from conformance.sdk.told import Call, Told, each, entered, settled
from fakes.launches import LIMIT, MODEL
from stanchion.protocol.dialects import Dialect

__all__ = ["CALLS", "DIALECT", "LOOPS", "client", "request"]

DIALECT = Dialect.OPENAI_RESPONSES


def _tool(name: str) -> dict[str, object]:
    parameters = {"type": "object", "properties": {}, "additionalProperties": True}
    return {"type": "function", "name": name, "parameters": parameters, "strict": False}


def request(scene: str, nonce: str = "") -> dict[str, Any]:
    """The arguments that get a scene."""
    said: list[dict[str, str]] = []
    for _ in range(turn_of(scene)):
        said += [{"role": "assistant", "content": "Said."}, {"role": "user", "content": "Go on."}]
    return {
        "model": MODEL,
        "max_output_tokens": LIMIT,
        "reasoning": {"effort": EFFORT, "summary": "auto"},
        "include": ["reasoning.encrypted_content"],
        "store": False,
        "tools": [_tool(name) for name in TOOLS],
        "instructions": "You are an agent: ünïcode ✓ 🦊.",
        "input": [{"role": "user", "content": f"Do the task. {nonce}"}, *said],
    }


def whole(asked: dict[str, Any]) -> Call:
    """create()."""

    async def call(client: Any, told: Told) -> None:
        raw = await settled(client.responses.with_raw_response.create(**asked))
        told.headed(raw.headers)
        told.saw(await settled(raw.parse()))

    return call


def streamed(asked: dict[str, Any]) -> Call:
    """create(stream=True)."""

    async def call(client: Any, told: Told) -> None:
        stream = await settled(client.responses.create(**asked, stream=True))
        told.headed(stream.response.headers)
        async for event in each(stream):
            told.saw(event)

    return call


def helped(asked: dict[str, Any]) -> Call:
    """stream(), which puts events and a final response together."""

    async def call(client: Any, told: Told) -> None:
        async with entered(client.responses.stream(**asked)) as stream:
            async for event in each(stream):
                told.saw(event)
            told.saw(await settled(stream.get_final_response()))

    return call


def loop(asked: dict[str, Any]) -> Call:
    """An agent's loop: each answer's items go back as they came, with the results of its calls."""

    async def call(client: Any, told: Told) -> None:
        items = list(asked["input"])
        while True:
            answer = await settled(client.responses.create(**{**asked, "input": items}))
            told.saw(answer)
            calls = [item for item in answer.output if item.type == "function_call"]
            if not calls:
                return
            items += answer.output
            items += [
                {
                    "type": "function_call_output",
                    "call_id": one.call_id,
                    "output": f"ran {one.name} ✓",
                }
                for one in calls
            ]

    return call


CALLS = {"whole": whole, "streamed": streamed, "helped": helped}
LOOPS = {"loop": loop}
