"""Which scenes are played in which kind of call, and the comparison of the two ways."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Protocol

import pytest

from conformance.sdk import anthropic_messages, openai_chat, openai_responses
from conformance.sdk.stage import AT_ONCE, Stage, Way, Ways
from conformance.sdk.told import FLAVOURS, Call, Told, both, tell
from stanchion.protocol.dialects import Dialect
from stanchion.protocol.launch import Waits

Parameters = Any
"""Of pytest, whose type for them is private."""


class Talk(Protocol):
    """How an SDK is asked in one dialect."""

    DIALECT: Dialect
    CALLS: Mapping[str, Callable[[dict[str, Any]], Call]]
    """By the kind of call; `whole` and `streamed` are among them."""
    LOOPS: Mapping[str, Callable[[dict[str, Any]], Call]]
    """Calls that ask again with the results of tools."""

    def client(
        self, way: Way, flavour: str, *, retries: int = 0, timeout_s: float = 30.0
    ) -> Any: ...

    def request(self, scene: str, nonce: str = "") -> dict[str, Any]: ...


TALKS: tuple[Talk, ...] = (openai_chat, openai_responses, anthropic_messages)
BASIC = ("whole", "streamed")


def cases(scenes: Iterable[str], shapes: tuple[str, ...] = ()) -> list[Parameters]:
    """Each scene in each kind of call of each dialect; all kinds but loops, if none is named."""
    return _halved(
        (talk, scene, shape)
        for talk in TALKS
        for scene in scenes
        for shape in (shapes or talk.CALLS)
    )


def loops(scene: str) -> list[Parameters]:
    """Each loop of each dialect, from this scene on."""
    return _halved((talk, scene, shape) for talk in TALKS for shape in talk.LOOPS)


def _halved(triples: Iterable[tuple[Talk, str, str]]) -> list[Parameters]:
    """Sync and async, one of them in turn by default and the other with `make acceptance`."""
    return [
        pytest.param(
            talk,
            scene,
            shape,
            flavour,
            marks=[] if (number + turn) % 2 == 0 else [pytest.mark.acceptance],
            id=f"{talk.DIALECT}-{scene}-{shape}-{flavour}",
        )
        for number, (talk, scene, shape) in enumerate(triples)
        for turn, flavour in enumerate(FLAVOURS)
    ]


async def ways_told(
    stage: Stage,
    talk: Talk,
    scene: str,
    shape: str,
    flavour: str,
    *,
    waits: Waits = AT_ONCE,
    **options: Any,
) -> tuple[Told, Told]:
    """What the SDK tells of the scene, directly and through the broker."""
    async with stage.ways(talk.DIALECT, waits) as ways:
        return await told_by(ways, talk, scene, shape, flavour, **options)


async def told_by(
    ways: Ways, talk: Talk, scene: str, shape: str, flavour: str, **options: Any
) -> tuple[Told, Told]:
    """The same by ways that are there."""
    asked = talk.request(scene, nonce=f"{flavour} {ways.number}")
    call = {**talk.CALLS, **talk.LOOPS}[shape](asked)
    return await both(
        tell(talk.client(ways.direct, flavour, **options), call),
        tell(talk.client(ways.brokered, flavour, **options), call),
    )
