"""The live state of one attempt: who may ask, what was asked, what came back, how it closes.

The hinge between the sockets, the receipts and the merged event stream. It decides when the lease
ends and when a stop is ordered; outcome and score come from the protocol's rules alone.
"""

import asyncio
from collections.abc import Coroutine
from dataclasses import dataclass, field

from stanchion.broker.attempts.custody import Terms
from stanchion.broker.attempts.sandbox_story import SandboxStory
from stanchion.broker.attempts.wire_notes import WireNotes
from stanchion.broker.clock import mono_ms, wall_ms
from stanchion.broker.plane import exchange
from stanchion.broker.plane.http_gate import LOCAL, Route
from stanchion.broker.plane.limits import Limits
from stanchion.broker.plane.model_socket import ModelConnection, ModelRequest
from stanchion.broker.plane.replies import constant_reply, models_reply
from stanchion.broker.receipts.ledger import LedgerError
from stanchion.broker.tasks import Tasks, log_failure
from stanchion.protocol.dialects import Dialect
from stanchion.protocol.events import (
    AssertedBy,
    HarnessEnded,
    HarnessStarted,
    RequestDenied,
    decode_event,
)
from stanchion.protocol.evidence import Stop, StopReason
from stanchion.protocol.receipt import (
    Denied,
    RunStarted,
)

MAX_DENIALS = 1000
"""Refusals on record per attempt: the sandbox must not be able to fill the disk with them."""
PRESENT_WAIT_S = 30.0
"""A request of an attempt whose launcher has yet to present its provider again waits so long."""


@dataclass(slots=True, kw_only=True)
class Attempt(WireNotes):
    """One open attempt."""

    tasks: Tasks
    story: SandboxStory = field(default_factory=SandboxStory)
    closed: bool = False
    """No further receipt but those of the close."""
    limits: Limits = field(default_factory=Limits)
    """Waits and sizes of its requests."""
    connections: int = 0
    body_bytes: int = 0
    control_free: asyncio.Event = field(default_factory=asyncio.Event)
    """Set while no control connection is being read."""
    heard_at_ms: int = field(default_factory=wall_ms)
    """When supervisor or launcher last said something."""
    heard_mono_ms: int = field(default_factory=mono_ms)
    denials: int = 0
    start_recorded: bool = False
    """The supervisor's account of its start is among the receipts."""
    told_before: frozenset[str] = frozenset()
    """What of its opening and close a former broker put on record already."""
    _running: set["asyncio.Task[None]"] = field(default_factory=set)

    def __post_init__(self) -> None:
        WireNotes.__post_init__(self)
        self.control_free.set()

    @property
    def dialect(self) -> Dialect:
        """Of its requests, and so of what the broker itself answers."""
        return self.spec.dialect

    @property
    def stopping(self) -> bool:
        """Whether no further request is served."""
        return self.stop is not None or self.closed or self.revoked.done()

    # events and messages

    def heard(self) -> None:
        """Supervisor or launcher said something."""
        self.heard_at_ms, self.heard_mono_ms = wall_ms(), mono_ms()

    async def take_from_sandbox(self, event: bytes, seq: int) -> str:
        """One event of the supervisor, byte for byte; acts on those that concern the lease."""
        self.leases.heard()
        cursor = self.ledger.events.append(
            self.terms.id, AssertedBy.SANDBOX, event, wall_ms(), source_seq=seq
        )
        self.story.last_seq = seq
        self.last_cursor = cursor
        told = decode_event(event)
        self.story.tell(told, at_ms=self.heard_at_ms)
        if isinstance(told, HarnessStarted | HarnessEnded):
            await self.act_on_story()
        return cursor

    async def act_on_story(self) -> None:
        """Put on record what the supervisor's story says, as far as it is not yet."""
        if self.story.harness_started and not self.start_recorded:
            self.start_recorded = True
            await self._record_start()
        if self.story.harness_ended:
            await self.revoke("the harness ended")

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

    # the model socket

    def lease_problem(self, lease: str) -> str | None:
        """Why a lease is not accepted here; only this attempt's own is."""
        return self.leases.check(lease, mono_ms())

    def denied(self, word: str) -> None:
        """Put a refusal on record, after the answer; a flood of them is cut off."""
        self.denials += 1
        if self.denials <= MAX_DENIALS:
            self.publish(RequestDenied(why=word))
            self.start(self._record_denial(word))

    async def _record_denial(self, word: str) -> None:
        if not self.closed:
            await self.book.append(Denied, why=word)

    def local_answer(self, route: Route) -> bytes:
        """Bodies of the routes that never leave."""
        if route is Route.MODELS:
            return models_reply(self.spec.model.id)
        if route is Route.COUNT_TOKENS:
            return constant_reply("not_counted", self.dialect, LOCAL[route])
        return b"{}"

    def start(self, coroutine: Coroutine[None, None, None]) -> None:
        """Run a task of this attempt; its close waits for it."""
        task = self.tasks.start(coroutine)
        self._running.add(task)
        task.add_done_callback(self._running.discard)

    async def serve(self, request: ModelRequest, down: ModelConnection) -> None:
        """Answer a model request; whatever fails, the connection does not stay open."""
        store = self.ledger.store
        store.under_way += 1
        try:
            if not self.stopping and not await self._has_target():
                down.refuse(503, "provider_awaited")
                return
            await exchange.serve(self, request, down)
        except Exception as error:  # noqa: BLE001 - the caller must get an end
            log_failure(error)
            down.abort()
        finally:
            store.under_way -= 1

    async def _has_target(self) -> bool:
        if self.terms.target is None and not self._presented.done():
            await asyncio.wait((self._presented, self.revoked), timeout=PRESENT_WAIT_S,
                               return_when=asyncio.FIRST_COMPLETED)  # fmt: skip
        return self.terms.target is not None or self._presented.done()

    # the end

    async def settle(self, timeout_s: float) -> None:
        """Wait until nothing of this attempt is under way, at most so long."""
        if self._running:
            await asyncio.wait(self._running, timeout=timeout_s)

    async def cancel(self, *, by: str) -> None:
        """The orchestrator asked for the end."""
        self.cancelled = True
        await self.remember()
        self.order_stop(Stop(reason=StopReason.CANCELLED, detail="cancelled by the orchestrator"))
        await self.revoke(f"cancelled by {by}")


__all__ = ["Attempt", "LedgerError", "Terms"]
