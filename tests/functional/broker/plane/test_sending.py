"""Holds and tries through a real broker: what the provider sees and the harness gets."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from itertools import pairwise

import pytest

from fakes.supervisor import ask
from fakes.upstream import Answer, Received, response, say, stream, upstream
from functional.broker.live import Enrolment, LiveBroker, enrolled
from stanchion.protocol.control import StopOrder, WireEvent
from stanchion.protocol.events import (
    Claimed,
    ExchangeEnded,
    ExchangeHeld,
    HarnessEnded,
    decode_event,
)
from stanchion.protocol.evidence import Claim, StopReason, WaitStatus
from stanchion.protocol.exchange import ErrorClass, ExchangeResult
from stanchion.protocol.launch import Waits
from stanchion.protocol.outcome import EndReason
from stanchion.protocol.receipt import ExchangeEnd, ExchangeStart, ExchangeTry

BODY = (
    b'{"model":"fx-coder-1","max_tokens":128000,"reasoning_effort":"max","stream":true,'
    b'"messages":[]}'
)
OTHER = BODY.replace(b'"messages":[]', b'"messages":[ ]')
GOOD = stream(
    say('{"model":"fx-coder-1","choices":[{"delta":{"content":"ok"}}]}'),
    say('{"choices":[{"delta":{},"finish_reason":"stop"}]}', "[DONE]"),
)
WORDS = b'{"error":{"message":"slow down","code":"rate_limit_exceeded"}}'


def busy(retry_after: str | None = "0.5", *, status: int = 429) -> Answer:
    headers = [] if retry_after is None else [("retry-after", retry_after)]
    return response(status, WORDS, headers=headers)


async def held(run: Enrolment, *, holding: bool) -> ExchangeHeld:
    """The next hold, or its end, as the supervisor hears of it."""
    while True:
        event = (await run.supervisor.hear_of(WireEvent)).event
        if isinstance(event, ExchangeHeld) and event.holding is holding:
            return event


async def end_of(broker: LiveBroker, run: Enrolment) -> ExchangeEnd:
    return next(r for r in await broker.records(run.id) if isinstance(r, ExchangeEnd))


async def holds_of(broker: LiveBroker, run: Enrolment) -> list[ExchangeHeld]:
    """Those of the first exchange, from the merged stream."""
    found: list[ExchangeHeld] = []
    after = None
    async with broker.client() as client:
        while True:
            page = await client.events(run.id, after=after, wait_s=20)
            after = page.cursor
            for event in (decode_event(entry.event) for entry in page.entries):
                if isinstance(event, ExchangeEnded):
                    return found
                if isinstance(event, ExchangeHeld):
                    found.append(event)


async def test_a_burst_of_429_is_held_and_tried_until_it_passes(broker: LiveBroker) -> None:
    async with upstream(busy(), busy(), GOOD) as provider, enrolled(broker, provider.port) as run:
        reply = await ask(run.directory, BODY, lease=run.lease)
        assert (reply.status, reply.whole) == (200, True)
        assert [request.body for request in provider.received] == [BODY] * 3
        records = await broker.records(run.id)
        tries = [r for r in records if isinstance(r, ExchangeTry)]
        (end,) = (r for r in records if isinstance(r, ExchangeEnd))
        assert sum(isinstance(r, ExchangeStart) for r in records) == 1
        assert [(r.number, r.status, r.retry_after_ms) for r in tries] == [
            (1, 429, 500),
            (2, 429, 500),
        ]
        assert {r.error_class for r in tries} == {ErrorClass.RATE_LIMITED}
        assert 0 == tries[0].held_ms < tries[1].held_ms < end.held_ms
        assert (end.tries, end.gave_up) == (3, None)
        holds = await holds_of(broker, run)
        async with broker.client() as client:
            assert (await client.run(run.id)).held_ms == end.held_ms
        assert [event.holding for event in holds] == [True, False, True, False]
        assert "429" in (holds[0].why or "")


async def test_the_supervisor_hears_of_a_hold_and_of_its_end(broker: LiveBroker) -> None:
    async with upstream(busy(), GOOD) as provider, enrolled(broker, provider.port) as run:
        async with asyncio.TaskGroup() as tasks:
            asking = tasks.create_task(ask(run.directory, BODY, lease=run.lease))
            assert (await held(run, holding=True)).exchange == 1
            assert (await held(run, holding=False)).exchange == 1
        assert asking.result().status == 200


@pytest.mark.parametrize("status", [500, 502, 503, 504, 529])
async def test_a_server_that_stumbles_is_asked_again(broker: LiveBroker, status: int) -> None:
    answers = (busy("0", status=status), GOOD)
    async with upstream(*answers) as provider, enrolled(broker, provider.port) as run:
        assert (await ask(run.directory, BODY, lease=run.lease)).status == 200
        assert (await end_of(broker, run)).tries == 2


async def test_a_connection_that_is_cut_before_the_head_is_made_again(broker: LiveBroker) -> None:
    async def hang_up(_: Received, writer: asyncio.StreamWriter) -> None:
        writer.close()

    async with upstream(hang_up, GOOD) as provider, enrolled(broker, provider.port) as run:
        assert (await ask(run.directory, BODY, lease=run.lease)).status == 200
        (tried,) = (r for r in await broker.records(run.id) if isinstance(r, ExchangeTry))
        assert (tried.status, tried.error_class) == (None, ErrorClass.CONNECT)


async def test_nothing_is_sent_twice_once_a_byte_has_gone_back(broker: LiveBroker) -> None:
    cut = stream(say('{"choices":[{"delta":{"content":"o"}}]}'))
    async with upstream(cut, GOOD) as provider, enrolled(broker, provider.port) as run:
        await ask(run.directory, BODY, lease=run.lease)
        assert len(provider.received) == 1
        assert (await end_of(broker, run)).answered.result is ExchangeResult.TRUNCATED


@pytest.mark.parametrize(
    ("asked", "asked_ms", "sent"),
    [("3600", 3_600_000, "30"), (None, None, "30"), ("4", 4_000, "4")],
)
async def test_beyond_the_longest_wait_the_providers_own_answer_goes_back_and_the_attempt_ends(
    broker: LiveBroker, asked: str | None, asked_ms: int | None, sent: str
) -> None:
    waits = Waits(max_wait_s=0)
    async with (
        upstream(busy(asked)) as provider,
        enrolled(broker, provider.port, waits=waits) as run,
    ):
        reply = await ask(run.directory, BODY, lease=run.lease)
        order = await run.supervisor.hear_of(StopOrder)
        assert (reply.status, reply.body, reply.headers["retry-after"]) == (429, WORDS, sent)
        assert order.stop.reason is StopReason.RATE_LIMITED
        assert "max_wait_s is 0" in order.stop.detail
        end = await end_of(broker, run)
        assert (end.tries, end.retry_after_asked_ms) == (1, asked_ms)
        assert end.retry_after_sent_ms == int(sent) * 1000
        assert end.gave_up is not None
        assert end.gave_up.startswith("429 rate_limited")
        assert (await ask(run.directory, BODY, lease=run.lease)).status == 403
        claim = Claim(wait=WaitStatus(exit_code=1), stop=order.stop)
        ended = HarnessEnded(wait=claim.wait, namespace_empty=True)
        await run.supervisor.publish(ended, Claimed(claim=claim))
        await run.supervisor.close()
        view = await broker.close(run.id)
        assert view.outcome is not None
        assert view.outcome.reason is EndReason.RATE_LIMITED
        assert len(provider.received) == 1


async def test_a_hold_ends_before_the_harness_stops_listening_and_goes_on_when_it_asks_again(
    broker: LiveBroker,
) -> None:
    """11 s less the margin of 10 s: each request is handed back after 1 s, and the cool-down does
    not end within this test. How it ends is in the unit test of the same name, by its own clock.
    """
    waits = Waits(header_wait_s=11, max_wait_s=7200)
    async with (
        upstream(busy("3600"), GOOD) as provider,
        enrolled(broker, provider.port, waits=waits) as run,
    ):
        asked = [time.monotonic()]
        first = await ask(run.directory, BODY, lease=run.lease)
        assert (first.status, first.body, first.headers["retry-after"]) == (429, WORDS, "30")
        asked.append(time.monotonic())
        second = await ask(run.directory, BODY, lease=run.lease)
        assert (second.status, second.headers["retry-after"]) == (503, "30")
        asked.append(time.monotonic())
        records = await broker.records(run.id)
        calls = [r.call for r in records if isinstance(r, ExchangeStart)]
        ends = [r for r in records if isinstance(r, ExchangeEnd)]
        assert calls == [1, 1]
        assert [(r.tries, r.gave_up) for r in ends] == [(1, None), (0, None)]
        # Not before that second was over, by the harness's own clock, which a slow machine only
        # makes longer. What is on record, in whole ms, is part of it; a receipt on its way to the
        # disk is not.
        took_ms = [(later - at) * 1000 for at, later in pairwise(asked)]
        assert min(took_ms) >= 997, took_ms
        known_ms = [r.held_ms + (r.answered.duration_ms or 0) for r in ends]
        assert all(0 < known <= took + 2 for known, took in zip(known_ms, took_ms, strict=True))
        assert len(provider.received) == 1


async def test_one_cool_down_holds_every_request_of_the_account_in_order(
    broker: LiveBroker,
) -> None:
    answers = (busy("0.6"), GOOD)
    async with (
        upstream(*answers, keeps=True) as provider,
        enrolled(broker, provider.port) as run,
        enrolled(broker, provider.port) as other,
        asyncio.TaskGroup() as tasks,
    ):
        first = tasks.create_task(ask(run.directory, BODY, lease=run.lease))
        await held(run, holding=True)
        second = tasks.create_task(ask(other.directory, OTHER, lease=other.lease))
        hold = await held(other, holding=True)
        assert "cools down after 429" in (hold.why or "")
        assert len(provider.received) == 1
        assert [(await first).status, (await second).status] == [200, 200]
        assert [r.body for r in provider.received] == [BODY, BODY, OTHER]
        assert (await end_of(broker, other)).tries == 1


async def until_held(
    broker: LiveBroker,
    then: Callable[[Enrolment, asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]],
) -> ExchangeEnd:
    """One request held for an hour; `then` ends it."""
    async with (
        upstream(busy("3600")) as provider,
        enrolled(broker, provider.port, waits=Waits(max_wait_s=7200)) as run,
    ):
        reader, writer = await asyncio.open_unix_connection(str(run.directory / "model.sock"))
        head = (
            f"POST /v1/chat/completions HTTP/1.1\r\nx-stanchion-lease: {run.lease}\r\n"
            f"content-length: {len(BODY)}\r\n\r\n"
        )
        writer.write(head.encode() + BODY)
        await held(run, holding=True)
        await then(run, reader, writer)
        await held(run, holding=False)
        while not isinstance((await run.supervisor.hear_of(WireEvent)).event, ExchangeEnded):
            pass
        writer.close()
        assert len(provider.received) == 1
        return await end_of(broker, run)


async def test_a_revocation_ends_a_hold_at_once(broker: LiveBroker) -> None:
    async def revoke(run: Enrolment, reader: asyncio.StreamReader, _: asyncio.StreamWriter) -> None:
        async with broker.client() as client:
            await client.cancel(run.id)
        assert await reader.read() == b""

    end = await until_held(broker, revoke)
    assert end.answered.result is ExchangeResult.REVOKED
    assert (end.answered.status, end.tries) == (429, 1)


async def test_nobody_is_held_for_a_client_that_left(broker: LiveBroker) -> None:
    async def leave(_: Enrolment, __: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.close()
        await writer.wait_closed()

    end = await until_held(broker, leave)
    assert end.answered.result is ExchangeResult.CLIENT_GONE
