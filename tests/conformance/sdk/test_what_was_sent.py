"""What an SDK sends is what its provider gets: the same bytes, every header but those named here.

One provider takes both requests, raw, so that neither the broker's word nor a parser of ours is
needed to compare them.
"""

import hashlib
import json
from typing import Any

import pytest

from conformance.sdk import anthropic_messages, openai_chat
from conformance.sdk.matrix import CASE, TALKS, Talk, cases, loops
from conformance.sdk.stage import PLACEHOLDER, Stage, Way, brokered
from conformance.sdk.told import Call, both, tell
from fakes.launches import KEY
from fakes.upstream import Received, response, upstream
from stanchion.protocol.receipt import ExchangeStart, Record

OF_THE_HOP = frozenset({"connection", "accept-encoding"})
"""Each connection's own: the broker keeps its own open, and asks for nothing compressed."""
CREDENTIALS = frozenset({"authorization", "x-api-key", "x-goog-api-key"})
LARGE = 'ünïcode ✓ 🦊 \u2028 \x7f " \\ </script> ' * 8000


async def sent_by(
    stage: Stage, talk: Talk, call: Call, flavour: str, **options: Any
) -> tuple[Received, Received, tuple[Record, ...]]:
    """The request as it comes directly, as it comes through the broker, and the receipts."""
    async with (
        upstream(response(400, b'{"error":{"message":"enough was seen"}}')) as provider,
        brokered(stage.broker, provider.port, talk.DIALECT, key=KEY) as (way, run),
    ):
        direct = Way(f"http://127.0.0.1:{provider.port}", PLACEHOLDER)
        await both(
            tell(talk.client(direct, flavour, **options), call),
            tell(talk.client(way, flavour, **options), call),
        )
        records = await stage.broker.records(run.id)
    one, other = provider.received
    real = KEY.encode() in other.head
    return (one, other, records) if real else (other, one, records)


def same(direct: Received, through: Received, *, dropped: frozenset[str] = frozenset()) -> None:
    """Nothing came otherwise, but what is named."""
    assert through.request_line == direct.request_line
    assert through.body == direct.body
    own = CREDENTIALS | OF_THE_HOP
    expected = {k: v for k, v in direct.headers.items() if k not in own | dropped}
    assert {k: v for k, v in through.headers.items() if k not in own} == expected
    assert through.headers["accept-encoding"] == "identity"
    assert PLACEHOLDER.encode() in direct.head
    assert PLACEHOLDER.encode() not in through.head + through.body
    assert KEY.encode() not in direct.head + through.body


@pytest.mark.parametrize(CASE, [*cases(["one call"], keep=None), *loops("one call")])
async def test_every_call(stage: Stage, talk: Talk, scene: str, shape: str, flavour: str) -> None:
    call = {**talk.CALLS, **talk.LOOPS}[shape](talk.request(scene))
    direct, through, records = await sent_by(stage, talk, call, flavour)
    same(direct, through)
    (start,) = (record for record in records if isinstance(record, ExchangeStart))
    assert start.asked.body_sha256 == hashlib.sha256(direct.body).hexdigest()
    assert start.asked.body_bytes == len(direct.body)


@pytest.mark.parametrize("talk", TALKS, ids=lambda talk: str(talk.DIALECT))
async def test_a_large_body_with_every_kind_of_letter(stage: Stage, talk: Talk) -> None:
    asked = talk.request("text", nonce=LARGE)
    direct, through, _ = await sent_by(stage, talk, talk.CALLS["streamed"](asked), "async")
    same(direct, through)
    assert len(direct.body) > 300_000


async def test_the_betas_of_anthropic(stage: Stage) -> None:
    talk = anthropic_messages
    direct, through, _ = await sent_by(stage, talk, talk.beta(talk.request("text")), "sync")
    same(direct, through)
    for name in ("anthropic-version", "anthropic-beta"):
        assert through.headers[name] == direct.headers[name]
    assert through.headers["anthropic-beta"] == ",".join(talk.BETAS)


async def test_who_pays_is_not_the_callers_to_say(stage: Stage) -> None:
    """The organisation and project of an OpenAI client choose an account: they stay behind."""
    chat = openai_chat

    async def call(client: Any, told: Any) -> None:
        await client.with_options(organization="org-1", project="proj-1").chat.completions.create(
            **chat.request("text"), extra_headers={"x-of-the-caller": "1"}
        )

    direct, through, _ = await sent_by(stage, chat, call, "async")
    named = frozenset({"openai-organization", "openai-project", "x-of-the-caller"})
    assert named <= direct.headers.keys()
    same(direct, through, dropped=named)


async def test_unknown_fields_go_as_the_sdk_wrote_them(stage: Stage) -> None:
    chat = openai_chat
    extra = {"x_unknown": {"deep": [1.5, True, None, "é"]}, "top_k": 7, "thinking": {"a": 1}}

    async def call(client: Any, told: Any) -> None:
        await client.chat.completions.create(**chat.request("text"), extra_body=extra)

    direct, through, _ = await sent_by(stage, chat, call, "async")
    same(direct, through)
    assert extra.items() <= json.loads(through.body).items()
