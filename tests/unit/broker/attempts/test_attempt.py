"""An attempt over a real ledger in a temporary folder."""

from stanchion.broker.attempts.attempt import MAX_DENIALS, Attempt
from stanchion.broker.attempts.leases import Grant
from stanchion.broker.plane.http_gate import Route
from stanchion.broker.receipts.bundle import Verified, verify
from stanchion.protocol.control import FromBroker, StopOrder
from stanchion.protocol.evidence import Stop, StopReason
from stanchion.protocol.receipt import Denied, TokenIssued


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
