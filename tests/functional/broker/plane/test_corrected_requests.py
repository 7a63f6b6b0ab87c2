"""A correction that an adapter declared: in what the provider gets, and on record."""

import hashlib
import json

import pytest

from fakes.launches import LIMIT, MODEL, order
from fakes.supervisor import ask
from fakes.upstream import response, upstream
from functional.broker.live import LiveBroker, enrolled
from stanchion.protocol.dialects import Dialect
from stanchion.protocol.launch import Correction, Effort, SideRequest
from stanchion.protocol.outcome import EndReason
from stanchion.protocol.receipt import ExchangeStart, Mismatched
from stanchion.protocol.refusal import RefusedError

LIMITED = (Correction(field="max_tokens", value=LIMIT, why="the harness sends no limit"),)
BODY = b'{ "model": "fx-coder-1",\n "reasoning_effort":"max", "stream" : false }\n'
EDITED = (
    b'{ "model": "fx-coder-1",\n "reasoning_effort":"max", "stream" : false,"max_tokens":128000 }\n'
)
ANSWER = response(200, b'{"choices":[{"message":{"content":"hi"},"finish_reason":"stop"}]}')
MESSAGE = response(
    200, b'{"type":"message","content":[{"type":"text","text":"hi"}],"stop_reason":"end_turn"}'
)


def sha256(body: bytes) -> str:
    return hashlib.sha256(body).hexdigest()


async def test_what_is_sent_differs_by_the_correction_and_both_are_on_record(
    broker: LiveBroker,
) -> None:
    async with (
        upstream(ANSWER) as provider,
        enrolled(broker, provider.port, corrections=LIMITED) as run,
    ):
        reply = await ask(run.directory, BODY, lease=run.lease)
        records = await broker.records(run.id)
        await run.supervisor.close()
        view = await broker.close(run.id)
    assert reply.status == 200
    assert provider.received[0].body == EDITED
    assert provider.received[0].headers["content-length"] == str(len(EDITED))
    start = next(record for record in records if isinstance(record, ExchangeStart))
    assert start.corrections == ("max_tokens",)
    asked, sent = start.asked, start.sent
    assert (asked.output_limit, asked.body_sha256, asked.body_bytes) == (
        None,
        sha256(BODY),
        len(BODY),
    )
    assert (sent.output_limit, sent.body_sha256, sent.body_bytes) == (
        LIMIT,
        sha256(EDITED),
        len(EDITED),
    )
    assert not any(isinstance(record, Mismatched) for record in records)
    assert (view.limits.observed, view.limits.corrected) == ((LIMIT,), True)


async def test_a_request_that_is_right_already_passes_unchanged(broker: LiveBroker) -> None:
    async with (
        upstream(ANSWER) as provider,
        enrolled(broker, provider.port, corrections=LIMITED) as run,
    ):
        assert (await ask(run.directory, EDITED, lease=run.lease)).status == 200
        records = await broker.records(run.id)
    assert provider.received[0].body == EDITED
    start = next(record for record in records if isinstance(record, ExchangeStart))
    assert (start.corrections, start.sent) == ((), start.asked)


@pytest.mark.parametrize(
    ("body", "field"),
    [
        (BODY.replace(b"fx-coder-1", b"other"), "model"),
        (BODY.replace(b'"max"', b'"low"'), "effort"),
        (BODY.replace(b"false", b'false,"max_tokens":[1]'), "output_limit"),
        (BODY.replace(b"false", b'false,"max_completion_tokens":9'), "output_limit"),
    ],
)
async def test_what_no_correction_was_declared_for_is_a_mismatch_as_ever(
    broker: LiveBroker, body: bytes, field: str
) -> None:
    async with (
        upstream(ANSWER) as provider,
        enrolled(broker, provider.port, corrections=LIMITED) as run,
    ):
        assert (await ask(run.directory, body, lease=run.lease)).status == 403
        records = await broker.records(run.id)
        await run.supervisor.close()
        view = await broker.close(run.id)
    assert provider.received == []
    assert next(r for r in records if isinstance(r, Mismatched)).mismatch.field == field
    assert view.outcome is not None
    assert view.outcome.reason is EndReason.MISMATCH


