"""Anthropic messages through a real broker: route, key header, headers, receipts, local answers."""

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
from stanchion.protocol.receipt import Denied, ExchangeEnd, ExchangeStart, RunOpen

ANTHROPIC = Dialect.ANTHROPIC_MESSAGES
PATH = "/v1/messages"
BODY = (
    b'{ "model":"%b", "max_tokens" : %d,"output_config":{"effort":"max"},"stream":true,'
    b'"thinking":{"type":"adaptive"},"x_unknown":1.50,"messages":[{"role":"user","content":"x"}]}'
    % (MODEL.encode(), LIMIT)
)
EXTRA = (
    ("anthropic-version", "2023-06-01"),
    ("anthropic-beta", "a-1,b-2"),
    ("x-api-key", "of-the-caller"),
)


def event(**document: object) -> bytes:
    return f"event: {document['type']}\ndata: {json.dumps(document)}\n\n".encode()


ANSWER = (
    event(
        type="message_start",
        message={"model": MODEL, "usage": {"input_tokens": 7, "output_tokens": 1}},
    ),
    event(type="content_block_start", index=0, content_block={"type": "text", "text": ""}),
    event(type="ping"),
    event(type="content_block_delta", index=0, delta={"type": "text_delta", "text": "do\u00e9"}),
    event(type="content_block_stop", index=0),
    event(type="message_delta", delta={"stop_reason": "end_turn"}, usage={"output_tokens": 30}),
    event(type="message_stop"),
)


async def answered(broker: LiveBroker, run: str) -> Answered:
    return next(r.answered for r in await broker.records(run) if isinstance(r, ExchangeEnd))


@pytest.mark.parametrize("query", ["", "?beta=true"])
async def test_a_stream_passes_byte_for_byte_with_the_accounts_key(
    broker: LiveBroker, query: str
) -> None:
    async with (
        upstream(stream(*ANSWER)) as provider,
        enrolled(broker, provider.port, dialect=ANTHROPIC) as run,
    ):
        reply = await ask(run.directory, BODY, lease=run.lease, target=PATH + query, extra=EXTRA)
        records = await broker.records(run.id)
        sent = provider.received[0]
    assert (reply.status, reply.whole, reply.body) == (200, True, b"".join(ANSWER))
    assert sent.request_line == f"POST {PATH}{query} HTTP/1.1"
    assert sent.body == BODY
    assert sent.headers["x-api-key"] == KEY
    assert "authorization" not in sent.headers
    assert sent.headers["anthropic-version"] == "2023-06-01"
    assert sent.headers["anthropic-beta"] == "a-1,b-2"
    opened = records[0]
    assert isinstance(opened, RunOpen)
    assert opened.launch.account.dialect is ANTHROPIC
    start = next(r for r in records if isinstance(r, ExchangeStart))
    assert (start.asked.output_limit, start.asked.effort) == (LIMIT, "max")
    assert (start.asked.thinking, start.asked.thinking_budget) == ("adaptive", None)
    end = next(r for r in records if isinstance(r, ExchangeEnd)).answered
    assert (end.result, end.finish, end.finish_raw) == (
        ExchangeResult.COMPLETED,
        Finish.STOP,
        "end_turn",
    )
    assert end.usage is not None
    assert (end.usage.input_tokens, end.usage.output_tokens) == (7, 30)
    assert end.body_sha256 == hashlib.sha256(reply.body).hexdigest()
    assert (end.sent_sha256, end.tls_server_name, end.tls_certificate_sha256) == (None,) * 3


async def test_the_terminal_event_is_needed(broker: LiveBroker) -> None:
    async with (
        upstream(stream(*ANSWER[:-1])) as provider,
        enrolled(broker, provider.port, dialect=ANTHROPIC) as run,
    ):
        reply = await ask(run.directory, BODY, lease=run.lease, target=PATH)
        end = await answered(broker, run.id)
    assert reply.body == b"".join(ANSWER[:-1])
    assert end.result is ExchangeResult.TRUNCATED


async def test_a_lower_effort_is_a_mismatch_and_never_sent(broker: LiveBroker) -> None:
    async with (
        upstream(stream(*ANSWER)) as provider,
        enrolled(broker, provider.port, dialect=ANTHROPIC) as run,
    ):
        lower = BODY.replace(b'"max"}', b'"high"}')
        assert (await ask(run.directory, lower, lease=run.lease, target=PATH)).status == 403
        order = await run.supervisor.hear_of(StopOrder)
        assert provider.received == []
    assert order.stop.reason is StopReason.MISMATCH
    assert "effort declared max" in order.stop.detail


async def test_probes_are_answered_here_and_are_no_exchanges(broker: LiveBroker) -> None:
    async with (
        upstream(stream(*ANSWER)) as provider,
        enrolled(broker, provider.port, dialect=ANTHROPIC) as run,
    ):
        for method in ("GET", "HEAD"):
            probe = await ask(run.directory, b"", lease=run.lease, target="/", method=method)
            assert probe.status == 200
        models = await ask(run.directory, b"", lease=run.lease, target="/v1/models", method="GET")
        count = await ask(run.directory, BODY, lease=run.lease, target=f"{PATH}/count_tokens")
        records = await broker.records(run.id)
        assert provider.received == []
    listed = json.loads(models.body)
    assert (listed["data"][0]["id"], listed["first_id"], listed["has_more"]) == (
        MODEL,
        MODEL,
        False,
    )
    error = json.loads(count.body)
    assert (count.status, error["type"]) == (404, "error")
    assert not any(isinstance(r, (ExchangeStart, Denied)) for r in records)


@pytest.mark.parametrize(
    "target",
    [
        "/v1/messages?beta=false",
        "/v1/messages?",
        "/v1/messages?beta=true&x=1",
        "/v1/messages/",
        "/v1/messages/batches",
        "/v1/files",
        "/v1/chat/completions",
    ],
)
async def test_other_routes_and_other_dialects_are_not_served(
    broker: LiveBroker, target: str
) -> None:
    async with (
        upstream(stream(*ANSWER)) as provider,
        enrolled(broker, provider.port, dialect=ANTHROPIC) as run,
    ):
        assert (await ask(run.directory, BODY, lease=run.lease, target=target)).status == 404
        assert provider.received == []


async def test_the_words_of_an_error_and_its_headers_go_back_and_are_sorted(
    broker: LiveBroker,
) -> None:
    words = b'{"type":"error","error":{"type":"invalid_request_error","message":"max_tokens: 128000 > 64000, which is the maximum allowed number of output tokens"},"request_id":"req_7"}'  # noqa: E501
    answer = response(
        400,
        words,
        headers=[
            ("request-id", "req_7"),
            ("anthropic-ratelimit-unified-status", "allowed"),
            ("anthropic-organization-id", "org"),
        ],
    )
    async with (
        upstream(answer) as provider,
        enrolled(broker, provider.port, dialect=ANTHROPIC) as run,
    ):
        reply = await ask(run.directory, BODY, lease=run.lease, target=PATH)
        end = await answered(broker, run.id)
        order = await run.supervisor.hear_of(StopOrder)
    assert (reply.status, reply.body) == (400, words)
    assert reply.headers["anthropic-ratelimit-unified-status"] == "allowed"
    assert "anthropic-organization-id" not in reply.headers
    assert (end.error_class, end.provider_request_id) == (ErrorClass.LIMIT_REJECTED, "req_7")
    assert order.stop.reason is StopReason.PROVIDER_REFUSED
