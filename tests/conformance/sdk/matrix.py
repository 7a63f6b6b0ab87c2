"""Which scenes are played in which kind of call, and the comparison of the two ways."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Protocol

import pytest

from conformance.sdk import anthropic_messages, gemini, openai_chat, openai_responses
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


TALKS: tuple[Talk, ...] = (openai_chat, openai_responses, anthropic_messages, gemini)
BASIC = ("whole", "streamed")
CASE = ("talk", "scene", "shape", "flavour")
"""The names of what a case holds."""


def cases(
    scenes: Iterable[str], shapes: tuple[str, ...] = (), *, keep: int | None = 1
) -> list[Parameters]:
    """Each scene in each kind of call (all but loops, if none is named), sync and async.

    Of these forms of a scene in a dialect `keep` run by default, another one from scene to scene;
    None = each kind of call once. The others are for `make acceptance`.
    """
    return [
        case
        for talk in TALKS
        for number, scene in enumerate(scenes)
        for case in _thinned(talk, scene, shapes or tuple(talk.CALLS), number, keep)
    ]


def loops(scene: str) -> list[Parameters]:
    """Each loop of each dialect, from this scene on."""
    return [
        case
        for number, talk in enumerate(TALKS)
        for case in _thinned(talk, scene, tuple(talk.LOOPS), number, None)
    ]


def _thinned(
    talk: Talk, scene: str, shapes: tuple[str, ...], number: int, keep: int | None
) -> list[Parameters]:
    forms = [(shape, flavour) for shape in shapes for flavour in FLAVOURS]
    kept = len(shapes) if keep is None else keep
    step = len(forms) // max(1, kept)
    chosen = {(number + turn * step) % len(forms) for turn in range(kept)}
    return [
        pytest.param(
            talk,
            scene,
            shape,
            flavour,
            marks=[] if place in chosen else [pytest.mark.acceptance],
            id=f"{talk.DIALECT}-{scene}-{shape}-{flavour}",
        )
        for place, (shape, flavour) in enumerate(forms)
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
