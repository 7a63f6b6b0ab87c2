"""OpenAI responses through a real broker: route, key header, receipts, what is not served."""

import hashlib
import json

import pytest

from fakes.launches import KEY, LIMIT, MODEL
from fakes.supervisor import ask
from fakes.upstream import response, stream, upstream
from functional.broker.live import LiveBroker, enrolled
from stanchion.protocol.control import StopOrder
from stanchion.protocol.dialects import Dialect
from stanchion.protocol.evidence import StopReason
from stanchion.protocol.exchange import Answered, ErrorClass, ExchangeResult, Finish
from stanchion.protocol.receipt import ExchangeEnd, ExchangeStart, RunOpen

RESPONSES = Dialect.OPENAI_RESPONSES
PATH = "/v1/responses"
BODY = (
    b'{ "model":"%b", "max_output_tokens" : %d,"reasoning":{"effort":"max","summary":"auto"},'
    b'"stream":true,"store":false,"x_unknown":1.50,"input":[{"role":"user","content":"x"}]}'
    % (MODEL.encode(), LIMIT)
)


def event(kind: str, **members: object) -> bytes:
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **members})}\n\n".encode()


MESSAGE = {"type": "message", "content": [{"type": "output_text", "text": "done"}]}
ANSWER = (
    event("response.created", response={"model": MODEL, "status": "in_progress", "error": None}),
    event("response.output_text.delta", output_index=0, delta="do\u00e9"),
    event("response.output_item.done", output_index=0, item=MESSAGE),
    event(
        "response.completed",
        response={
            "model": MODEL,
            "status": "completed",
            "error": None,
            "output": [MESSAGE],
            "usage": {
                "input_tokens": 7,
                "output_tokens": 30,
                "output_tokens_details": {"reasoning_tokens": 20},
            },
        },
    ),
)


async def answered(broker: LiveBroker, run: str) -> Answered:
    return next(r.answered for r in await broker.records(run) if isinstance(r, ExchangeEnd))


async def test_a_stream_passes_byte_for_byte_with_the_accounts_key(broker: LiveBroker) -> None:
    async with (
        upstream(stream(*ANSWER)) as provider,
        enrolled(broker, provider.port, dialect=RESPONSES) as run,
    ):
        reply = await ask(
            run.directory,
            BODY,
            lease=run.lease,
            target=PATH,
            extra=(("authorization", "Bearer of-the-caller"),),
        )
        records = await broker.records(run.id)
        sent = provider.received[0]
    assert (reply.status, reply.whole, reply.body) == (200, True, b"".join(ANSWER))
    assert sent.request_line == f"POST {PATH} HTTP/1.1"
    assert sent.body == BODY
    assert sent.headers["authorization"] == f"Bearer {KEY}"
    opened = records[0]
    assert isinstance(opened, RunOpen)
    assert opened.launch.account.dialect is RESPONSES
    start = next(r for r in records if isinstance(r, ExchangeStart))
    assert start.route == "openai_responses.create"
    assert (start.asked.output_limit, start.asked.output_limit_field) == (
        LIMIT,
        "max_output_tokens",
    )
    assert (start.asked.effort, start.asked.effort_field) == ("max", "reasoning.effort")
    end = next(r for r in records if isinstance(r, ExchangeEnd)).answered
    assert (end.result, end.finish, end.finish_raw) == (
        ExchangeResult.COMPLETED,
        Finish.STOP,
        "completed",
    )
    assert end.usage is not None
    assert (end.usage.input_tokens, end.usage.output_tokens) == (7, 30)
    assert (end.text_present, end.reasoning_present) == (True, True)
    assert end.body_sha256 == hashlib.sha256(reply.body).hexdigest()


async def test_the_terminal_event_is_needed(broker: LiveBroker) -> None:
    async with (
        upstream(stream(*ANSWER[:-1])) as provider,
        enrolled(broker, provider.port, dialect=RESPONSES) as run,
    ):
        reply = await ask(run.directory, BODY, lease=run.lease, target=PATH)
        end = await answered(broker, run.id)
    assert reply.body == b"".join(ANSWER[:-1])
    assert end.result is ExchangeResult.TRUNCATED


@pytest.mark.parametrize(
    ("asked", "other", "said"),
    [
        (b'"effort":"max"', b'"effort":"high"', "effort declared max"),
        # BerriAI/litellm#38084: the word of chat completions, where this API does not read it
        (b'"reasoning":{"effort":"max",', b'"reasoning_effort":"max","x":{', "effort declared max"),
        (b'"max_output_tokens" : %d' % LIMIT, b'"max_output_tokens":5', "output_limit declared"),
        (b'"max_output_tokens"', b'"max_tokens"', "output_limit declared"),
    ],
)
async def test_another_effort_or_limit_is_a_mismatch_and_never_sent(
    broker: LiveBroker, asked: bytes, other: bytes, said: str
) -> None:
    async with (
        upstream(stream(*ANSWER)) as provider,
        enrolled(broker, provider.port, dialect=RESPONSES) as run,
    ):
        body = BODY.replace(asked, other)
        assert (await ask(run.directory, body, lease=run.lease, target=PATH)).status == 403
        order = await run.supervisor.hear_of(StopOrder)
        assert provider.received == []
    assert order.stop.reason is StopReason.MISMATCH
    assert said in order.stop.detail


@pytest.mark.parametrize(
    "target",
    [
        "/v1/responses?background=true",
        "/v1/responses/",
        "/v1/responses/resp_1",
        "/v1/responses/resp_1/cancel",
        "/v1/responses/input_tokens",
        "/v1/conversations",
        "/v1/chat/completions",
        "/v1/messages",
    ],
)
async def test_other_routes_and_other_dialects_are_not_served(
    broker: LiveBroker, target: str
) -> None:
    async with (
        upstream(stream(*ANSWER)) as provider,
        enrolled(broker, provider.port, dialect=RESPONSES) as run,
    ):
        assert (await ask(run.directory, BODY, lease=run.lease, target=target)).status == 404
        assert provider.received == []


async def test_a_refused_limit_ends_the_attempt_with_the_providers_words(
    broker: LiveBroker,
) -> None:
    words = b'{"detail":"Unsupported parameter: max_output_tokens"}'
    async with (
        upstream(response(400, words)) as provider,
        enrolled(broker, provider.port, dialect=RESPONSES) as run,
    ):
        reply = await ask(run.directory, BODY, lease=run.lease, target=PATH)
        end = await answered(broker, run.id)
        order = await run.supervisor.hear_of(StopOrder)
    assert (reply.status, reply.body) == (400, words)
    assert end.error_class is ErrorClass.LIMIT_REJECTED
    assert order.stop.reason is StopReason.PROVIDER_REFUSED
