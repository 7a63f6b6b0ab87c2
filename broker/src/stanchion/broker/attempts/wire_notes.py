"""What an attempt puts on record, publishes and tells the supervisor about its model requests.

It orders the stops that follow from the wire: a difference from the terms, a refusal that no
further request mends, a pause that is too long, a spent budget. Receipts are durable before the
bytes that they speak of go on.
"""

import asyncio
from collections import deque
from collections.abc import Callable, MutableMapping
from dataclasses import dataclass, field

import msgspec

from stanchion.broker.attempts.custody import Custody
from stanchion.broker.attempts.spending import Room, Spending
from stanchion.broker.attempts.stating import stated, stated_request
from stanchion.broker.attempts.tally import Tally
from stanchion.broker.attempts.wire_fold import WireFold
from stanchion.broker.clock import mono_ms, wall_ms
from stanchion.broker.plane.model_socket import ModelRequest
from stanchion.broker.plane.pacing.pacer import Call
from stanchion.broker.plane.pacing.trips import trip_of
from stanchion.broker.plane.sending import Answer, Sendings
from stanchion.broker.plane.target import Target
from stanchion.protocol.codec import encode, encode_line
from stanchion.protocol.control import ExchangeSeen, FromBroker, StopOrder, WireEvent
from stanchion.protocol.events import (
    ExchangeAlive,
    ExchangeEnded,
    ExchangeHeld,
    ExchangeStarted,
    MismatchFound,
)
from stanchion.protocol.evidence import Stop, StopReason
from stanchion.protocol.exchange import Answered, Asked, ErrorClass, ExchangeResult, Mismatch
from stanchion.protocol.launch import LaunchSpec, Policy
from stanchion.protocol.receipt import ExchangeEnd, ExchangeStart, ExchangeTry, Mismatched

_WIRE = encode_line(WireEvent(event=ExchangeAlive(exchange=0))).replace(
    encode(ExchangeAlive(exchange=0)), b"%b"
)
MAX_MISSED = 1000
"""Messages kept for a supervisor whose connection is cut; the oldest go first."""


@dataclass(slots=True)
class _Holds:
    """The time that one request was held so far."""

    total_ms: int = 0
    since_ms: int | None = None

    def until(self, now_ms: int) -> int:
        return self.total_ms + (0 if self.since_ms is None else now_ms - self.since_ms)


