"""The live state of one attempt: who may ask, what was asked, what came back, how it closes.

The hinge between the sockets, the receipts and the merged event stream. It decides when the lease
ends and when a stop is ordered; outcome and score come from the protocol's rules alone.
"""

import asyncio
import os
from collections import deque
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from pathlib import Path

from stanchion.broker.attempts.leases import Grant, LeaseError, Leases, token_digest
from stanchion.broker.attempts.sandbox_story import SandboxStory
from stanchion.broker.attempts.wire_fold import WireFold
from stanchion.broker.clock import mono_ms, wall_ms
from stanchion.broker.plane import exchange
from stanchion.broker.plane.http_gate import Route
from stanchion.broker.plane.model_socket import ModelConnection, ModelRequest
from stanchion.broker.plane.relay import Flow
from stanchion.broker.plane.replies import constant_reply, models_reply
from stanchion.broker.plane.upstream import Target
from stanchion.broker.receipts.ledger import Book, Ledger, LedgerError
from stanchion.broker.tasks import Tasks, log_failure
from stanchion.protocol.codec import encode
from stanchion.protocol.control import ExchangeSeen, FromBroker, StopOrder, WireEvent
from stanchion.protocol.events import (
    AssertedBy,
    Event,
    ExchangeAlive,
    ExchangeEnded,
    ExchangeStarted,
    HarnessEnded,
    HarnessStarted,
    MismatchFound,
    RequestDenied,
    SecurityNoted,
    decode_event,
)
from stanchion.protocol.evidence import Stop, StopReason
from stanchion.protocol.exchange import Answered, Asked, ErrorClass, Mismatch
from stanchion.protocol.launch import FrozenLaunch, LaunchSpec, Policy
from stanchion.protocol.receipt import (
    Denied,
    ExchangeEnd,
    ExchangeStart,
    Mismatched,
    RunStarted,
    TokenIssued,
)

