"""Takes an open attempt over from a broker that is gone.

Receipts say what was on the wire, events what the sandbox told, the store who holds the lease and
which stop was ordered. A request that was under way gets an end that says so. It never makes up
what nobody recorded, and an account that is not the frozen one any more is not used.
"""

from dataclasses import dataclass
from pathlib import Path

from stanchion.broker.accounts import Accounts
from stanchion.broker.attempts.attempt import Attempt, Terms
from stanchion.broker.attempts.custody import Standing
from stanchion.broker.attempts.leases import Leases
from stanchion.broker.attempts.replaying import Begun, Replayed, interrupted, replay
from stanchion.broker.attempts.sandbox_story import SandboxStory
from stanchion.broker.attempts.tally import Tally
from stanchion.broker.clock import mono_ms, wall_ms
from stanchion.broker.config import Config
from stanchion.broker.plane.target import Target
from stanchion.broker.receipts.ledger import Ledger, LedgerError
from stanchion.broker.receipts.store import RunRow
from stanchion.broker.tasks import Tasks
from stanchion.protocol.admin import OpenRun, Rehearsal
from stanchion.protocol.codec import PROTOCOL_VERSION, decode
from stanchion.protocol.control import ExchangeSeen, WireEvent
from stanchion.protocol.events import (
    AssertedBy,
    ExchangeEnded,
    HostReported,
    RunClosed,
    RunOpened,
    decode_event,
)
from stanchion.protocol.evidence import HostFacts, Stop, StopReason
from stanchion.protocol.exchange import Answered
from stanchion.protocol.ids import parse_attempt_id, split_attempt_id
from stanchion.protocol.launch import FrozenLaunch
from stanchion.protocol.receipt import ExchangeEnd, RunOpen
from stanchion.protocol.refusal import RefusedError, refuse

TOLD_AGAIN = 256
"""Ends of requests that the supervisor may not have heard of."""


@dataclass(frozen=True, slots=True)
class Restored:
    """An attempt as it goes on."""

    attempt: Attempt
    host: HostFacts | None
    """On record already: only its close is missing."""
    closed_at_ms: int | None
    """Its receipts are closed already."""


@dataclass(frozen=True, slots=True)
class Origin:
    """Where attempts are restored from."""

    config: Config
    accounts: Accounts
    ledger: Ledger
    tasks: Tasks
    tally: Tally


async def restore(row: RunRow, origin: Origin) -> Restored:
    """The attempt of this row. LedgerError: its receipts cannot be gone on with."""
    ledger = origin.ledger
    launch = decode(row.launch, FrozenLaunch)
    book, records = await ledger.resume(row.attempt_id)
    so_far = replay(records, launch.spec)
    if so_far.opening is None:
        raise LedgerError(f"attempt {row.attempt_id} has no terms on record")
    stored = ledger.store.standing(row.attempt_id)
    standing = Standing() if stored is None else decode(stored, Standing)
    target, lost = _target(row, launch, so_far.opening, origin)
    attempt = Attempt(
        terms=Terms(
            id=row.attempt_id,
            launch=launch,
            launch_sha256=row.launch_sha256,
            directory=Path(row.directory),
            opened_at_ms=row.opened_at_ms,
            untouched_reward=row.untouched_reward,
            target=target,
        ),
        ledger=ledger,
        book=book,
        tasks=origin.tasks,
        leases=Leases.restored(standing.leases, mono_ms(), wall_ms()),
        cancelled=standing.cancelled,
        stop=standing.stop,
        wire=so_far.wire,
        tally=origin.tally,
        numbers=so_far.numbers,
        denials=so_far.denials,
        start_recorded=so_far.start_recorded,
        told_before=await _read_events(row.attempt_id, ledger, story := SandboxStory(), so_far),
        story=story,
    )
    attempt.spending = so_far.spending
    if standing.stop is not None and standing.stop.reason is StopReason.BUDGET:
        attempt.wire.budget_spent = standing.stop.detail
    if attempt.leases.revoked is not None:
        attempt.revoked.set_result(None)
    if "open event" not in attempt.told_before:
        attempt.publish(RunOpened(spec_sha256=row.launch_sha256))
    if so_far.close is None:
        await _go_on(attempt, so_far, lost)
    return Restored(
        attempt=attempt,
        host=so_far.host,
        closed_at_ms=None if so_far.close is None else so_far.close.at_ms,
    )


