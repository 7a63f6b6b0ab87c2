"""Gemini through a real broker: the model in the path, key header, receipts, local answers."""

import hashlib
import json
from typing import Any

import pytest

from fakes.launches import KEY, LIMIT, MODEL
from fakes.supervisor import ask
from fakes.upstream import response, say, stream, upstream
from functional.broker.live import LiveBroker, enrolled
from stanchion.protocol.control import StopOrder
from stanchion.protocol.dialects import Dialect
from stanchion.protocol.evidence import StopReason
from stanchion.protocol.exchange import Answered, ErrorClass, ExchangeResult, Finish
from stanchion.protocol.launch import Effort, Waits
from stanchion.protocol.receipt import Denied, ExchangeEnd, ExchangeStart

TERMS: dict[str, Any] = {"dialect": Dialect.GEMINI, "effort": Effort(word="high")}
PATH = f"/v1beta/models/{MODEL}"
STREAM = f"{PATH}:streamGenerateContent?alt=sse"
WHOLE = f"{PATH}:generateContent"
BODY = (
    b'{ "contents":[{"role":"user","parts":[{"text":"x"}]}],"x_unknown":1.50,'
    b'"generationConfig":{"maxOutputTokens" : %d,"thinkingConfig":{"thinkingLevel":"high"}}}'
    % LIMIT
)
EXTRA = (
    ("x-goog-api-key", "of-the-caller"),
    ("x-goog-user-project", "of-another"),
    ("x-goog-api-client", "google-genai-sdk/3"),
)
LAST = json.dumps(
    {
        "candidates": [{"content": {"parts": [{"text": "e\u0301"}]}, "finishReason": "STOP"}],
        "usageMetadata": {
            "promptTokenCount": 7,
            "candidatesTokenCount": 30,
            "thoughtsTokenCount": 12,
        },
        "modelVersion": MODEL,
    }
)
ANSWER = (say('{"candidates":[{"content":{"parts":[{"text":"do"}]}}]}'), say(LAST))


async def ended(broker: LiveBroker, run: str) -> ExchangeEnd:
    return next(r for r in await broker.records(run) if isinstance(r, ExchangeEnd))


async def answered(broker: LiveBroker, run: str) -> Answered:
    return (await ended(broker, run)).answered


async def test_a_stream_passes_byte_for_byte_with_the_accounts_key(broker: LiveBroker) -> None:
    async with (
        upstream(stream(*ANSWER)) as provider,
        enrolled(broker, provider.port, **TERMS) as run,
    ):
        reply = await ask(run.directory, BODY, lease=run.lease, target=STREAM, extra=EXTRA)
        records = await broker.records(run.id)
        sent = provider.received[0]
    assert (reply.status, reply.whole, reply.body) == (200, True, b"".join(ANSWER))
    assert sent.request_line == f"POST {STREAM} HTTP/1.1"
    assert sent.body == BODY
    assert sent.headers["x-goog-api-key"] == KEY
    assert sent.headers["x-goog-api-client"] == "google-genai-sdk/3"
    assert not {"authorization", "x-goog-user-project", "x-stanchion-lease"} & set(sent.headers)
    start = next(r for r in records if isinstance(r, ExchangeStart))
    assert start.route == "gemini.stream_generate_content"
    assert (start.asked.model, start.asked.stream) == (MODEL, True)
    assert (start.asked.output_limit, start.asked.effort) == (LIMIT, "high")
    end = next(r for r in records if isinstance(r, ExchangeEnd)).answered
    assert (end.result, end.finish, end.finish_raw) == (
        ExchangeResult.COMPLETED,
        Finish.STOP,
        "STOP",
    )
    assert end.usage is not None
    assert (end.usage.output_tokens, end.usage.reasoning_tokens) == (30, 12)
    assert (end.output_includes_reasoning, end.reasoning_present) == (False, True)
    assert end.body_sha256 == hashlib.sha256(reply.body).hexdigest()


async def test_a_request_without_a_stream_is_answered_whole(broker: LiveBroker) -> None:
    body = BODY.replace(b"{ ", b'{ "model":"models/%b",' % MODEL.encode(), 1)
    async with (
        upstream(response(200, LAST.encode())) as provider,
        enrolled(broker, provider.port, **TERMS) as run,
    ):
        reply = await ask(run.directory, body, lease=run.lease, target=WHOLE)
        records = await broker.records(run.id)
        assert provider.received[0].request_line == f"POST {WHOLE} HTTP/1.1"
        assert provider.received[0].body == body
    assert (reply.status, reply.body) == (200, LAST.encode())
    start = next(r for r in records if isinstance(r, ExchangeStart))
    assert (start.asked.model, start.asked.stream) == (MODEL, False)
    end = next(r for r in records if isinstance(r, ExchangeEnd)).answered
    assert end.result is ExchangeResult.COMPLETED


async def test_the_other_version_of_the_api_is_asked_where_the_harness_does(
    broker: LiveBroker,
) -> None:
    target = STREAM.replace("/v1beta/", "/v1/")
    async with (
        upstream(stream(*ANSWER)) as provider,
        enrolled(broker, provider.port, **TERMS) as run,
    ):
        reply = await ask(run.directory, BODY, lease=run.lease, target=target)
        assert provider.received[0].request_line == f"POST {target} HTTP/1.1"
        start = next(r for r in await broker.records(run.id) if isinstance(r, ExchangeStart))
    assert reply.status == 200
    assert (start.route, start.asked.model) == ("gemini.stream_generate_content_v1", MODEL)


