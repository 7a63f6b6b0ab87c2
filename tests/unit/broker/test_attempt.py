"""An attempt over a real ledger in a temporary folder."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from fakes.launches import spec
from stanchion.broker.attempt import MAX_DENIALS, Attempt, Terms
from stanchion.broker.bundle import Verified, verify
from stanchion.broker.http_gate import Route
from stanchion.broker.leases import Grant
from stanchion.broker.ledger import Ledger
from stanchion.broker.tasks import Tasks
from stanchion.broker.upstream import Target
from stanchion.broker.views import view_of
from stanchion.protocol.codec import digest
from stanchion.protocol.control import FromBroker, StopOrder
from stanchion.protocol.dialects import Dialect
from stanchion.protocol.evidence import Stop, StopReason
from stanchion.protocol.launch import AccountRef, FrozenLaunch
from stanchion.protocol.receipt import Denied, RunOpen, TokenIssued

ACCOUNT = AccountRef(
    name="rehearsal",
    dialect=Dialect.OPENAI_CHAT,
    base_url="http://127.0.0.1:1/v1",
    tls=False,
    credential="rehearsal",
    fingerprint=None,
)


@pytest.fixture
async def attempt(tmp_path: Path) -> AsyncIterator[Attempt]:
    ledger = await Ledger.open(tmp_path)
    launch = FrozenLaunch(spec=spec(), account=ACCOUNT)
    book = await ledger.begin("7f3a90c41b22.1")
    await book.append(
        RunOpen,
        nonce="n",
        launch=launch,
        launch_sha256=digest(launch),
        broker_version="0",
        rehearsal_port=None,
    )
    async with asyncio.TaskGroup() as group:
        yield Attempt(
            terms=Terms(
                id="7f3a90c41b22.1",
                launch=launch,
                launch_sha256=digest(launch),
                directory=tmp_path,
                opened_at_ms=5,
                untouched_reward="0",
                target=Target(host="h", port=1, authority="h", path="", tls=None, key=None),
            ),
            ledger=ledger,
            book=book,
            tasks=Tasks(group),
        )
    await ledger.aclose()


def records(attempt: Attempt) -> list[object]:
    found = verify(attempt.book.bundle())
    assert isinstance(found, Verified), found
    return list(found.records)


async def test_tokens_are_on_record_by_their_digest_alone(attempt: Attempt) -> None:
    token = await attempt.enrol_token()
    grant = await attempt.enrol(str(token), "boot")
    assert isinstance(grant, Grant)
    renewed = await attempt.renew(1)
    assert isinstance(renewed, Grant)
    await attempt.revoke("over")
    tokens = [record for record in records(attempt) if isinstance(record, TokenIssued)]
    assert [record.what for record in tokens] == ["enrol_issued", "enrolled", "renewed", "revoked"]
    bundle = attempt.book.bundle()
    for text in (str(token), grant.token, renewed.token):
        assert text.encode() not in bundle


async def test_the_first_stop_order_stands(attempt: Attempt) -> None:
    told: list[FromBroker] = []
    attempt.tell = told.append
    first = Stop(reason=StopReason.MISMATCH, detail="first")
    attempt.order_stop(first)
    attempt.order_stop(Stop(reason=StopReason.CANCELLED, detail="second"))
    assert told == [StopOrder(stop=first)]
    assert attempt.stopping


async def test_a_flood_of_refusals_does_not_fill_the_record(attempt: Attempt) -> None:
    for _ in range(MAX_DENIALS + 50):
        attempt.denied("unauthorized")
    await attempt.settle(20)
    denied = [record for record in records(attempt) if isinstance(record, Denied)]
    assert len(denied) == MAX_DENIALS


async def test_local_answers_name_the_declared_model(attempt: Attempt) -> None:
    assert b'"fx-coder-1"' in attempt.local_answer(Route.MODELS)
    assert attempt.local_answer(Route.PROBE) == b"{}"


async def test_the_view_of_a_fresh_attempt_knows_little(attempt: Attempt) -> None:
    view = view_of(attempt, closed_at_ms=None, verdict=None)
    assert (view.state, view.exchanges, view.first_response_ms) == ("open", 0, None)
    assert (view.limits.declared, view.limits.source) == (128_000, "default")
    assert (view.limits.written, view.limits.observed) == (None, ())
    assert (view.effort.requested, view.effort.observed) == ("max", ())
    assert (view.reasoning_present, view.usage.output_tokens) == (None, None)
    assert (view.isolation, view.outcome, view.score) == (None, None, None)
    assert view.head == attempt.book.head
