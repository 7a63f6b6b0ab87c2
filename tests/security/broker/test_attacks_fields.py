"""Attacks 15, 16, 17 and 12: what a body asks for beyond one answer of the launched model."""

import asyncio
import hashlib
import tempfile
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from fakes.launches import order
from fakes.raw_sink import RawSink
from fakes.refusals import constant_reply
from fakes.request_bodies import DENIED
from fakes.supervisor import Supervisor
from functional.broker.live import LiveBroker, enrolled, live_broker
from security.broker.dialect_requests import ORDINARY
from security.broker.raw_client import Reply, Target
from stanchion.protocol.control import Enrolled
from stanchion.protocol.dialects import Dialect
from stanchion.protocol.launch import ModelRef
from stanchion.protocol.receipt import Denied, ExchangeStart, RunOpen

REFUSALS = {
    dialect: Reply(403, constant_reply("field_denied", dialect, 403)) for dialect in Dialect
}


@pytest.fixture(scope="module")
def targets(broker: LiveBroker, sink: RawSink) -> Iterator[dict[Dialect, Target]]:
    """One attempt of each dialect."""
    found, contexts = {}, []
    with asyncio.Runner() as runner:
        for dialect, ordinary in ORDINARY.items():
            context = enrolled(broker, sink.port, **ordinary.terms(dialect))
            run = runner.run(context.__aenter__())
            runner.run(run.supervisor.close())
            contexts.append(context)
            found[dialect] = Target(run.id, run.directory, run.lease, sink)
        yield found
        for context in contexts:
            runner.run(context.__aexit__(None, None, None))


def ask(target: Target, dialect: Dialect, more: dict[str, object]) -> Reply:
    ordinary = ORDINARY[dialect]
    body = ordinary.encoded(more)
    line = f"POST {ordinary.target} HTTP/1.1".encode()
    return target.send(target.head(b"content-length: %d" % len(body), line=line) + body)


def denials(broker: LiveBroker, target: Target) -> list[str]:
    records = asyncio.run(broker.records(target.run))
    return [record.why for record in records if isinstance(record, Denied)]


def denial_after(broker: LiveBroker, target: Target, known: int) -> str:
    """It is written after the answer."""
    while len(found := denials(broker, target)) == known:
        pass
    return found[known]


@pytest.mark.parametrize("dialect", ORDINARY)
def test_attack_15_without_such_a_field_wire_receipt_and_launch_say_the_same(
    broker: LiveBroker, targets: dict[Dialect, Target], dialect: Dialect
) -> None:
    target = targets[dialect]
    body = ORDINARY[dialect].encoded({"x_unknown": {"a": 1}})
    assert ask(target, dialect, {"x_unknown": {"a": 1}}).status == 200
    (request,) = target.sink.taken()
    assert request.body == body
    opened, *records = asyncio.run(broker.records(target.run))
    start = next(record for record in records if isinstance(record, ExchangeStart))
    assert isinstance(opened, RunOpen)
    declared = opened.launch.spec
    assert declared.limits.output_tokens is not None
    assert start.sent == start.asked
    assert start.sent.body_sha256 == hashlib.sha256(request.body).hexdigest()
    assert start.sent.model == declared.model.id
    assert start.sent.output_limit == declared.limits.output_tokens.value
    assert (start.sent.effort or "").lower() == declared.effort.word
    assert "x_unknown" in start.sent.fields
    assert opened.launch.allow_fields == ()


@pytest.mark.parametrize(
    ("dialect", "body", "name"),
    DENIED,
    ids=[f"{dialect}-{name}-{number}" for number, (dialect, _, name) in enumerate(DENIED)],
)
def test_attack_15_a_field_that_reaches_further_is_denied_and_named_on_record_only(
    broker: LiveBroker,
    targets: dict[Dialect, Target],
    dialect: Dialect,
    body: dict[str, object],
    name: str,
) -> None:
    target = targets[dialect]
    known = len(denials(broker, target))
    assert ask(target, dialect, body) == REFUSALS[dialect]
    assert target.sink.taken() == []
    record = denial_after(broker, target, known)
    named = "twin_fields" if "generation_config" in body else name  # beside generationConfig
    assert record.removeprefix("field_denied: ").split(" ")[0] == named


@pytest.mark.parametrize(
    ("dialect", "more"),
    [
        (Dialect.OPENAI_CHAT, {"n": 2}),
        (Dialect.OPENAI_CHAT, {"n": 128}),
        (Dialect.OPENAI_CHAT, {"n": 1.5}),
        (Dialect.OPENAI_CHAT, {"n": "2"}),
        (Dialect.OPENAI_CHAT, {"n": -1}),
        (Dialect.OPENAI_CHAT, {"N": 2}),
        (Dialect.OPENAI_CHAT, {"best_of": 2}),
        (Dialect.OPENAI_CHAT, {"bestOf": 2}),
        (Dialect.GEMINI, {"generationConfig": {"candidateCount": 8}}),
        (Dialect.GEMINI, {"candidateCount": 8}),
    ],
)
def test_attack_16_more_answers_than_one_are_denied(
    targets: dict[Dialect, Target], dialect: Dialect, more: dict[str, object]
) -> None:
    assert ask(targets[dialect], dialect, more) == REFUSALS[dialect]
    assert targets[dialect].sink.taken() == []


