"""A declared side request through a real broker: forwarded, paid for, no word of the agent's."""

import msgspec

from fakes.launches import LIMIT, MODEL
from fakes.supervisor import Supervisor, ask
from fakes.upstream import say, stream, upstream
from functional.broker.live import LiveBroker, enrolled
from stanchion.broker.auditing.facts import gather
from stanchion.broker.receipts.bundle import Verified, verify
from stanchion.protocol.control import WireEvent
from stanchion.protocol.events import ExchangeEnded, ExchangeStarted, decode_event
from stanchion.protocol.exchange import Finish
from stanchion.protocol.launch import SideRequest
from stanchion.protocol.outcome import EndReason
from stanchion.protocol.receipt import ExchangeStart, Mismatched
from stanchion.runner.results.wire_picture import picture

TITLE = SideRequest(name="title", body_contains="Generate a title", max_output_tokens=100)
TERMS = {"side_requests": (TITLE,)}


def body(limit: int, effort: str | None, content: str) -> bytes:
    told = {"model": MODEL, "max_tokens": limit, "stream": True}
    told |= {} if effort is None else {"reasoning_effort": effort}
    return msgspec.json.encode({**told, "messages": [{"role": "user", "content": content}]})


MAIN = body(LIMIT, "max", "work")
SIDE = body(100, None, "Generate a title for this")
MAIN_ANSWER = stream(
    say(f'{{"model":"{MODEL}","choices":[{{"delta":{{"content":"done"}}}}]}}'),
    say('{"choices":[{"delta":{},"finish_reason":"stop"}]}'),
    say('{"choices":[],"usage":{"prompt_tokens":7,"completion_tokens":30}}', "[DONE]"),
)
SIDE_ANSWER = stream(
    say(f'{{"model":"{MODEL}","choices":[{{"delta":{{"reasoning_content":"hm"}}}}]}}'),
    say('{"choices":[{"delta":{"content":"A tit"}}]}'),
    say('{"choices":[{"delta":{},"finish_reason":"length"}]}'),
    say('{"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":100}}', "[DONE]"),
)


async def test_it_counts_for_usage_and_for_nothing_that_is_observed_of_the_agent(
    broker: LiveBroker,
) -> None:
    async with (
        upstream(MAIN_ANSWER, SIDE_ANSWER) as provider,
        enrolled(broker, provider.port, **TERMS) as run,
    ):
        for request in (MAIN, SIDE):
            assert (await ask(run.directory, request, lease=run.lease)).status == 200
        assert [received.body for received in provider.received] == [MAIN, SIDE]
        ended = [await ended_next(run.supervisor) for _ in range(2)]
        assert [(event.exchange, event.side) for event in ended] == [(1, None), (2, "title")]
        await run.supervisor.close()
        view = await broker.close(run.id)
        async with broker.client() as client:
            bundle = await client.bundle(run.id)
            events = [decode_event(e.event) for e in (await client.events(run.id)).entries]
    starts = [r.side for r in await broker.records(run.id) if isinstance(r, ExchangeStart)]
    assert starts == [None, "title"]
    assert [e.side for e in events if isinstance(e, ExchangeStarted)] == [None, "title"]
    assert (view.exchanges, view.completed, view.length_stops) == (2, 1, 0)
    assert (view.limits.observed, view.effort.observed) == ((LIMIT,), ("max",))
    assert view.reasoning_present is False
    assert (view.usage.input_tokens, view.usage.output_tokens) == (10, 130)
    verified = verify(bundle)
    assert isinstance(verified, Verified)
    facts = gather(verified)
    assert (facts.requests, facts.side_requests) == (1, 1)
    assert facts.reasoning is not None
    assert facts.lengths is not None
    assert (facts.reasoning.present, facts.lengths.stops) == (0, 0)
    seen = picture(bundle)
    assert (seen.requests, dict(seen.limits), seen.reasoning) == (1, {LIMIT: 1}, 0)


async def test_an_answered_title_alone_is_no_response_of_the_agents(broker: LiveBroker) -> None:
    async with (
        upstream(SIDE_ANSWER) as provider,
        enrolled(broker, provider.port, **TERMS) as run,
    ):
        assert (await ask(run.directory, SIDE, lease=run.lease)).status == 200
        await run.supervisor.close()
        view = await broker.close(run.id)
    assert (view.exchanges, view.completed, view.first_response_ms) == (1, 0, None)
    assert view.limits.observed == ()


async def test_one_beyond_its_own_limit_is_a_mismatch_and_not_sent(broker: LiveBroker) -> None:
    async with upstream(SIDE_ANSWER) as provider, enrolled(broker, provider.port, **TERMS) as run:
        large = body(101, None, "Generate a title")
        assert (await ask(run.directory, large, lease=run.lease)).status == 403
        assert provider.received == []
        await run.supervisor.close()
        view = await broker.close(run.id)
        found = next(r for r in await broker.records(run.id) if isinstance(r, Mismatched))
    assert (found.mismatch.declared, found.mismatch.observed) == ("100", "101")
    assert view.outcome is not None
    assert view.outcome.reason is EndReason.MISMATCH


async def test_a_main_request_that_quotes_the_fingerprint_stays_a_main_one(
    broker: LiveBroker,
) -> None:
    quoting = body(LIMIT, "max", "The prompt was: Generate a title")
    async with upstream(MAIN_ANSWER) as provider, enrolled(broker, provider.port, **TERMS) as run:
        assert (await ask(run.directory, quoting, lease=run.lease)).status == 200
        assert (await ended_next(run.supervisor)).answered.finish is Finish.STOP
        async with broker.client() as client:
            view = await client.run(run.id)
    assert (view.completed, view.limits.observed) == (1, (LIMIT,))


async def ended_next(supervisor: Supervisor) -> ExchangeEnded:
    while not isinstance(event := (await supervisor.hear_of(WireEvent)).event, ExchangeEnded):
        pass
    return event
