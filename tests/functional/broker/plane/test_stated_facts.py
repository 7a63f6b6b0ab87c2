"""What a receipt says of each null, over the ways in which an exchange ends in a real broker."""

import asyncio

import pytest

from fakes.supervisor import ask
from fakes.upstream import (
    STREAM_HEAD,
    Answer,
    Received,
    chunk,
    response,
    say,
    sends,
    stream,
    upstream,
)
from functional.broker.live import Enrolment, LiveBroker, enrolled
from stanchion.protocol.exchange import FactStatus
from stanchion.protocol.launch import Waits
from stanchion.protocol.receipt import ExchangeEnd, ExchangeStart

OBSERVED, MALFORMED = FactStatus.OBSERVED, FactStatus.MALFORMED
UNSEEN, UNSAID = FactStatus.NOT_OBSERVED, FactStatus.NOT_REPORTED
NONE_SUCH = FactStatus.NOT_APPLICABLE
BODY = (
    b'{"model":"fx-coder-1","max_tokens":128000,"reasoning_effort":"max","stream":true,'
    b'"messages":[]}'
)
TEXT = say('{"model":"fx-coder-1","choices":[{"delta":{"content":"ok"}}]}')
STOP = say('{"choices":[{"delta":{},"finish_reason":"stop"}]}')


def usage(figures: str) -> bytes:
    return say(f'{{"choices":[],"usage":{figures}}}', "[DONE]")


async def hang_up(_: Received, writer: asyncio.StreamWriter) -> None:
    writer.close()


GOOD = stream(TEXT, STOP, usage('{"prompt_tokens":7,"completion_tokens":30}'))
ODD = stream(TEXT, STOP, usage('{"prompt_tokens":"7","completion_tokens":-30}'))
CUT = sends(STREAM_HEAD, chunk(TEXT))
REFUSED = response(400, b'{"error":{"message":"no","type":"invalid_request_error"}}')
REDIRECT = response(307, b"")

CASES: dict[str, tuple[Answer, dict[str, FactStatus]]] = {
    "completed": (
        GOOD,
        {
            "usage.output_tokens": OBSERVED,
            "usage.reasoning_tokens": UNSAID,
            "reasoning_present": OBSERVED,
            "provider_request_id": OBSERVED,
            "error_class": NONE_SUCH,
            "tls_server_name": NONE_SUCH,
        },
    ),
    "figures that cannot be": (
        ODD,
        {
            "usage": OBSERVED,
            "usage.input_tokens": MALFORMED,
            "usage.output_tokens": MALFORMED,
            "usage.cache_read_tokens": UNSAID,
        },
    ),
    "cut": (
        CUT,
        {"usage.output_tokens": UNSEEN, "finish": UNSEEN, "text_present": OBSERVED},
    ),
    "an error": (
        REFUSED,
        {"usage.output_tokens": NONE_SUCH, "error_words": OBSERVED, "provider_request_id": UNSAID},
    ),
    "refused unread": (REDIRECT, {"usage": NONE_SUCH, "body_sha256": UNSEEN, "status": OBSERVED}),
    "lost": (hang_up, {"usage.output_tokens": UNSEEN, "status": UNSEEN, "first_byte_ms": UNSEEN}),
}


async def records(broker: LiveBroker, run: Enrolment) -> tuple[ExchangeStart, ExchangeEnd]:
    found = await broker.records(run.id)
    (start,) = (record for record in found if isinstance(record, ExchangeStart))
    (end,) = (record for record in found if isinstance(record, ExchangeEnd))
    return start, end


@pytest.mark.parametrize("case", CASES)
async def test_a_null_says_why(broker: LiveBroker, case: str) -> None:
    answer, expected = CASES[case]
    waits = Waits(max_wait_s=0)
    async with upstream(answer) as provider, enrolled(broker, provider.port, waits=waits) as run:
        await ask(run.directory, BODY, lease=run.lease)
        start, end = await records(broker, run)
    facts = end.answered.facts
    assert {name: facts[name] for name in expected} == expected
    assert start.sent.facts == {
        "model": OBSERVED,
        "output_limit": OBSERVED,
        "effort": OBSERVED,
        "stream": OBSERVED,
        "thinking": NONE_SUCH,
        "thinking_budget": NONE_SUCH,
    }


async def test_a_figure_that_cannot_be_is_kept_as_it_was_said(broker: LiveBroker) -> None:
    async with upstream(ODD) as provider, enrolled(broker, provider.port) as run:
        await ask(run.directory, BODY, lease=run.lease)
        _, end = await records(broker, run)
        async with broker.client() as client:
            view = await client.run(run.id)
    assert end.answered.malformed == {
        "usage.input_tokens": "'7'",
        "usage.output_tokens": "-30",
    }
    assert (view.usage.input_tokens, view.usage.output_tokens) == (None, None)
    assert (view.input_includes_cache, view.output_includes_reasoning) == (True, True)


async def test_nothing_applies_to_what_was_never_sent(broker: LiveBroker) -> None:
    """The account cools down for an hour; the second request would wait in vain."""
    words = b'{"error":{"message":"slow down","code":"rate_limit_exceeded"}}'
    busy = response(429, words, headers=[("retry-after", "3600")])
    other = BODY.replace(b'"messages":[]', b'"messages":[ ]')
    waits = Waits(max_wait_s=1)
    async with (
        upstream(busy) as provider,
        enrolled(broker, provider.port, waits=waits) as run,
        enrolled(broker, provider.port, waits=waits) as late,
    ):
        await ask(run.directory, BODY, lease=run.lease)
        await ask(late.directory, other, lease=late.lease)
        _, end = await records(broker, late)
        assert len(provider.received) == 1
    assert (end.tries, end.answered.duration_ms) == (0, None)
    assert {end.answered.facts[name] for name in ("usage", "status", "duration_ms")} == {NONE_SUCH}


async def test_two_limits_that_disagree_are_no_limit(broker: LiveBroker) -> None:
    """Which of them the provider would obey, nobody knows: it is refused as a difference."""
    both = BODY.replace(b'"max_tokens":128000', b'"max_tokens":10,"max_completion_tokens":128000')
    async with upstream(GOOD) as provider, enrolled(broker, provider.port) as run:
        assert (await ask(run.directory, both, lease=run.lease)).status == 403
        assert provider.received == []
