"""What the broker itself answers is read by each vendor's SDK as that vendor's own errors are."""

from collections.abc import Callable
from typing import Any

import pytest

from conformance.sdk.matrix import BASIC, TALKS, Talk
from conformance.sdk.stage import AT_ONCE, EFFORT, PLACEHOLDER, Stage, Way, brokered
from conformance.sdk.told import FLAVOURS, Told, tell
from fakes.launches import KEY
from fakes.upstream import response, upstream
from functional.broker.live import enrolled
from stanchion.protocol.dialects import Dialect
from stanchion.protocol.launch import Effort
from stanchion.supervisor.relay import Relay

Reading = Callable[[int, str, str], dict[str, object]]


def _openai(status: int, word: str, sentence: str) -> dict[str, object]:
    return {
        "status_code": status,
        "type": "stanchion_error",
        "code": f"stanchion_{word}",
        "param": None,
        "words": f"Error code: {status} - {sentence}",
    }


def _anthropic(status: int, word: str, sentence: str) -> dict[str, object]:
    error = {"type": f"stanchion_{word}", "message": sentence}
    return {
        "status_code": status,
        "type": f"stanchion_{word}",
        "body": {"type": "error", "error": error},
    }


def _gemini(status: int, word: str, sentence: str) -> dict[str, object]:
    return {"code": status, "status": f"STANCHION_{word.upper()}", "message": sentence}


READ: dict[Dialect, Reading] = {
    Dialect.OPENAI_CHAT: _openai,
    Dialect.OPENAI_RESPONSES: _openai,
    Dialect.ANTHROPIC_MESSAGES: _anthropic,
    Dialect.GEMINI: _gemini,
}
"""By which attributes of its exception a caller knows the word."""
every_talk = pytest.mark.parametrize("talk", TALKS, ids=lambda talk: str(talk.DIALECT))


def assert_read(talk: Talk, told: Told, status: int, word: str, sentence: str) -> None:
    expected = READ[talk.DIALECT](status, word, f"stanchion: {sentence}")
    assert told.failure is not None
    assert told.objects == []
    assert {name: told.failure.get(name) for name in expected} == expected


async def asked(talk: Talk, way: Way, shape: str, flavour: str, **changes: Any) -> Told:
    """Any call, with some arguments of it changed."""
    arguments = talk.request("text") | changes
    return await tell(talk.client(way, flavour), talk.CALLS[shape](arguments))


@every_talk
@pytest.mark.parametrize("shape", BASIC)
@pytest.mark.parametrize("flavour", FLAVOURS)
async def test_a_request_that_differs_from_the_terms(
    stage: Stage, talk: Talk, shape: str, flavour: str
) -> None:
    async with stage.ways(talk.DIALECT) as ways:
        told = await asked(talk, ways.brokered, shape, flavour, model="another-model")
    sentence = "the request differs from the declared terms of the attempt."
    assert_read(talk, told, 403, "mismatch", sentence)


@every_talk
@pytest.mark.parametrize("shape", BASIC)
@pytest.mark.parametrize("flavour", FLAVOURS)
async def test_an_answer_that_is_not_passed_on(
    stage: Stage, talk: Talk, shape: str, flavour: str
) -> None:
    elsewhere = response(307, b"", headers=[("location", "http://127.0.0.1:9/")])
    async with (
        upstream(elsewhere) as provider,
        brokered(stage.broker, provider.port, talk.DIALECT, key=KEY, waits=AT_ONCE) as (way, _),
    ):
        told = await asked(talk, way, shape, flavour)
    sentence = "the provider answered with a redirect, which is not followed."
    assert_read(talk, told, 502, "upstream_redirect", sentence)


@every_talk
async def test_a_lease_that_is_none(stage: Stage, talk: Talk) -> None:
    async with enrolled(stage.broker, 9, dialect=talk.DIALECT, effort=Effort(word=EFFORT)) as run:
        relay = Relay(run.directory / "model.sock", lambda: run.lease[:-1])
        await relay.open()
        try:
            way = Way(f"http://127.0.0.1:{relay.port}", PLACEHOLDER)
            told = await asked(talk, way, "whole", "async")
        finally:
            await relay.close()
    assert_read(talk, told, 401, "unauthorized", "no valid lease.")