def nested(depth: int, key: str) -> dict[str, object]:
    value: object = {key: "http://127.0.0.1:1/evil"}
    for level in range(depth):
        value = [value] if level % 3 else {f"x{level}": value}
    return {"x": value}


@pytest.mark.parametrize("dialect", ORDINARY)
@pytest.mark.parametrize("depth", [0, 1, 5, 40, 60])
@pytest.mark.parametrize("key", ["base_url", "api_base", "baseURL", "Api-Base"])
def test_attack_17_no_body_chooses_an_address_at_any_depth(
    targets: dict[Dialect, Target], dialect: Dialect, depth: int, key: str
) -> None:
    assert ask(targets[dialect], dialect, nested(depth, key)) == REFUSALS[dialect]
    assert targets[dialect].sink.taken() == []


def test_attack_17_no_header_does_either(targets: dict[Dialect, Target]) -> None:
    target = targets[Dialect.OPENAI_CHAT]
    fields = [
        b"x-portkey-custom-host: http://127.0.0.1:1",
        b"x-portkey-provider: openai",
        b"x-base-url: http://127.0.0.1:1",
        b"x-api-base: http://127.0.0.1:1",
        b"x-forwarded-host: evil.example",
        b"x-upstream: http://127.0.0.1:1",
        b"helicone-target-url: http://127.0.0.1:1",
    ]
    assert target.ask(*fields).status == 200
    (request,) = target.sink.taken()
    assert dict(request.fields)[b"host"] == b"127.0.0.1:%d" % target.sink.port
    assert b"evil" not in request.head
    assert b"127.0.0.1:1\r" not in request.head


def test_attack_12_a_request_is_the_listeners_whatever_it_says_of_itself(
    broker: LiveBroker, targets: dict[Dialect, Target]
) -> None:
    target, other = targets[Dialect.OPENAI_CHAT], targets[Dialect.ANTHROPIC_MESSAGES]
    claims = {"user": other.run, "metadata": {"user_id": other.run, "run": other.run}}
    body = ORDINARY[Dialect.OPENAI_CHAT].encoded(claims)
    fields = [
        b"openai-organization: org-other",
        b"openai-project: proj-other",
        b"anthropic-organization-id: other",
        b"x-goog-user-project: other",
        b"x-run-id: " + other.run.encode(),
        b"x-stanchion-run: " + other.run.encode(),
        b"x-litellm-tags: other",
        b"x-request-id: chosen-by-the-caller",
        b"cookie: run=" + other.run.encode(),
    ]
    before = asyncio.run(broker.records(other.run))
    assert target.ask(*fields, body=body).status == 200
    (request,) = target.sink.taken()
    assert b"other" not in request.head
    assert other.run.encode() not in request.head
    assert b"chosen-by" not in request.head
    assert request.body == body
    assert asyncio.run(broker.records(other.run)) == before
    start = asyncio.run(broker.records(target.run))[-2]
    assert isinstance(start, ExchangeStart)
    assert {"user", "metadata"} <= set(start.asked.fields)


RELAXED = """
version = 1
[profiles.p]
allow_fields = ["store", "web_search"]
[profiles.p.accounts.a]
api = "openai_chat"
base_url = "http://127.0.0.1:{}/v1"
credential = "none"
"""


async def test_attack_15_a_profile_lets_through_what_it_names_and_says_so(sink: RawSink) -> None:
    with tempfile.TemporaryDirectory(prefix="st") as folder:
        root = Path(folder)
        (root / "stanchion.toml").write_text(RELAXED.format(sink.port))
        with live_broker(root, "--config", str(root / "stanchion.toml")) as broker:
            launch = order(profile="p", model=ModelRef(account="a", id="fx-coder-1"))
            launch = msgspec.structs.replace(launch, rehearsal=None)
            async with broker.client() as client:
                assert (await client.profile("p")).allow_fields == ("store", "web_search")
                run = await client.open_run(launch)
                ticket = await client.enrol(run.id)
            supervisor = Supervisor(Path(run.directory))
            enrolment = await supervisor.enrol(ticket.token, run.launch_sha256)
            assert isinstance(enrolment, Enrolled)
            target = Target(run.id, supervisor.directory, supervisor.lease, sink)
            chat = Dialect.OPENAI_CHAT
            for more, status in (
                ({"store": True}, 200),
                ({"web_search_options": {}, "enable_search": True}, 200),
                ({"store": True, "background": True}, 403),
                ({"n": 2}, 403),
            ):
                assert (await asyncio.to_thread(ask, target, chat, more)).status == status
            await supervisor.close()
            opened, *records = await broker.records(run.id)
    sent = [ORDINARY[chat].encoded({"store": True})]
    sent.append(ORDINARY[chat].encoded({"web_search_options": {}, "enable_search": True}))
    assert [request.body for request in sink.taken()] == sent
    assert isinstance(opened, RunOpen)
    assert opened.launch.allow_fields == ("store", "web_search")
    starts = [record for record in records if isinstance(record, ExchangeStart)]
    assert ["store" in start.asked.fields for start in starts] == [True, False]
