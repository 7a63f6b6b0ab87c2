"""Sendings whose fate nobody knows, and retries that are no calls, through a real broker."""

import asyncio
import hashlib

import pytest

from fakes.supervisor import ask
from fakes.upstream import Answer, Received, response, say, stream, upstream
from functional.broker.live import Enrolment, LiveBroker, enrolled
from stanchion.broker.auditing.facts import gather
from stanchion.broker.receipts.bundle import Verified, verify
from stanchion.protocol.control import StopOrder
from stanchion.protocol.evidence import StopReason
from stanchion.protocol.exchange import ErrorClass, ExchangeResult
from stanchion.protocol.launch import Budget, Waits
from stanchion.protocol.receipt import ExchangeEnd, ExchangeStart, ExchangeTry
from stanchion.protocol.usage import Usage
from stanchion.runner.results.wire_picture import picture

BODY = (
    b'{"model":"fx-coder-1","max_tokens":128000,"reasoning_effort":"max","stream":true,'
    b'"messages":[]}'
)
GOOD = stream(
    say('{"model":"fx-coder-1","choices":[{"delta":{"content":"ok"}}]}'),
    say('{"choices":[{"delta":{},"finish_reason":"stop"}]}'),
    say('{"choices":[],"usage":{"prompt_tokens":7,"completion_tokens":30}}', "[DONE]"),
)


async def hangs_up(_: Received, writer: asyncio.StreamWriter) -> None:
    """The whole request was read; no byte comes back."""
    writer.close()


async def hangs_up_in_the_head(_: Received, writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\ncontent-")
    await writer.drain()
    writer.close()


def busy(retry_after: str) -> Answer:
    words = b'{"error":{"message":"slow down","code":"rate_limit_exceeded"}}'
    return response(429, words, headers=[("retry-after", retry_after)])


async def bundle_of(broker: LiveBroker, run: Enrolment) -> Verified:
    async with broker.client() as client:
        found = verify(await client.bundle(run.id))
    assert isinstance(found, Verified), found
    return found


@pytest.mark.parametrize("lost", [hangs_up, hangs_up_in_the_head])
async def test_a_lost_sending_is_ambiguous_and_its_cost_unknown_whatever_follows(
    broker: LiveBroker,
    lost: Answer,
) -> None:
    async with upstream(lost, GOOD) as provider, enrolled(broker, provider.port) as run:
        assert (await ask(run.directory, BODY, lease=run.lease)).status == 200
        captured = [hashlib.sha256(request.body).hexdigest() for request in provider.received]
        async with broker.client() as client:
            view, bundle = await client.run(run.id), await client.bundle(run.id)
        verified = await bundle_of(broker, run)
    (start,) = (r for r in verified.records if isinstance(r, ExchangeStart))
    assert captured == [start.sent.body_sha256] * 2, "each sending is the one on record"
    (tried,) = (r for r in verified.records if isinstance(r, ExchangeTry))
    (end,) = (r for r in verified.records if isinstance(r, ExchangeEnd))
    assert (tried.ambiguous, tried.status) == (True, None)
    assert tried.error_class is ErrorClass.CONNECT
    assert (end.answered.result, end.tries) == (ExchangeResult.COMPLETED, 2)
    assert end.answered.usage is not None
    assert end.answered.usage.output_tokens == 30
    assert view.usage == Usage(), "what the first sending cost is not known"
    assert (view.exchanges, view.calls, view.sendings, view.ambiguous) == (1, 1, 2, 1)
    facts = gather(verified)
    assert (facts.calls, facts.sendings, facts.ambiguous) == (1, 2, 1)
    seen = picture(bundle)
    assert (seen.calls, seen.sendings, seen.ambiguous) == (1, 2, 1)


async def test_where_no_other_sending_follows_the_exchange_is_ambiguous(
    broker: LiveBroker,
) -> None:
    waits = Waits(max_wait_s=0)
    async with upstream(hangs_up) as provider, enrolled(broker, provider.port, waits=waits) as run:
        reply = await ask(run.directory, BODY, lease=run.lease)
        assert reply.status == 502
        (end,) = (r for r in await broker.records(run.id) if isinstance(r, ExchangeEnd))
        async with broker.client() as client:
            view = await client.run(run.id)
            metrics = await client.metrics()
    assert end.answered.result is ExchangeResult.UPSTREAM_UNREACHABLE
    assert end.answered.ambiguous
    assert "nobody knows" in (end.answered.usage_why or "")
    assert (view.sendings, view.ambiguous, view.usage) == (1, 1, Usage())
    assert "stanchion_ambiguous_sendings_total" in metrics


async def test_an_ambiguous_sending_keeps_its_whole_limit_of_the_budget(
    broker: LiveBroker,
) -> None:
    """128,000 reserved for the lost sending leave no room for the second request."""
    budget = Budget(output_tokens=100_000)
    async with (
        upstream(hangs_up, GOOD) as provider,
        enrolled(broker, provider.port, budget=budget) as run,
    ):
        assert (await ask(run.directory, BODY, lease=run.lease)).status == 200
        assert (await ask(run.directory, BODY, lease=run.lease)).status == 403
        stop = (await run.supervisor.hear_of(StopOrder)).stop
    assert stop.reason is StopReason.BUDGET
    assert "128000 of them reserved for 1 answers" in stop.detail


async def test_a_provider_that_cannot_be_reached_is_not_ambiguous(broker: LiveBroker) -> None:
    async with upstream(GOOD) as provider:
        port = provider.port
    async with enrolled(broker, port, waits=Waits(max_wait_s=0)) as run:
        await ask(run.directory, BODY, lease=run.lease)
        async with broker.client() as client:
            view = await client.run(run.id)
    assert (view.sendings, view.ambiguous) == (1, 0)


async def test_what_the_harness_asks_again_after_a_hold_is_the_same_logical_call(
    broker: LiveBroker,
) -> None:
    """13 s less the margin of 10 s: the first request is handed back after 3 s of the 4."""
    waits = Waits(header_wait_s=13, max_wait_s=60)
    other = BODY.replace(b'"messages":[]', b'"messages":[ ]')
    async with (
        upstream(busy("4"), GOOD) as provider,
        enrolled(broker, provider.port, waits=waits) as run,
    ):
        statuses = [
            (await ask(run.directory, body, lease=run.lease)).status for body in (BODY, BODY, other)
        ]
        assert statuses == [429, 200, 200]
        starts = [r for r in await broker.records(run.id) if isinstance(r, ExchangeStart)]
        async with broker.client() as client:
            view = await client.run(run.id)
        facts = gather(await bundle_of(broker, run))
    assert [(r.exchange, r.call) for r in starts] == [(1, 1), (2, 1), (3, 3)]
    assert (view.exchanges, view.calls, view.sendings, view.ambiguous) == (3, 2, 3, 0)
    assert (facts.requests, facts.calls, facts.sendings) == (3, 2, 3)