@dataclass(slots=True, kw_only=True)
class WireNotes(Custody):
    """The notes of one attempt."""

    wire: WireFold = field(default_factory=WireFold)
    tally: Tally = field(default_factory=Tally)
    """Of all attempts."""
    tell: Callable[[FromBroker], None] | None = None
    """Sends to the supervisor, while its control connection stands."""
    numbers: int = 0
    """The number of the last model request."""
    calls: MutableMapping[str, Call] = field(default_factory=dict)
    """By body digest: calls that the harness may make again."""
    spec: LaunchSpec = field(init=False)
    """The frozen terms."""
    enforced: bool = field(init=False)
    """Whether a mismatch ends the attempt."""
    allow_fields: frozenset[str] = field(init=False)
    """Names of the field policy that the profile relaxes."""
    spending: Spending = field(init=False)
    _presented: "asyncio.Future[Target]" = field(
        default_factory=lambda: asyncio.get_running_loop().create_future()
    )
    _holds: dict[int, _Holds] = field(default_factory=dict)
    _settled: "asyncio.Future[None]" = field(
        default_factory=lambda: asyncio.get_running_loop().create_future()
    )
    _missed: deque[FromBroker] = field(default_factory=lambda: deque(maxlen=MAX_MISSED))

    def __post_init__(self) -> None:
        launch = self.terms.launch
        self.spec = launch.spec
        self.enforced = launch.policy is Policy.ENFORCE
        self.allow_fields = frozenset(launch.allow_fields)
        self.spending = Spending(self.spec.budget)

    @property
    def target(self) -> Target:
        """Where its requests go."""
        return self.terms.target or self._presented.result()

    def present(self, target: Target) -> None:
        """The launcher has presented the provider of its launch again."""
        if not self._presented.done():
            self._presented.set_result(target)

    @property
    def held_ms(self) -> int:
        """Time that requests were held, over all of them, until now."""
        now_ms = mono_ms()
        return self.wire.held_ms + sum(holds.until(now_ms) for holds in self._holds.values())

    # messages to the supervisor

    def send(self, message: FromBroker) -> None:
        """Tell the supervisor; what it misses while its connection is cut, it hears after."""
        if self.tell is not None:
            self.tell(message)
        elif self.leases.boot is not None and not _is_alive(message):
            self._missed.append(message)

    def line_of(self, message: FromBroker) -> bytes:
        """A message as a line; of an event that was just published the bytes are there already."""
        if self.encoded is None or not isinstance(message, WireEvent):
            return encode_line(message)
        event, data = self.encoded
        return _WIRE % data if message.event is event else encode_line(message)

    def catch_up(self) -> None:
        """Tell a supervisor that is back what it missed, and the stop order again."""
        missed, self._missed = list(self._missed), deque(maxlen=MAX_MISSED)
        for message in missed:
            self.send(message)
        if self.stop is not None:
            self.send(StopOrder(stop=self.stop))

    def order_stop(self, stop: Stop) -> None:
        """Have the supervisor stop the agent; the first order stands."""
        if self.stop is None:
            self.stop = stop
            self.remember()
            if self.tell is not None:
                self.tell(StopOrder(stop=stop))

    # one request, from its number to its end

    def next_exchange(self) -> int:
        """Numbers from 1; a request that is refused for its terms uses one up."""
        self.numbers += 1
        return self.numbers

    async def admit(self, number: int, asked: Asked) -> bool:
        """Whether the budget has room for the request; if not, the attempt ends."""
        while (room := self.spending.room) is Room.LATER and not self.revoked.done():
            await asyncio.wait({self._settled, self.revoked}, return_when=asyncio.FIRST_COMPLETED)
        if room is Room.SPENT:
            self.wire.budget_spent = self.spending.words
            self.order_stop(Stop(reason=StopReason.BUDGET, detail=self.spending.words))
            return False
        declared = self.spec.limits.output_tokens
        limit = asked.output_limit or (None if declared is None else declared.value)
        self.spending.start(number, output_limit=limit)
        return True

    async def note_mismatch(self, asked: Asked, mismatch: Mismatch) -> None:
        """Record, publish and, under enforce, stop."""
        self.wire.asked(asked)
        self.wire.differs(mismatch)
        if self.enforced:
            self.order_stop(self.stop_for(mismatch))
        self.publish(MismatchFound(mismatch=mismatch))
        await self.book.append(Mismatched, mismatch=mismatch, enforced=self.enforced)

    @staticmethod
    def stop_for(mismatch: Mismatch) -> Stop:
        """What a mismatch under enforce leads to."""
        detail = (
            f"request {mismatch.exchange}: {mismatch.field} declared {mismatch.declared}, "
            f"on the wire {mismatch.observed}"
        )
        return Stop(reason=StopReason.MISMATCH, detail=detail)

    async def note_start(
        self,
        number: int,
        asked: Asked,
        request: ModelRequest,
        *,
        side: str | None,
        sent: Asked | None = None,
        corrections: tuple[str, ...] = (),
    ) -> None:
        """Durable before the request leaves.

        `sent`: read from the very bytes that will leave, where corrections made them others than
        those that came. What was observed of the agent is what was sent.
        """
        before = self.calls.get(asked.body_sha256)
        call = number if before is None else before.number
        as_it_came, asked = asked, stated_request(asked, self.spec.dialect)
        changed = sent is not None and sent is not as_it_came
        sent = stated_request(sent, self.spec.dialect) if sent is not None and changed else asked
        said = msgspec.Raw(encode(asked))
        await self.book.append(
            ExchangeStart,
            written={"asked": said, "sent": msgspec.Raw(encode(sent)) if changed else said},
            exchange=number,
            asked=asked,
            sent=sent,
            corrections=corrections,
            route=request.route.value,
            session=request.session,
            side=side,
            call=call,
        )
        self.wire.started(number, sent, side=side, call=call, corrections=corrections)
        event = ExchangeStarted(exchange=number, asked=asked, side=side)
        self.publish(event, written={"asked": said})
        self.send(ExchangeSeen(exchange=number))

    def note_alive(self, number: int) -> None:
        """A stream moved on."""
        event = ExchangeAlive(exchange=number)
        self.publish(event)
        self.send(WireEvent(event=event))

    def note_held(self, number: int, *, holding: bool, why: str | None = None) -> None:
        """The pacer holds a request, or no longer: the supervisor's clocks stand still."""
        holds = self._holds.setdefault(number, _Holds())
        now_ms = mono_ms()
        holds.total_ms, holds.since_ms = holds.until(now_ms), now_ms if holding else None
        event = ExchangeHeld(exchange=number, holding=holding, why=why)
        self.publish(event)
        self.send(WireEvent(event=event))

    async def note_try(self, number: int, sending: int, answer: Answer, *, held_ms: int) -> None:
        """Durable before the next sending."""
        await self.book.append(
            ExchangeTry,
            exchange=number,
            number=sending,
            status=answer.answered.status,
            error_class=answer.answered.error_class,
            retry_after_ms=answer.retry_after_asked_ms,
            held_ms=held_ms,
            ambiguous=answer.answered.ambiguous,
        )
        self.wire.tried(number, ambiguous=answer.answered.ambiguous)
        self.spending.tried(number, ambiguous=answer.answered.ambiguous)
        self.tally.tried(self.terms.launch, answer.answered)

    async def note_end(
        self, number: int, answered: Answered, *, scrubbed: bool, sendings: Sendings
    ) -> None:
        """Durable before the terminal event goes back."""
        own = self.wire.ends_a_sending(number, sendings.tries)
        if not own:  # its time is that of the hold in which it ended
            answered = msgspec.structs.replace(answered, duration_ms=None)
        secure = self.terms.launch.account.tls
        answered = stated(answered, sent=sendings.tries > 0, secure=secure)
        written = {"answered": msgspec.Raw(encode(answered))}
        await self.book.append(
            ExchangeEnd,
            written=written,
            exchange=number,
            answered=answered,
            tries=sendings.tries,
            held_ms=sendings.held_ms,
            secret_scrubbed=scrubbed,
            gave_up=sendings.gave_up,
            retry_after_asked_ms=sendings.retry_after_asked_ms,
            retry_after_sent_ms=sendings.retry_after_sent_ms,
        )
        self._holds.pop(number, None)
        side = self.wire.side_of(number)
        self.wire.ended(
            number,
            answered,
            at_ms=wall_ms(),
            scrubbed=scrubbed,
            tries=sendings.tries,
            held_ms=sendings.held_ms,
            gave_up=sendings.gave_up is not None,
        )
        self.tally.ended(self.terms.launch, answered, sent=own, held_ms=sendings.held_ms)
        self._settle(number, answered, sent=own)
        event = ExchangeEnded(exchange=number, answered=answered, side=side)
        self.publish(event, written=written)
        self.send(WireEvent(event=event))
        self._stop_for(number, answered, sendings)

    def _settle(self, number: int, answered: Answered, *, sent: bool) -> None:
        self.spending.end(number, answered, sent=sent)
        settled = self._settled
        self._settled = settled.get_loop().create_future()
        settled.set_result(None)

    def _stop_for(self, number: int, answered: Answered, sendings: Sendings) -> None:
        """The stop that an end calls for, if it does; one that went well never does."""
        if answered.result is ExchangeResult.COMPLETED:
            return
        if sendings.gave_up is not None:
            detail = f"request {number}, {sendings.tries} tries: {sendings.gave_up}"
            self.order_stop(Stop(reason=StopReason.RATE_LIMITED, detail=detail))
        if answered.error_class is ErrorClass.LIMIT_REJECTED:
            self.order_stop(Stop(reason=StopReason.PROVIDER_REFUSED, detail=_rejected(self.spec)))
        self._stop_for_account(answered)

    def _stop_for_account(self, answered: Answered) -> None:
        turns = self.target.turns
        trip = trip_of(answered, profile=self.spec.profile, account=self.terms.launch.account)
        if trip is not None and answered.result is not ExchangeResult.NOT_SENT:
            turns.tripped(trip)
        failed = {ExchangeResult.NOT_SENT, ExchangeResult.PROVIDER_ERROR}
        if turns.trip is not None and answered.result in failed:
            self.order_stop(Stop(reason=StopReason.PROVIDER_REFUSED, detail=turns.trip.sentence))


def _rejected(spec: LaunchSpec) -> str:
    limit = spec.limits.output_tokens
    return (
        f"limit_rejected: the provider refuses an output limit of "
        f"{None if limit is None else limit.value}; declare a lower one with "
        f"--output-limit or output_limit in [profiles.{spec.profile}.models]"
    )


def _is_alive(message: FromBroker) -> bool:
    """A sign of life is stale by the time it could be told."""
    return isinstance(message, WireEvent) and isinstance(message.event, ExchangeAlive)
