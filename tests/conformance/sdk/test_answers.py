"""What the vendors' SDKs make of an answer: the same directly and through the broker.

Compared are all objects in order (chunks, events, final messages: every field, ids and times too),
the response headers but for those of the hop, and of an error its class, words, cause, status,
body, code and request id. Nothing is left out: both providers make their ids from the request.
"""

import pytest

from conformance.sdk.matrix import BASIC, CASE, Talk, cases, loops, told_by, ways_told
from conformance.sdk.scenes import ANSWERS, BROKEN, STATUSES, WAITS
from conformance.sdk.stage import AT_ONCE, Stage
from conformance.sdk.told import Told
from stanchion.protocol.launch import Waits
from stanchion.protocol.receipt import ExchangeEnd

TIMEOUT_S = 1.0
"""Of the client. The events before a silence come at once, so that it ends the silence alone."""


@pytest.mark.parametrize(CASE, cases(ANSWERS, keep=None))
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
    assert direct.headers or direct.failure or scene == "no body"


@pytest.mark.parametrize(CASE, cases(["reset"], BASIC))
async def test_a_reset_reaches_the_client_as_a_cut(
    stage: Stage, talk: Talk, scene: str, shape: str, flavour: str
) -> None:
    """The one word in which the ways differ: a local socket has no resets to pass on."""
    direct, brokered = await ways_told(stage, talk, scene, shape, flavour)
    cut = {"ReadError": "RemoteProtocolError"}  # httpx2's; aiohttp has one class for both
    assert _lost(brokered) == cut.get(_lost(direct), _lost(direct))
    brokered.failure = direct.failure
    assert brokered == direct


def _lost(told: Told) -> str:
    """How the connection was lost, in the word of the HTTP client below the SDK."""
    assert told.failure is not None
    return str(told.failure["cause"])


@pytest.mark.parametrize(CASE, cases(STATUSES, BASIC))
async def test_a_refusal(stage: Stage, talk: Talk, scene: str, shape: str, flavour: str) -> None:
    direct, brokered = await ways_told(stage, talk, scene, shape, flavour)
    assert brokered == direct
    assert direct.failure is not None
    assert str(direct.failure.get("status_code") or direct.failure["code"]) == scene


@pytest.mark.parametrize(
    CASE,
    [
        *cases(["429 that passes"], ("streamed",)),
        *cases(["503 that passes"], ("streamed",), keep=0),
    ],
)
async def test_a_failure_that_the_broker_waits_out(
    stage: Stage, talk: Talk, scene: str, shape: str, flavour: str
) -> None:
    direct, brokered, ends = await passing(stage, talk, scene, shape, flavour, Waits())
    assert brokered == direct
    assert direct.failure is None
    assert [end.tries for end in ends] == [2]


@pytest.mark.parametrize(
    CASE,
    [
        *cases(["503 that passes"], ("streamed",)),
        *cases(["429 that passes"], ("streamed",), keep=0),
    ],
)
async def test_a_failure_after_which_the_sdk_asks_again(
    stage: Stage, talk: Talk, scene: str, shape: str, flavour: str
) -> None:
    """Where the broker has no time to hold a request, its client does."""
    direct, brokered, ends = await passing(stage, talk, scene, shape, flavour, AT_ONCE)
    assert brokered == direct
    assert direct.failure is None
    assert [end.tries for end in ends] == [1, 1]


async def passing(
    stage: Stage, talk: Talk, scene: str, shape: str, flavour: str, waits: Waits
) -> tuple[Told, Told, list[ExchangeEnd]]:
    """What both ways tell, and the ends of the requests that the broker got."""
    async with stage.ways(talk.DIALECT, waits) as ways:
        direct, brokered = await told_by(ways, talk, scene, shape, flavour, retries=2)
        records = await stage.broker.records(ways.run.id)
    return direct, brokered, [record for record in records if isinstance(record, ExchangeEnd)]


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