async def test_a_side_request_keeps_its_own_limit(broker: LiveBroker) -> None:
    title = SideRequest(name="title", body_contains="write a title", max_output_tokens=64)
    body = json.dumps({"model": MODEL, "max_tokens": 32, "messages": ["write a title"]}).encode()
    async with (
        upstream(ANSWER) as provider,
        enrolled(broker, provider.port, corrections=LIMITED, side_requests=(title,)) as run,
    ):
        assert (await ask(run.directory, body, lease=run.lease)).status == 200
        records = await broker.records(run.id)
    assert provider.received[0].body == body
    start = next(record for record in records if isinstance(record, ExchangeStart))
    assert (start.side, start.corrections) == ("title", ())


async def test_a_limit_that_the_harness_lowers_is_put_right(broker: LiveBroker) -> None:
    """As Claude Code's fallback without a stream does."""
    body = b'{"model":"fx-coder-1","max_tokens":21333,"output_config":{"effort":"max"}}'
    terms = {"dialect": Dialect.ANTHROPIC_MESSAGES, "corrections": LIMITED}
    async with upstream(MESSAGE) as provider, enrolled(broker, provider.port, **terms) as run:
        reply = await ask(run.directory, body, lease=run.lease, target="/v1/messages")
    assert reply.status == 200
    assert provider.received[0].body == body.replace(b"21333", b"128000")


async def test_a_limit_that_the_harness_never_sends_is_put_in(broker: LiveBroker) -> None:
    """As Codex, which has no word for it."""
    body = b'{"model":"fx-coder-1","reasoning":{"effort":"max"},"input":[]}'
    limit = Correction(field="max_output_tokens", value=LIMIT, why="the harness sends no limit")
    terms = {"dialect": Dialect.OPENAI_RESPONSES, "corrections": (limit,)}
    done = b'{"object":"response","status":"completed","output":[]}'
    async with (
        upstream(response(200, done)) as provider,
        enrolled(broker, provider.port, **terms) as run,
    ):
        reply = await ask(run.directory, body, lease=run.lease, target="/v1/responses")
    assert reply.status == 200
    assert provider.received[0].body == body[:-1] + b',"max_output_tokens":128000}'


async def test_an_effort_word_may_be_corrected_too(broker: LiveBroker) -> None:
    word = Correction(field="reasoning_effort", value="xhigh", why="it sends max for it")
    terms = {"corrections": (*LIMITED, word), "effort": Effort(word="xhigh")}
    async with upstream(ANSWER) as provider, enrolled(broker, provider.port, **terms) as run:
        assert (await ask(run.directory, BODY, lease=run.lease)).status == 200
    assert provider.received[0].body == EDITED.replace(b'"max",', b'"xhigh",')


async def test_one_that_stands_deeper_is_written_into_the_object_that_is_sent(
    broker: LiveBroker,
) -> None:
    """As Codex where it would replace the word: it sends the object without one."""
    body = b'{"model":"fx-coder-1","reasoning":{"summary":"auto"},"max_output_tokens":128000}'
    word = Correction(field="reasoning.effort", value="ultra", why="it sends medium for it")
    terms = {
        "dialect": Dialect.OPENAI_RESPONSES,
        "corrections": (word,),
        "effort": Effort(word="ultra", raw=True),
    }
    done = b'{"object":"response","status":"completed","output":[]}'
    async with (
        upstream(response(200, done)) as provider,
        enrolled(broker, provider.port, **terms) as run,
    ):
        reply = await ask(run.directory, body, lease=run.lease, target="/v1/responses")
    assert reply.status == 200
    assert provider.received[0].body == body.replace(b'"auto"', b'"auto","effort":"ultra"')


@pytest.mark.parametrize(
    "correction",
    [
        Correction(field="max_tokens", value=5, why="w"),
        Correction(field="max_tokens", value=str(LIMIT), why="w"),
        Correction(field="model", value=MODEL, why="w"),
        Correction(field="reasoning_effort", value="low", why="w"),
        Correction(field="temperature", value=0, why="w"),
    ],
)
async def test_a_correction_writes_only_what_the_launch_declares(
    broker: LiveBroker, correction: Correction
) -> None:
    async with broker.client() as client:
        with pytest.raises(RefusedError) as refused:
            await client.open_run(order(9, run="c0" * 6, corrections=(correction,)))
    assert refused.value.refusal.id == "correction_unsupported"
    assert refused.value.refusal.field == f"corrections.{correction.field}"
