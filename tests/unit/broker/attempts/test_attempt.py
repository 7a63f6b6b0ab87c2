"""An attempt over a real ledger in a temporary folder."""

import asyncio
import socket
from typing import cast

from fakes import receipts
from fakes.supervisor import Supervisor
from stanchion.broker.attempts.attempt import MAX_DENIALS, Attempt
from stanchion.broker.attempts.control_socket import serve_control
from stanchion.broker.attempts.custody import Standing
from stanchion.broker.attempts.leases import Grant
from stanchion.broker.plane.http_gate import Route
from stanchion.broker.plane.model_socket import ModelConnection, ModelRequest
from stanchion.broker.receipts.bundle import Verified, verify
from stanchion.protocol.codec import decode, encode_line
from stanchion.protocol.control import (
    Enrol,
    Enrolled,
    ExchangeSeen,
    FromBroker,
    Publish,
    Refused,
    StopOrder,
    WireEvent,
)
from stanchion.protocol.events import Envelope, ExchangeAlive, ExchangeHeld, Warned
from stanchion.protocol.evidence import Stop, StopReason
from stanchion.protocol.exchange import FactStatus
from stanchion.protocol.receipt import Denied, ExchangeStart, TokenIssued


def records(attempt: Attempt) -> list[object]:
    found = verify(attempt.book.bundle())
    assert isinstance(found, Verified), found
    return list(found.records)


async def test_tokens_are_on_record_by_their_digest_alone(attempt: Attempt) -> None:
    token = await attempt.enrol_token(by="uid 1")
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


async def test_a_request_is_under_way_until_it_has_its_end(attempt: Attempt) -> None:
    store = attempt.ledger.store
    seen: list[int] = []

    class Down:
        def refuse(self, *_: object) -> None:
            seen.append(store.under_way)
            raise OSError("gone")

        def abort(self) -> None:
            seen.append(store.under_way)

    attempt.order_stop(Stop(reason=StopReason.MISMATCH, detail="first"))
    request = ModelRequest(Route.CHAT, (), None, b"{}")
    await attempt.serve(request, cast("ModelConnection", Down()))
    assert (seen, store.under_way) == ([1, 1], 0)


async def test_nothing_follows_the_close_whoever_says_it(attempt: Attempt) -> None:
    """Not the broker, and not a supervisor that is still connected."""
    token = await attempt.enrol_token(by="uid 1")
    ours, theirs = socket.socketpair()
    served = asyncio.create_task(serve(attempt, ours))  # noqa: TID251 - awaited below
    supervisor = Supervisor(attempt.terms.directory)
    await supervisor.connect(theirs)
    await supervisor.send(
        Enrol(protocol=1, token=str(token), boot="b", spec_sha256=attempt.terms.launch_sha256)
    )
    await supervisor.hear_of(Enrolled)
    last = attempt.publish(Warned(what="last", detail=""))
    attempt.sealed = True
    assert attempt.publish(Warned(what="late", detail="")) == last
    event = Warned(what="later", detail="")
    envelope = Envelope(seq=1, boot="b", mono_ms=1, wall_ms=1, event=event)
    await supervisor.send(Publish(envelope=envelope))
    assert (await supervisor.hear_of(Refused)).why == "the attempt is closed"
    await served
    await supervisor.close()
    await attempt.ledger.events.flushed(last)
    entries, _ = await attempt.ledger.events.page(attempt.terms.id, None)
    assert [entry.cursor for entry in entries] == [last]


async def serve(attempt: Attempt, ours: socket.socket) -> None:
    reader, writer = await asyncio.open_unix_connection(sock=ours)
    await serve_control(attempt, reader, writer)


async def test_where_it_stands_is_stored_before_it_counts(attempt: Attempt) -> None:
    store, name = attempt.ledger.store, attempt.terms.id

    def standing() -> Standing:
        stored = store.standing(name)
        assert stored is not None
        return decode(stored, Standing)

    token = await attempt.enrol_token(by="uid 1")
    assert standing().leases.enrol is not None
    grant = await attempt.enrol(str(token), "boot")
    assert isinstance(grant, Grant)
    assert (standing().leases.boot, standing().leases.generation) == ("boot", 1)
    assert grant.token not in str(store.standing(name))
    await attempt.cancel(by="uid 1")
    kept = standing()
    assert kept.cancelled
    assert kept.stop is not None
    assert kept.stop.reason is StopReason.CANCELLED
    assert kept.leases.revoked == "cancelled by uid 1"


async def test_what_counts_as_observed_is_what_was_sent_and_both_are_on_record(
    attempt: Attempt,
) -> None:
    """A declared correction made the request that left another than the one that came."""
    asked = receipts.asked(model="fx-coder-1", limit=None)
    sent = receipts.asked(model="fx-coder-1", limit=128_000)
    request = ModelRequest(route=Route.CHAT, forwarded=(), session=None, body=b"{}")
    await attempt.note_start(1, asked, request, side=None, sent=sent, corrections=("max_tokens",))
    (start,) = (record for record in records(attempt) if isinstance(record, ExchangeStart))
    assert (start.asked.output_limit, start.sent.output_limit) == (None, 128_000)
    assert start.corrections == ("max_tokens",)
    facts = start.asked.facts["output_limit"], start.sent.facts["output_limit"]
    assert facts == (FactStatus.NOT_REPORTED, FactStatus.OBSERVED)
    assert attempt.wire.limits == [128_000]


async def test_what_was_published_is_told_in_the_same_bytes(attempt: Attempt) -> None:
    """Encoded once; as a line it is what the codec would have made of it."""
    held = ExchangeHeld(exchange=1, holding=True, why="100% of it")
    alive = ExchangeAlive(exchange=7)
    assert attempt.line_of(WireEvent(event=held)) == encode_line(WireEvent(event=held))
    attempt.publish(held)
    told = attempt.line_of(WireEvent(event=held))
    assert told == encode_line(WireEvent(event=held))
    assert attempt.line_of(WireEvent(event=alive)) == encode_line(WireEvent(event=alive))
    assert attempt.line_of(ExchangeSeen(exchange=2)) == encode_line(ExchangeSeen(exchange=2))
