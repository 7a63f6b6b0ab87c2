"""Tokens and orders of an attempt over a real ledger in a temporary folder."""

from stanchion.broker.attempts.attempt import Attempt
from stanchion.broker.attempts.custody import Standing
from stanchion.broker.attempts.leases import Grant, LeaseError
from stanchion.broker.receipts.bundle import Verified, verify
from stanchion.protocol.codec import decode
from stanchion.protocol.events import Warned
from stanchion.protocol.receipt import Denied


def security_notes(attempt: Attempt) -> list[str]:
    found = verify(attempt.book.bundle())
    assert isinstance(found, Verified), found
    return [record.why for record in found.records if isinstance(record, Denied)]


async def enrolled(attempt: Attempt) -> Grant:
    grant = await attempt.enrol(str(await attempt.enrol_token(by="uid 1")), "boot-1")
    assert isinstance(grant, Grant)
    return grant


async def test_a_second_redemption_is_refused_and_on_record(attempt: Attempt) -> None:
    token = str(await attempt.enrol_token(by="uid 1"))
    assert isinstance(await attempt.enrol(token, "boot-1"), Grant)
    assert isinstance(await attempt.enrol(token, "boot-2"), LeaseError)
    (note,) = security_notes(attempt)
    assert note.startswith("security: enrol_refused")


async def test_two_holders_of_a_lease_end_it(attempt: Attempt) -> None:
    await enrolled(attempt)
    assert isinstance(await attempt.renew(1), Grant)
    assert await attempt.renew(1) is LeaseError.STALE_GENERATION
    assert attempt.revoked.done()
    assert any(note.startswith("security: lease_forked") for note in security_notes(attempt))


async def test_where_it_stands_is_stored_without_any_token(attempt: Attempt) -> None:
    grant = await enrolled(attempt)
    await attempt.cancel(by="uid 1")
    await attempt.remember()
    stored = attempt.ledger.store.standing(attempt.terms.id)
    assert stored is not None
    assert grant.token.encode() not in stored
    standing = decode(stored, Standing)
    assert standing.cancelled
    assert standing.stop == attempt.stop


async def test_nothing_follows_the_last_event(attempt: Attempt) -> None:
    last = attempt.publish(Warned(what="w", detail="the last one"))
    attempt.sealed = True
    assert attempt.publish(Warned(what="w", detail="too late")) == last
