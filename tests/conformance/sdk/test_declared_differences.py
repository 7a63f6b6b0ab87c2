"""Where an SDK sees something else through the broker, on purpose: each difference, and its extent.

Raw answers of a provider; everything that a test does not name as different is compared as equal.
"""

import dataclasses
import gzip
import json
from collections.abc import Mapping
from typing import Any

import pytest

from conformance.sdk import anthropic_messages, gemini, openai_chat
from conformance.sdk.matrix import TALKS, Talk
from conformance.sdk.stage import AT_ONCE, PLACEHOLDER, Stage, Way, brokered
from conformance.sdk.told import Told, both, settled, tell
from fakes.launches import KEY, MODEL
from fakes.upstream import Answer, Received, response, upstream
from stanchion.protocol.receipt import Denied

ERROR = json.dumps(
    {
        "type": "error",
        "error": {"type": "rate_limit_error", "code": 429, "message": "Slow down.", "details": []},
    }
).encode()
IDS = {"ids": lambda talk: str(talk.DIALECT)}


async def told(
    stage: Stage, talk: Talk, answer: Answer, shape: str = "whole"
) -> tuple[Told, Told, int]:
    """What is told directly and through the broker, and the requests that the provider got."""
    call = talk.CALLS[shape](talk.request("text"))
    async with (
        upstream(answer) as provider,
        brokered(stage.broker, provider.port, talk.DIALECT, key=KEY, waits=AT_ONCE) as (way, _),
    ):
        direct = Way(f"http://127.0.0.1:{provider.port}", PLACEHOLDER)
        one, other = await both(
            tell(talk.client(direct, "async"), call), tell(talk.client(way, "async"), call)
        )
        return one, other, len(provider.received)


def but_for_headers(told: Told, *names: str) -> Told:
    headers = {name: value for name, value in told.headers.items() if name not in names}
    return dataclasses.replace(told, headers=headers)


@pytest.mark.parametrize(
    ("asked", "sent"),
    [
        ({}, "30"),
        ({"retry-after": "3600"}, "30"),
        ({"retry-after": "Wed, 01 Jan 2525 00:00:00 GMT"}, "30"),
        ({"retry-after-ms": "1500"}, "2"),
        ({"retry-after": "9"}, "9"),
    ],
    ids=["none", "an hour", "a date", "milliseconds", "short"],
)
@pytest.mark.parametrize("talk", TALKS, **IDS)
async def test_a_given_up_429_always_has_a_retry_after_of_at_most_30_s(
    stage: Stage, talk: Talk, asked: Mapping[str, str], sent: str
) -> None:
    answer = response(429, ERROR, headers=list(asked.items()))
    direct, through, _ = await told(stage, talk, answer)
    assert through.headers["retry-after"] == sent
    names = ("retry-after", "retry-after-ms")
    assert but_for_headers(through, *names) == but_for_headers(direct, *names)
    assert direct.failure is not None


@pytest.mark.parametrize("talk", TALKS, **IDS)
async def test_whose_account_it_is_stays_outside(stage: Stage, talk: Talk) -> None:
    named = {
        "set-cookie": "session=1",
        "openai-organization": "org-1",
        "anthropic-organization-id": "org-2",
        "cf-ray": "x",
    }
    direct, through, _ = await told(stage, talk, response(404, ERROR, headers=list(named.items())))
    assert named.keys() <= direct.headers.keys()
    assert through == but_for_headers(direct, *named)


@pytest.mark.parametrize("talk", TALKS, **IDS)
async def test_a_redirect_is_not_followed(stage: Stage, talk: Talk) -> None:
    async def elsewhere(request: Received, writer: Any) -> None:
        port = request.headers["host"].partition(":")[2]
        place = [("location", f"http://127.0.0.1:{port}/elsewhere")]
        answer = response(200, b"{}")
        if "elsewhere" not in request.request_line:
            answer = response(307, b"", headers=place)
        await answer(request, writer)

    direct, through, requests = await told(stage, talk, elsewhere)
    assert direct.failure is None
    assert requests == 3
    assert through.failure is not None
    assert "stanchion: the provider answered with a redirect" in str(through.failure["words"])


@pytest.mark.parametrize("shape", ["whole", "streamed"])
@pytest.mark.parametrize("talk", TALKS, **IDS)
async def test_a_compressed_answer_comes_plain(stage: Stage, talk: Talk, shape: str) -> None:
    """No difference that an SDK shows: it asks for compression, the broker for none."""
    message = json.dumps({"id": "1", "model": MODEL, "choices": [], "content": []}).encode()
    named = b"" if talk is gemini else b"event: message_stop\n"
    stream = named + b"data: " + message + b"\n\n"
    body, kind = (message, "application/json")
    if shape == "streamed":
        body, kind = stream, "text/event-stream"

    async def compressing(request: Received, writer: Any) -> None:
        if "gzip" in request.headers["accept-encoding"]:
            headers = [("content-encoding", "gzip")]
            answer = response(200, gzip.compress(body), content_type=kind, headers=headers)
        else:
            answer = response(200, body, content_type=kind)
        await answer(request, writer)

    direct, through, _ = await told(stage, talk, compressing, shape)
    assert direct.headers["content-encoding"] == "gzip", direct
    assert but_for_headers(through) == but_for_headers(direct, "content-encoding")
    assert direct.objects


@pytest.mark.parametrize("talk", TALKS, **IDS)
async def test_the_real_key_in_an_error_comes_masked(stage: Stage, talk: Talk) -> None:
    async def echoing(request: Received, writer: Any) -> None:
        words = next(
            request.headers[name].removeprefix("Bearer ")
            for name in ("authorization", "x-api-key", "x-goog-api-key")
            if name in request.headers
        )
        await response(401, ERROR.replace(b"Slow down.", words.encode()))(request, writer)

    direct, through, _ = await told(stage, talk, echoing)
    assert direct.failure is not None
    assert through.failure is not None
    assert PLACEHOLDER in str(direct.failure)
    assert KEY not in str(through)
    assert "*" * len(KEY) in str(through.failure)


async def test_a_history_kept_at_the_provider_is_refused(stage: Stage) -> None:
    """Anthropic's runner asks for one unless it is told not to, and nobody would see it here."""
    talk = anthropic_messages
    call = talk.threaded_runner(talk.request("one call"))
    async with stage.ways(talk.DIALECT) as ways:
        refused = await tell(talk.client(ways.brokered, "async"), call)
        denied = await stage.record(ways.run.id, Denied)
    assert refused.failure is not None
    assert refused.failure["class"] == "anthropic.PermissionDeniedError"
    assert denied.why == "field_denied: conversation (thread)"


async def test_models_and_token_counts_are_answered_by_the_broker(stage: Stage) -> None:
    async def list_models(client: Any, told: Told) -> None:
        page = await settled(client.models.list())
        told.objects += [model.id for model in page.data]

    async def count(client: Any, told: Told) -> None:
        messages = [{"role": "user", "content": "x"}]
        await settled(client.messages.count_tokens(model=MODEL, messages=messages))

    for talk in (openai_chat, anthropic_messages):
        async with stage.ways(talk.DIALECT) as ways:
            listed = await tell(talk.client(ways.brokered, "async"), list_models)
            assert (listed.objects, listed.failure) == ([MODEL], None)
    async with stage.ways(anthropic_messages.DIALECT) as ways:
        counted = await tell(anthropic_messages.client(ways.brokered, "sync"), count)
    assert counted.failure is not None
    assert counted.failure["class"] == "anthropic.NotFoundError"
    assert "tokens are not counted here" in str(counted.failure["words"])
