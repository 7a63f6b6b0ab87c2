"""What the vendors' SDKs make of an answer: the same directly and through the broker.

Compared are all objects in order (chunks, events, final messages: every field, ids and times too),
the response headers but for those of the hop, and of an error its class, words, cause, status,
body, code and request id. Nothing is left out: both providers make their ids from the request.
"""

import dataclasses

import pytest

from conformance.sdk.matrix import BASIC, Talk, cases, loops, told_by, ways_told
from conformance.sdk.scenes import ANSWERS, BROKEN, PASSING, STATUSES, WAITS
from conformance.sdk.stage import AT_ONCE, Stage
from conformance.sdk.told import Told
from stanchion.protocol.launch import Waits
from stanchion.protocol.receipt import ExchangeEnd

CASE = ("talk", "scene", "shape", "flavour")
TIMEOUT_S = 1.0
"""Of the client. The events before a silence come at once, so that it ends the silence alone."""


@pytest.mark.parametrize(CASE, cases(ANSWERS))
async def test_a_complete_answer(
    stage: Stage, talk: Talk, scene: str, shape: str, flavour: str
) -> None:
    direct, brokered = await ways_told(stage, talk, scene, shape, flavour)
    assert brokered == direct
    assert direct.objects


@pytest.mark.parametrize(CASE, cases(BROKEN, BASIC))
async def test_a_200_that_goes_wrong(
    stage: Stage, talk: Talk, scene: str, shape: str, flavour: str
) -> None:
    direct, brokered = await ways_told(stage, talk, scene, shape, flavour)
    assert brokered == direct


@pytest.mark.parametrize(CASE, cases(["reset"], BASIC))
async def test_a_reset_reaches_the_client_as_a_cut(
    stage: Stage, talk: Talk, scene: str, shape: str, flavour: str
) -> None:
    """The one word in which the ways differ: a local socket has no resets to pass on."""
    direct, brokered = await ways_told(stage, talk, scene, shape, flavour)
    assert _lost(direct) == "ReadError"
    assert _lost(brokered) == "RemoteProtocolError"
    assert dataclasses.replace(brokered, failure=None) == dataclasses.replace(direct, failure=None)


def _lost(told: Told) -> object:
    """How the connection was lost, in the word of the HTTP client below the SDK."""
    assert told.failure is not None
    return told.failure["cause"]


@pytest.mark.parametrize(CASE, cases(STATUSES, BASIC))
async def test_a_refusal(stage: Stage, talk: Talk, scene: str, shape: str, flavour: str) -> None:
    direct, brokered = await ways_told(stage, talk, scene, shape, flavour)
    assert brokered == direct
    assert direct.failure is not None
    assert str(direct.failure.get("status_code") or direct.failure["code"]) == scene


@pytest.mark.parametrize(("waits", "asks"), [(Waits(), 1), (AT_ONCE, 2)], ids=["held", "again"])
@pytest.mark.parametrize(CASE, cases(PASSING, ("streamed",)))
async def test_a_failure_that_passes(
    stage: Stage, talk: Talk, scene: str, shape: str, flavour: str, waits: Waits, asks: int
) -> None:
    """Asked again by the broker, or by the SDK itself where the broker has no time to hold it."""
    async with stage.ways(talk.DIALECT, waits) as ways:
        direct, brokered = await told_by(ways, talk, scene, shape, flavour, retries=2)
        records = await stage.broker.records(ways.run.id)
    assert brokered == direct
    assert direct.failure is None
    ends = [record for record in records if isinstance(record, ExchangeEnd)]
    assert (len(ends), sum(end.tries for end in ends)) == (asks, 2)


@pytest.mark.parametrize(CASE, loops("one call"))
async def test_an_agents_loop(
    stage: Stage, talk: Talk, scene: str, shape: str, flavour: str
) -> None:
    """Two rounds with tools and a last answer; what came in goes out again unchanged."""
    direct, brokered = await ways_told(stage, talk, scene, shape, flavour)
    assert brokered == direct
    assert (len(direct.objects), direct.failure) == (3, None), direct.objects


@pytest.mark.parametrize(CASE, cases(WAITS, BASIC))
async def test_the_clients_own_timeout(
    stage: Stage, talk: Talk, scene: str, shape: str, flavour: str
) -> None:
    direct, brokered = await ways_told(stage, talk, scene, shape, flavour, timeout_s=TIMEOUT_S)
    assert brokered == direct
    assert direct.failure is not None
    assert bool(direct.objects) is (scene == "silence midway" and shape == "streamed")
