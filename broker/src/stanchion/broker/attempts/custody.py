"""Who may ask under an attempt: its terms, its tokens, and the orders that end it.

Every token and its end are on record by digest before they count, and where the attempt stands is
stored before it is told, so that the next broker can take it over. It must never store a token's
text or a key.
"""

import asyncio
import os
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from stanchion.broker.attempts.leases import (
    Grant,
    KeptLeases,
    LeaseError,
    Leases,
    token_digest,
)
from stanchion.broker.clock import mono_ms, wall_ms
from stanchion.broker.plane.relay import Flow
from stanchion.broker.plane.target import Target
from stanchion.broker.receipts.chain import NOTHING, Written
from stanchion.broker.receipts.ledger import Book, Ledger
from stanchion.protocol.codec import encode, encode_with
from stanchion.protocol.events import AssertedBy, Event, SecurityNoted
from stanchion.protocol.evidence import Stop
from stanchion.protocol.launch import FrozenLaunch
from stanchion.protocol.receipt import Denied, TokenIssued


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """What an attempt is, fixed when it was opened."""

    id: str
    launch: FrozenLaunch
    launch_sha256: str
    directory: Path
    opened_at_ms: int
    untouched_reward: str
    target: Target | None
    """Where its requests go; None = the launcher has to present it again."""


class Standing(msgspec.Struct, frozen=True, kw_only=True):
    """What of an open attempt is neither in its receipts nor in its events."""

    leases: KeptLeases = KeptLeases()
    cancelled: bool = False
    stop: Stop | None = None


@dataclass(slots=True, kw_only=True)
class Custody:
    """The terms and tokens of one open attempt."""

    terms: Terms
    ledger: Ledger
    book: Book
    leases: Leases = field(default_factory=Leases)
    cancelled: bool = False
    stop: Stop | None = None
    sealed: bool = False
    """Its last event is in the stream."""
    flows: set[Flow] = field(default_factory=set)
    revoked: "asyncio.Future[None]" = field(
        default_factory=lambda: asyncio.get_running_loop().create_future()
    )
    last_cursor: str | None = None
    """Of the supervisor's last event."""
    encoded: tuple[Event, bytes] | None = None
    """The last event that was published, and its bytes: the supervisor is told most of them too."""

    def publish(
        self,
        event: Event,
        asserted_by: AssertedBy = AssertedBy.BROKER,
        written: Written = NOTHING,
    ) -> str:
        """Append one event to the merged stream; returns its cursor. Nothing follows the close.

        `written`: members that were encoded before, by name.
        """
        if self.sealed:
            return self.ledger.events.last(self.terms.id)
        data = encode_with(event, written) if written else encode(event)
        self.encoded = (event, data)
        kind = str(event.__struct_config__.tag)
        return self.ledger.events.append(self.terms.id, asserted_by, data, wall_ms(), kind=kind)

    def remember(self) -> "asyncio.Future[None]":
        """Store where it stands; what is written after this is durable after it."""
        standing = Standing(
            leases=self.leases.kept(mono_ms(), wall_ms()),
            cancelled=self.cancelled,
            stop=self.stop,
        )
        saving = self.ledger.store.save_standing(self.terms.id, encode(standing))
        # Where nobody waits for it, a failed write shows in the receipts, which fail too.
        saving.add_done_callback(lambda done: done.cancelled() or done.exception())
        return saving

    async def enrol_token(self, *, by: str) -> str | LeaseError:
        """A new single-use token, on record with who asked for it."""
        token = self.leases.issue_enrol(os.urandom(32), mono_ms())
        if not isinstance(token, LeaseError):
            await self._record_token("enrol_issued", token_digest(token), f"for {by}")
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
        if self.last_cursor is not None:
            await self.ledger.events.flushed(self.last_cursor)
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
        saving = self.remember()
        digest = self.leases.current_digest
        if digest is not None:
            await self._record_token("revoked", digest, why)
        await saving

    async def _record_token(self, what: str, sha256: str, why: str | None) -> None:
        saving = self.remember()
        await self.book.append(TokenIssued, what=what, token_sha256=sha256, why=why)
        await saving

    async def note_security(self, what: str, detail: str) -> None:
        """Put a breach of the rules on record and into the stream."""
        self.publish(SecurityNoted(what=what, detail=detail))
        await self.book.append(Denied, why=f"security: {what}: {detail}")
