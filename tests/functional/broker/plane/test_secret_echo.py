"""A provider that echoes its key: masked in the same length before it leaves, and on record."""

import hashlib
import itertools
import json

import pytest

from fakes.launches import KEY, LIMIT, MODEL
from fakes.supervisor import ask
from fakes.upstream import STREAM_HEAD, Answer, chunk, response, say, sends, stream, upstream
from functional.broker.live import LiveBroker, enrolled
from stanchion.protocol.exchange import ExchangeResult
from stanchion.protocol.outcome import Flag
from stanchion.protocol.receipt import ExchangeEnd

BODY = json.dumps({"model": MODEL, "max_tokens": LIMIT, "reasoning_effort": "max"}).encode()
STARS = "*" * len(KEY)
ECHOED = say(json.dumps({"model": KEY, "choices": [{"delta": {"content": f"it is {KEY}, {KEY}"}}]}))
END = say('{"choices":[{"delta":{},"finish_reason":"stop"}]}', "[DONE]")
WHOLE = json.dumps(
    {"choices": [{"message": {"content": f"it is {KEY}"}, "finish_reason": "stop"}]}
).encode()
ERROR = json.dumps({"error": {"message": f"bad key {KEY}", "code": "invalid_request"}}).encode()
PLACE = ECHOED.index(KEY.encode())


def cut_stream(*places: int) -> Answer:
    borders = [0, *places, len(ECHOED)]
    pieces = [ECHOED[a:b] for a, b in itertools.pairwise(borders)]
    return stream(*pieces, END)


@pytest.mark.parametrize(
    ("answer", "sent"),
    [
        (cut_stream(), ECHOED + END),
        (cut_stream(PLACE + 1, PLACE + len(KEY) - 1), ECHOED + END),
        (cut_stream(*range(PLACE, PLACE + len(KEY))), ECHOED + END),
        (response(200, WHOLE), WHOLE),
        (response(400, ERROR), ERROR),
    ],
    ids=["stream", "cut stream", "stream of bytes", "whole body", "error body"],
)
async def test_it_is_masked_in_every_kind_of_body(
    broker: LiveBroker, answer: Answer, sent: bytes
) -> None:
    async with upstream(answer) as provider, enrolled(broker, provider.port) as run:
        reply = await ask(run.directory, BODY, lease=run.lease)
        records = await broker.records(run.id)
        await run.supervisor.close()
        view = await broker.close(run.id)
    assert reply.whole
    assert reply.body == sent.replace(KEY.encode(), STARS.encode())
    end = next(r for r in records if isinstance(r, ExchangeEnd))
    assert end.secret_scrubbed
    assert end.answered.body_sha256 == hashlib.sha256(sent).hexdigest()
    assert end.answered.sent_sha256 == hashlib.sha256(reply.body).hexdigest()
    assert end.answered.body_bytes == len(sent)
    assert KEY not in str(records)
    assert view.outcome is not None
    assert Flag.SECRET_SCRUBBED in view.outcome.flags
    assert KEY not in str(view)


async def test_a_header_loses_it_and_the_body_keeps_one_digest(broker: LiveBroker) -> None:
    body = WHOLE.replace(KEY.encode(), b"nothing")
    answer = response(200, body, headers=[("x-request-id", f"r-{KEY}"), ("openai-version", KEY)])
    async with upstream(answer) as provider, enrolled(broker, provider.port) as run:
        reply = await ask(run.directory, BODY, lease=run.lease)
        records = await broker.records(run.id)
    end = next(r for r in records if isinstance(r, ExchangeEnd))
    assert (reply.headers["openai-version"], reply.body) == (STARS, body)
    assert end.answered.provider_request_id == f"r-{STARS}"
    assert (end.secret_scrubbed, end.answered.sent_sha256) == (True, None)
    assert KEY not in str(records)


async def test_what_only_begins_like_it_passes(broker: LiveBroker) -> None:
    almost = say(json.dumps({"choices": [{"delta": {"content": KEY[:-1]}}]}))
    pieces = (
        almost[: almost.index(KEY[:5].encode()) + 5],
        almost[almost.index(KEY[:5].encode()) + 5 :],
    )
    async with upstream(stream(*pieces, END)) as provider, enrolled(broker, provider.port) as run:
        reply = await ask(run.directory, BODY, lease=run.lease)
        records = await broker.records(run.id)
    end = next(r for r in records if isinstance(r, ExchangeEnd))
    assert reply.body == almost + END
    assert (end.secret_scrubbed, end.answered.sent_sha256) == (False, None)
    assert end.answered.result is ExchangeResult.COMPLETED


async def test_a_stream_cut_within_it_shows_nothing_of_it(broker: LiveBroker) -> None:
    cut = ECHOED[: PLACE + len(KEY) - 1]
    answer = sends(STREAM_HEAD, chunk(cut))
    async with upstream(answer) as provider, enrolled(broker, provider.port) as run:
        reply = await ask(run.directory, BODY, lease=run.lease)
    assert (reply.whole, reply.body) == (False, cut[:PLACE] + STARS[:-1].encode())
