"""The control socket: what supervisor and broker say to each other during an attempt.

One connection, newline-framed canonical JSON both ways. The first message is Enrol (once, with the
single-use enrol token) or Resume (after a cut, with the lease token). The broker acknowledges each
published envelope by its sequence number once it is durable.
"""

import msgspec

from stanchion.protocol.events import Envelope, ExchangeAlive, ExchangeEnded, ExchangeHeld
from stanchion.protocol.evidence import Stop


class Enrol(msgspec.Struct, frozen=True, kw_only=True, tag="enrol"):
    """The supervisor's first message."""

    protocol: int
    token: str
    boot: str
    spec_sha256: str
    """Digest of the frozen launch as the supervisor read it."""


class Resume(msgspec.Struct, frozen=True, kw_only=True, tag="resume"):
    """The first message of a later connection."""

    protocol: int
    token: str
    boot: str


class Publish(msgspec.Struct, frozen=True, kw_only=True, tag="publish"):
    """One event."""

    envelope: Envelope


class Renew(msgspec.Struct, frozen=True, kw_only=True, tag="renew"):
    """Ask for a longer lease; a stale generation revokes it (two holders)."""

    generation: int


FromSupervisor = Enrol | Resume | Publish | Renew


class Enrolled(msgspec.Struct, frozen=True, kw_only=True, tag="enrolled"):
    """The answer to Enrol, Resume and Renew."""

    lease: str
    """The token for the relay; held in memory only."""
    generation: int
    expires_in_s: int
    acked_seq: int


class Refused(msgspec.Struct, frozen=True, kw_only=True, tag="refused"):
    """The broker will not talk to this supervisor."""

    why: str


class Ack(msgspec.Struct, frozen=True, kw_only=True, tag="ack"):
    """Everything up to this sequence number is durable."""

    seq: int


class ExchangeSeen(msgspec.Struct, frozen=True, kw_only=True, tag="exchange_seen"):
    """A request was accepted."""

    exchange: int


class WireEvent(msgspec.Struct, frozen=True, kw_only=True, tag="wire"):
    """An exchange moved on: evidence for the watchdog."""

    event: ExchangeAlive | ExchangeHeld | ExchangeEnded


class StopOrder(msgspec.Struct, frozen=True, kw_only=True, tag="stop"):
    """Stop the agent now."""

    stop: Stop


FromBroker = Enrolled | Refused | Ack | ExchangeSeen | WireEvent | StopOrder
