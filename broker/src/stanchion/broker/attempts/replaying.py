"""Folds the receipts of an attempt into what its broker knew of the wire. Pure.

It reads what is on record and nothing else, so that a broker that takes an attempt over decides as
the one before it would have.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

from stanchion.broker.attempts.spending import Spending
from stanchion.broker.attempts.stating import stated
from stanchion.broker.attempts.wire_fold import WireFold
from stanchion.protocol.evidence import HostFacts
from stanchion.protocol.exchange import Answered, ExchangeResult, Mismatch
from stanchion.protocol.launch import LaunchSpec
from stanchion.protocol.receipt import (
    ClaimRecorded,
    Denied,
    ExchangeEnd,
    ExchangeStart,
    ExchangeTry,
    HostRecorded,
    Mismatched,
    Record,
    RunClose,
    RunOpen,
    RunStarted,
)

SECURITY = "security: "
"""How a breach of the rules begins among the denials."""


@dataclass(slots=True)
class Begun:
    """A request with a start and, so far, no end."""

    side: str | None = None
    tries: int = 1
    held_ms: int = 0


@dataclass(slots=True)
class Replayed:
    """What the records say."""

    wire: WireFold
    spending: Spending
    opening: RunOpen | None = None
    numbers: int = 0
    denials: int = 0
    start_recorded: bool = False
    claim_recorded: bool = False
    host: HostFacts | None = None
    close: RunClose | None = None
    begun: dict[int, Begun] = field(default_factory=dict)
    ended: dict[int, Answered] = field(default_factory=dict)
    sides: dict[int, str] = field(default_factory=dict)
    """Names of the side requests among them."""


def replay(records: Iterable[Record], spec: LaunchSpec) -> Replayed:
    """From the first record to the last."""
    so_far = Replayed(WireFold(), Spending(spec.budget))
    for record in records:
        match record:
            case ExchangeStart() | ExchangeTry() | ExchangeEnd() | Mismatched():
                _wire(so_far, record, spec)
            case _:
                _life(so_far, record)
    return so_far


def _wire(
    so_far: Replayed,
    record: ExchangeStart | ExchangeTry | ExchangeEnd | Mismatched,
    spec: LaunchSpec,
) -> None:
    match record:
        case ExchangeStart(exchange=number, sent=sent, side=side):
            so_far.wire.started(
                number, sent, side=side, call=record.call, corrections=record.corrections
            )
            declared = spec.limits.output_tokens
            limit = sent.output_limit or (None if declared is None else declared.value)
            so_far.spending.start(number, output_limit=limit)
            so_far.begun[number] = Begun(side)
            if side is not None:
                so_far.sides[number] = side
            so_far.numbers = max(so_far.numbers, number)
        case ExchangeTry(exchange=number, number=sending, held_ms=held_ms):
            so_far.wire.tried(number, ambiguous=record.ambiguous)
            so_far.spending.tried(number, ambiguous=record.ambiguous)
            so_far.begun[number] = Begun(so_far.sides.get(number), sending + 1, held_ms)
        case ExchangeEnd(exchange=number, answered=answered):
            own = so_far.wire.ends_a_sending(number, record.tries)
            so_far.wire.ended(
                number,
                answered,
                at_ms=record.at_ms,
                scrubbed=record.secret_scrubbed,
                tries=record.tries,
                held_ms=record.held_ms,
                gave_up=record.gave_up is not None,
            )
            so_far.spending.end(number, answered, sent=own)
            so_far.begun.pop(number, None)
            so_far.ended[number] = answered
        case Mismatched(mismatch=mismatch):
            so_far.wire.differs(mismatch)
            if record.enforced:
                _refused(so_far.wire, mismatch)
            so_far.numbers = max(so_far.numbers, mismatch.exchange)


def _refused(wire: WireFold, mismatch: Mismatch) -> None:
    """A request that was not sent has no start: its one differing word is all there is of it."""
    observed = mismatch.observed
    if mismatch.field == "output_limit":
        limit = int(observed) if observed is not None and observed.isdecimal() else None
        if limit not in wire.limits:
            wire.limits.append(limit)
    elif mismatch.field == "effort" and observed not in wire.efforts:
        wire.efforts.append(observed)


def _life(so_far: Replayed, record: Record) -> None:
    match record:
        case RunOpen():
            so_far.opening = record
        case Denied(why=why):
            so_far.denials += not why.startswith(SECURITY)
        case RunStarted():
            so_far.start_recorded = True
        case ClaimRecorded():
            so_far.claim_recorded = True
        case HostRecorded(host=host):
            so_far.host = host
        case RunClose():
            so_far.close = record
        case _:
            pass


def interrupted(*, secure: bool) -> Answered:
    """The end of a request that the broker did not live to see."""
    answered = Answered(
        result=ExchangeResult.INTERRUPTED,
        usage_why="the broker went away while the request was under way",
    )
    return stated(answered, sent=True, secure=secure)