def present(attempt: Attempt, rehearsal: Rehearsal, origin: Origin) -> None:
    """The launcher's provider again; RefusedError where it is not the one of the launch."""
    if attempt.terms.target is not None:
        return
    launch = attempt.terms.launch
    account = origin.config.profiles[launch.spec.profile].accounts[launch.account.name]
    order = _order(attempt.terms.id, launch, attempt.terms.untouched_reward, rehearsal)
    reference, target = origin.accounts.resolve(order, account)
    if reference != launch.account:
        raise refuse(
            "rehearsal_differs",
            field="rehearsal",
            value=None,
            rule="it is the provider that the attempt was opened with: the same port and key",
            remedy="Present that one, or open another attempt",
        )
    attempt.present(target)


async def _read_events(
    name: str, ledger: Ledger, story: SandboxStory, so_far: Replayed
) -> frozenset[str]:
    """Have the story told again; what of opening and close is on record, receipts and events."""
    told = {"claim"} if so_far.claim_recorded else set()
    told |= {"host"} if so_far.host is not None else set()
    cursor = None
    while True:
        entries, after = await ledger.events.page(name, cursor)
        for entry in entries:
            event = decode_event(entry.event)
            if entry.asserted_by is not AssertedBy.BROKER:
                story.tell(event, at_ms=entry.at_ms)
            if isinstance(event, HostReported) and entry.asserted_by is AssertedBy.HOST:
                told.add("host event")
            if isinstance(event, RunOpened) and entry.asserted_by is AssertedBy.BROKER:
                told.add("open event")
            if isinstance(event, RunClosed) and entry.asserted_by is AssertedBy.BROKER:
                told.add("close event")
        if not entries:
            story.last_seq = ledger.events.last_source_seq(name)
            return frozenset(told)
        cursor = after


def _target(
    row: RunRow, launch: FrozenLaunch, opening: RunOpen, origin: Origin
) -> tuple[Target | None, str | None]:
    """Where its requests go; None with a reason = nowhere, without one = to be presented again."""
    if opening.rehearsal_port is not None:
        return None, None
    spec = launch.spec
    name = f"account {launch.account.name} of profile {spec.profile}"
    profile = origin.config.profiles.get(spec.profile)
    account = None if profile is None else profile.accounts.get(launch.account.name)
    if account is None:
        return None, f"the broker was started again without {name}"
    order = _order(row.attempt_id, launch, row.untouched_reward, None)
    try:
        reference, target = origin.accounts.resolve(order, account)
    except RefusedError as error:
        return None, f"the broker was started again and cannot use {name}: {error}"
    if reference != launch.account:
        return None, f"the broker was started again with another address or key for {name}"
    return target, None


def _order(
    name: str, launch: FrozenLaunch, untouched_reward: str, rehearsal: Rehearsal | None
) -> OpenRun:
    run, number = split_attempt_id(parse_attempt_id(name))
    return OpenRun(
        protocol=PROTOCOL_VERSION,
        run=run,
        attempt=number,
        spec=launch.spec,
        untouched_reward=untouched_reward,
        rehearsal=rehearsal,
    )


async def _go_on(attempt: Attempt, so_far: Replayed, lost: str | None) -> None:
    """Put on record what the former broker could not."""
    for number, begun in so_far.begun.items():
        so_far.ended[number] = await _interrupt(attempt, number, begun)
    for number in sorted(so_far.ended)[-TOLD_AGAIN:]:
        attempt.send(ExchangeSeen(exchange=number))
        ended = ExchangeEnded(
            exchange=number, answered=so_far.ended[number], side=so_far.sides.get(number)
        )
        attempt.send(WireEvent(event=ended))
    await attempt.act_on_story()
    mismatch = attempt.wire.mismatch
    if mismatch is not None and attempt.enforced:
        attempt.order_stop(attempt.stop_for(mismatch))
    if lost is not None and attempt.leases.revoked is None:
        attempt.order_stop(Stop(reason=StopReason.BROKER_LOST, detail=lost))
    if attempt.cancelled:
        await attempt.cancel(by="whoever asked the former broker")


async def _interrupt(attempt: Attempt, number: int, begun: Begun) -> Answered:
    answered = interrupted(secure=attempt.terms.launch.account.tls)
    await attempt.book.append(
        ExchangeEnd,
        exchange=number,
        answered=answered,
        tries=begun.tries,
        held_ms=begun.held_ms,
        secret_scrubbed=False,
    )
    attempt.wire.ended(
        number,
        answered,
        at_ms=wall_ms(),
        scrubbed=False,
        tries=begun.tries,
        held_ms=begun.held_ms,
    )
    attempt.spending.end(number, answered)
    attempt.tally.ended(attempt.terms.launch, answered, sent=True, held_ms=begun.held_ms)
    attempt.publish(ExchangeEnded(exchange=number, answered=answered, side=begun.side))
    return answered