MAX_DENIALS = 1000
"""Refusals on record per attempt: the sandbox must not be able to fill the disk with them."""
MAX_MISSED = 1000
"""Messages kept for a supervisor whose connection is cut; the oldest go first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """What an attempt is, fixed when it was opened."""

    id: str
    launch: FrozenLaunch
    launch_sha256: str
    directory: Path
    opened_at_ms: int
    untouched_reward: str
    target: Target


@dataclass(slots=True, kw_only=True)
class Attempt:
    """One open attempt."""

    terms: Terms
    ledger: Ledger
    book: Book
    tasks: Tasks
    leases: Leases = field(default_factory=Leases)
    wire: WireFold = field(default_factory=WireFold)
    story: SandboxStory = field(default_factory=SandboxStory)
    cancelled: bool = False
    stop: Stop | None = None
    closed: bool = False
    """No further receipt but those of the close."""
    sealed: bool = False
    """Its last event is in the stream."""
    connections: int = 0
    flows: set[Flow] = field(default_factory=set)
    tell: Callable[[FromBroker], None] | None = None
    """Sends to the supervisor, while its control connection stands."""
    revoked: "asyncio.Future[None]" = field(
        default_factory=lambda: asyncio.get_running_loop().create_future()
    )
    control_free: asyncio.Event = field(default_factory=asyncio.Event)
    """Set while no control connection is being read."""
    _running: set["asyncio.Task[None]"] = field(default_factory=set)
    _numbers: int = 0
    _denials: int = 0
    _last_cursor: str | None = None
    """Of the supervisor's last event."""
    _missed: deque[FromBroker] = field(default_factory=lambda: deque(maxlen=MAX_MISSED))

    def __post_init__(self) -> None:
        self.control_free.set()

    @property
    def spec(self) -> LaunchSpec:
        """The frozen terms."""
        return self.terms.launch.spec

    @property
    def enforced(self) -> bool:
        """Whether a mismatch ends the attempt."""
        return self.terms.launch.policy is Policy.ENFORCE

    @property
    def target(self) -> Target:
        """Where its requests go."""
        return self.terms.target

    @property
    def stopping(self) -> bool:
        """Whether no further request is served."""
        return self.stop is not None or self.closed or self.revoked.done()

    # events and messages

    def publish(self, event: Event, asserted_by: AssertedBy = AssertedBy.BROKER) -> str:
        """Append one event to the merged stream; returns its cursor."""
        return self.ledger.events.append(self.terms.id, asserted_by, encode(event), wall_ms())

    def send(self, message: FromBroker) -> None:
        """Tell the supervisor; what it misses while its connection is cut, it hears after."""
        if self.tell is not None:
            self.tell(message)
        elif self.leases.boot is not None and not _is_alive(message):
            self._missed.append(message)

    def catch_up(self) -> None:
        """Tell a supervisor that is back what it missed, and the stop order again."""
        missed, self._missed = list(self._missed), deque(maxlen=MAX_MISSED)
        for message in missed:
            self.send(message)
        if self.stop is not None:
            self.send(StopOrder(stop=self.stop))

    async def take_from_sandbox(self, event: bytes) -> str:
        """One event of the supervisor, byte for byte; acts on those that concern the lease."""
        cursor = self.ledger.events.append(self.terms.id, AssertedBy.SANDBOX, event, wall_ms())
        self._last_cursor = cursor
        told = decode_event(event)
        self.story.tell(told)
        if isinstance(told, HarnessStarted):
            await self._record_start()
        elif isinstance(told, HarnessEnded):
            await self.revoke("the harness ended")
        return cursor

    async def _record_start(self) -> None:
        written = self.story.written
        await self.book.append(
            RunStarted,
            asserted_by=AssertedBy.SANDBOX,
            isolation=self.story.isolation or "unknown",
            checks=self.story.checks,
            written_model=None if written is None else written.model,
            written_output_limit=None if written is None else written.output_limit,
            written_effort=None if written is None else written.effort,
        )

    # tokens

    async def enrol_token(self) -> str | LeaseError:
        """A new single-use token, on record."""
        token = self.leases.issue_enrol(os.urandom(32), mono_ms())
        if not isinstance(token, LeaseError):
            await self._record_token("enrol_issued", token_digest(token), None)
        return token

    async def enrol(self, token: str, boot: str) -> Grant | LeaseError:
        """Redeem the enrol token; exactly one caller ever gets the lease."""
        grant = self.leases.redeem(token, boot, os.urandom(32), mono_ms())
        if isinstance(grant, LeaseError):
            await self.note_security("enrol_refused", str(grant))
        else:
            await self._record_token("enrolled", token_digest(grant.token), None)
        return grant

    async def resume(self, token: str, boot: str) -> Grant | LeaseError:
        """A fresh lease for the same supervisor start, after a cut."""
        grant = self.leases.resume(token, boot, os.urandom(32), mono_ms())
        if isinstance(grant, LeaseError):
            await self.note_security("resume_refused", str(grant))
            return grant
        await self._record_token("renewed", token_digest(grant.token), "resumed")
        if self._last_cursor is not None:
            await self.ledger.events.flushed(self._last_cursor)
        return grant

    async def renew(self, generation: int) -> Grant | LeaseError:
        """The next lease, or the end of all of them."""
        grant = self.leases.renew(generation, os.urandom(32), mono_ms())
        if not isinstance(grant, LeaseError):
            await self._record_token("renewed", token_digest(grant.token), None)
        elif grant is LeaseError.STALE_GENERATION:
            await self.note_security("lease_forked", self.leases.revoked or "")
            await self._record_revocation(self.leases.revoked or "")
        return grant

    async def revoke(self, why: str) -> None:
        """End the lease at once: running responses are cut, new requests denied."""
        if self.leases.revoke(why):
            await self._record_revocation(why)

    async def _record_revocation(self, why: str) -> None:
        if not self.revoked.done():
            self.revoked.set_result(None)
        for flow in list(self.flows):
            flow.revoke()
        digest = self.leases.current_digest
        if digest is not None:
            await self._record_token("revoked", digest, why)

    async def _record_token(self, what: str, sha256: str, why: str | None) -> None:
        await self.book.append(TokenIssued, what=what, token_sha256=sha256, why=why)

    async def note_security(self, what: str, detail: str) -> None:
        """Put a breach of the rules on record and into the stream."""
        self.publish(SecurityNoted(what=what, detail=detail))
        await self.book.append(Denied, why=f"security: {what}: {detail}")

    # the model socket

    def lease_problem(self, lease: str) -> str | None:
        """Why a lease is not accepted here; only this attempt's own is."""
        return self.leases.check(lease, mono_ms())

    def denied(self, word: str) -> None:
        """Put a refusal on record, after the answer; a flood of them is cut off."""
        self._denials += 1
        if self._denials <= MAX_DENIALS:
            self.publish(RequestDenied(why=word))
            self.start(self._record_denial(word))

    async def _record_denial(self, word: str) -> None:
        if not self.closed:
            await self.book.append(Denied, why=word)

    def local_answer(self, route: Route) -> bytes:
        """Bodies of the routes that never leave."""
        if route is Route.MODELS:
            return models_reply(self.spec.model.id)
        return constant_reply("not_counted") if route is Route.COUNT_TOKENS else b"{}"

    def start(self, coroutine: Coroutine[None, None, None]) -> None:
        """Run a task of this attempt; its close waits for it."""
        task = self.tasks.start(coroutine)
        self._running.add(task)
        task.add_done_callback(self._running.discard)

    async def serve(self, request: ModelRequest, down: ModelConnection) -> None:
        """Answer a model request; whatever fails, the connection does not stay open."""
        try:
            await exchange.serve(self, request, down)
        except Exception as error:  # noqa: BLE001 - the caller must get an end
            log_failure(error)
            down.abort()

    def next_exchange(self) -> int:
        """Numbers from 1; a request that is refused for its terms uses one up."""
        self._numbers += 1
        return self._numbers

    async def note_mismatch(self, asked: Asked, mismatch: Mismatch) -> None:
        """Record, publish and, under enforce, stop."""
        self.wire.asked(asked)
        self.wire.differs(mismatch)
        if self.enforced:
            detail = (
                f"request {mismatch.exchange}: {mismatch.field} declared {mismatch.declared}, "
                f"on the wire {mismatch.observed}"
            )
            self.order_stop(Stop(reason=StopReason.MISMATCH, detail=detail))
        self.publish(MismatchFound(mismatch=mismatch))
        await self.book.append(Mismatched, mismatch=mismatch, enforced=self.enforced)

    def order_stop(self, stop: Stop) -> None:
        """Have the supervisor stop the agent; the first order stands."""
        if self.stop is None:
            self.stop = stop
            if self.tell is not None:
                self.tell(StopOrder(stop=stop))

    async def note_start(self, number: int, asked: Asked, request: ModelRequest) -> None:
        """Durable before the request leaves."""
        self.wire.asked(asked)
        await self.book.append(
            ExchangeStart,
            exchange=number,
            asked=asked,
            sent=asked,
            corrections=(),
            route=request.route.value,
            session=request.session,
        )
        self.wire.started()
        self.publish(ExchangeStarted(exchange=number, asked=asked))
        self.send(ExchangeSeen(exchange=number))

    def note_alive(self, number: int) -> None:
        """A stream moved on."""
        event = ExchangeAlive(exchange=number)
        self.publish(event)
        self.send(WireEvent(event=event))

    async def note_end(self, number: int, answered: Answered, *, scrubbed: bool) -> None:
        """Durable before the terminal event goes back."""
        await self.book.append(
            ExchangeEnd,
            exchange=number,
            answered=answered,
            tries=1,
            held_ms=0,
            secret_scrubbed=scrubbed,
        )
        self.wire.ended(answered, at_ms=wall_ms(), scrubbed=scrubbed)
        event = ExchangeEnded(exchange=number, answered=answered)
        self.publish(event)
        self.send(WireEvent(event=event))
        if answered.error_class is ErrorClass.LIMIT_REJECTED:
            limit = self.spec.limits.output_tokens
            self.order_stop(
                Stop(
                    reason=StopReason.PROVIDER_REFUSED,
                    detail=f"limit_rejected: the provider refuses an output limit of "
                    f"{None if limit is None else limit.value}; declare a lower one with "
                    f"--output-limit or output_limit in [profiles.{self.spec.profile}.models]",
                )
            )

    # the end

    async def settle(self, timeout_s: float) -> None:
        """Wait until nothing of this attempt is under way, at most so long."""
        if self._running:
            await asyncio.wait(self._running, timeout=timeout_s)

    async def cancel(self) -> None:
        """The orchestrator asked for the end."""
        self.cancelled = True
        self.order_stop(Stop(reason=StopReason.CANCELLED, detail="cancelled by the orchestrator"))
        await self.revoke("cancelled")


def _is_alive(message: FromBroker) -> bool:
    """A sign of life is stale by the time it could be told."""
    return isinstance(message, WireEvent) and isinstance(message.event, ExchangeAlive)


__all__ = ["Attempt", "LedgerError", "Terms"]