async def test_another_model_in_the_path_is_a_mismatch_and_never_sent(broker: LiveBroker) -> None:
    async with (
        upstream(stream(*ANSWER)) as provider,
        enrolled(broker, provider.port, **TERMS) as run,
    ):
        other = STREAM.replace(MODEL, "other-1")
        assert (await ask(run.directory, BODY, lease=run.lease, target=other)).status == 403
        order = await run.supervisor.hear_of(StopOrder)
        assert provider.received == []
    assert order.stop.reason is StopReason.MISMATCH
    assert "model declared fx-coder-1, on the wire other-1" in order.stop.detail


@pytest.mark.parametrize("named", [b'"other-1"', b'"models/other-1"', b'"models/models/%b"'])
async def test_a_body_that_names_another_model_is_refused(broker: LiveBroker, named: bytes) -> None:
    body = BODY.replace(b"{ ", b'{ "model":%b,' % named.replace(b"%b", MODEL.encode()), 1)
    async with (
        upstream(stream(*ANSWER)) as provider,
        enrolled(broker, provider.port, **TERMS) as run,
    ):
        reply = await ask(run.directory, body, lease=run.lease, target=STREAM)
        assert provider.received == []
    assert reply.status == 400
    assert json.loads(reply.body)["error"]["status"] == "STANCHION_TWO_MODELS"


async def test_a_limit_in_two_spellings_is_refused(broker: LiveBroker) -> None:
    body = BODY.replace(b'"maxOutputTokens"', b'"max_output_tokens":9,"maxOutputTokens"')
    async with (
        upstream(stream(*ANSWER)) as provider,
        enrolled(broker, provider.port, **TERMS) as run,
    ):
        assert (await ask(run.directory, body, lease=run.lease, target=STREAM)).status == 403
        assert provider.received == []


async def test_a_lower_effort_is_a_mismatch_and_never_sent(broker: LiveBroker) -> None:
    async with (
        upstream(stream(*ANSWER)) as provider,
        enrolled(broker, provider.port, **TERMS) as run,
    ):
        lower = BODY.replace(b'"high"', b'"low"')
        assert (await ask(run.directory, lower, lease=run.lease, target=STREAM)).status == 403
        order = await run.supervisor.hear_of(StopOrder)
        assert provider.received == []
    assert "effort declared high, on the wire low" in order.stop.detail


async def test_probes_are_answered_here_and_are_no_exchanges(broker: LiveBroker) -> None:
    async with (
        upstream(stream(*ANSWER)) as provider,
        enrolled(broker, provider.port, **TERMS) as run,
    ):
        where, lease = run.directory, run.lease
        models = await ask(where, b"", lease=lease, target="/v1beta/models", method="GET")
        count = await ask(where, BODY, lease=lease, target=f"{PATH}:countTokens")
        records = await broker.records(run.id)
        assert provider.received == []
    assert json.loads(models.body)["models"] == [{"name": f"models/{MODEL}"}]
    assert count.status == 404
    assert not any(isinstance(r, (ExchangeStart, Denied)) for r in records)


@pytest.mark.parametrize(
    "target",
    [
        f"{PATH}:streamGenerateContent",
        f"{STREAM}&key=x",
        f"{PATH}:batchGenerateContent",
        f"/v1beta/models/a/../{MODEL}:generateContent",
        "/v1beta/files",
        "/v1/chat/completions",
    ],
)
async def test_other_routes_and_other_dialects_are_not_served(
    broker: LiveBroker, target: str
) -> None:
    async with (
        upstream(stream(*ANSWER)) as provider,
        enrolled(broker, provider.port, **TERMS) as run,
    ):
        assert (await ask(run.directory, BODY, lease=run.lease, target=target)).status == 404
        assert provider.received == []


async def test_a_stream_without_a_reason_is_cut(broker: LiveBroker) -> None:
    async with (
        upstream(stream(ANSWER[0])) as provider,
        enrolled(broker, provider.port, **TERMS) as run,
    ):
        reply = await ask(run.directory, BODY, lease=run.lease, target=STREAM)
        end = await answered(broker, run.id)
    assert (reply.body, reply.whole) == (ANSWER[0], True)
    assert end.result is ExchangeResult.TRUNCATED


async def test_the_wait_in_an_error_body_is_obeyed_like_a_header(broker: LiveBroker) -> None:
    info = '{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"38.4s"}'
    words = '{"error":{"code":429,"message":"quota","status":"RESOURCE_EXHAUSTED","details":[%s]}}'
    body = words.replace("%s", info).encode()
    async with (
        upstream(response(429, body)) as provider,
        enrolled(broker, provider.port, waits=Waits(max_wait_s=0), **TERMS) as run,
    ):
        reply = await ask(run.directory, BODY, lease=run.lease, target=STREAM)
        end = await ended(broker, run.id)
    assert (reply.status, reply.body, reply.headers["retry-after"]) == (429, body, "30")
    assert (end.retry_after_asked_ms, end.retry_after_sent_ms) == (38_400, 30_000)
    assert end.answered.error_class is ErrorClass.RATE_LIMITED
