"""Closes an attempt: host facts in, evidence together, verdict, last receipts, signed close.

Once. It waits, bounded, until the control connection is drained and no exchange is under way, so
that the close never runs ahead of what it closes.
"""

import asyncio
import contextlib

from stanchion.broker.attempts.attempt import Attempt
from stanchion.broker.attempts.verdict import Verdict, decide
from stanchion.protocol.call_match import NO_CONVERSATION, CallMatch, match_calls, not_compared
from stanchion.protocol.codec import digest
from stanchion.protocol.events import AssertedBy, HostReported, RunClosed
from stanchion.protocol.evidence import Evidence, HostFacts
from stanchion.protocol.receipt import ClaimRecorded, HostRecorded

DRAIN_S = 5.0


async def close_attempt(attempt: Attempt, host: HostFacts) -> Verdict:
    """Decide and seal; the caller makes sure that it happens once."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(DRAIN_S):
            await attempt.control_free.wait()
    await attempt.revoke("the sandbox is gone")
    await attempt.settle(DRAIN_S)
    attempt.closed = True
    verdict = decide(
        evidence_of(attempt, host),
        attempt.story.verifier,
        untouched_reward=attempt.terms.untouched_reward,
    )
    await _seal(attempt, host, verdict)
    return verdict


def evidence_of(attempt: Attempt, host: HostFacts) -> Evidence:
    """All of it, by who asserts it."""
    spec = attempt.spec
    return Evidence(
        cancelled=attempt.cancelled,
        claim=attempt.story.claim,
        ordered=attempt.stop,
        host=host,
        wire=attempt.wire.facts(enforced=attempt.enforced),
        model_asked=spec.model.id,
        effort_declared=spec.effort.word is not None or spec.budget.requests == 0,
        isolation_asked=spec.sandbox.isolation,
        answers_declared=spec.workspace.answers is not None,
        model_expected=spec.budget.requests != 0,
        calls=_calls(attempt),
    )


def _calls(attempt: Attempt) -> CallMatch:
    if not attempt.story.said_anything:
        return not_compared(NO_CONVERSATION)
    saved = attempt.story.saved_calls
    if saved is None or attempt.wire.more_calls:
        return not_compared("there were more than are remembered")
    return match_calls(attempt.wire.sent_calls, saved)


async def _seal(attempt: Attempt, host: HostFacts, verdict: Verdict) -> None:
    """What of it a former broker put on record already is not said again."""
    told, book = attempt.told_before, attempt.book
    if "host event" not in told:
        attempt.publish(HostReported(host=host), AssertedBy.HOST)
    claim = attempt.story.claim
    if claim is not None and "claim" not in told:
        await book.append(ClaimRecorded, asserted_by=AssertedBy.SANDBOX, claim_sha256=digest(claim))
    if "host" not in told:
        await book.append(HostRecorded, asserted_by=AssertedBy.HOST, host=host)
    if not book.closed:
        await book.close(
            reason=verdict.outcome.reason,
            detail=verdict.outcome.detail,
            flags=tuple(verdict.outcome.flags),
            grade=verdict.graded.grade,
            score=verdict.score_text,
            reward_sha256=verdict.reward_sha256,
        )
    if "close event" not in told:
        closing = RunClosed(
            outcome=verdict.outcome,
            graded=verdict.graded,
            score=verdict.score,
            head=book.head,
        )
        cursor = attempt.publish(closing)
        attempt.sealed = True
        await attempt.ledger.events.flushed(cursor)
    attempt.sealed = True
