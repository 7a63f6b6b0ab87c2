"""Tokens of one attempt: the single-use enrol token and the lease that the relay presents. Pure.

Tokens are opaque and random; only their SHA-256 is kept. It decides who holds the lease and until
when; it must never keep a token's text, and a stale renewal (two holders) ends the lease for good.
"""

import base64
import hashlib
import hmac
import re
import zlib
from dataclasses import dataclass
from enum import StrEnum

import msgspec

ENROL_TTL_MS = 60_000
LEASE_TTL_MS = 900_000
OVERLAP_MS = 60_000
"""A lease that was renewed stays good this long, for requests under way."""

_SHAPE = re.compile(r"st1_(?P<body>[A-Za-z0-9_-]{43})_(?P<check>[A-Za-z0-9_-]{6})\Z")


class LeaseError(StrEnum):
    """Why a token is not accepted; for records, never for the caller of the model socket."""

    MALFORMED = "malformed"
    UNKNOWN = "unknown"
    EXPIRED = "expired"
    REVOKED = "revoked"
    REDEEMED = "already_redeemed"
    OTHER_BOOT = "other_boot"
    STALE_GENERATION = "stale_generation"


@dataclass(frozen=True, slots=True)
class Grant:
    """A lease that was just issued; the only place where its text exists."""

    token: str
    generation: int
    expires_in_ms: int


def make_token(random: bytes) -> str:
    """`st1_<43 characters>_<6 characters of checksum>` from 32 random bytes."""
    body = base64.urlsafe_b64encode(random).rstrip(b"=").decode()
    return f"st1_{body}_{_checksum(body)}"


def well_formed(token: str) -> bool:
    """Whether the text has a token's shape and checksum; decided before any lookup."""
    match = _SHAPE.match(token)
    return match is not None and match["check"] == _checksum(match["body"])


def token_digest(token: str) -> str:
    """What is stored and receipted instead of a token."""
    return hashlib.sha256(token.encode()).hexdigest()


def _checksum(body: str) -> str:
    return base64.urlsafe_b64encode(zlib.crc32(body.encode()).to_bytes(4, "big")).decode()[:6]


@dataclass(slots=True)
class _Held:
    digest: str
    expires_at_ms: int


class KeptToken(msgspec.Struct, frozen=True, kw_only=True):
    """A token as it outlives the broker: its digest, and two measures of what it has left."""

    sha256: str
    left_ms: int
    until_wall_ms: int


class KeptLeases(msgspec.Struct, frozen=True, kw_only=True):
    """The token state of one attempt as it outlives the broker."""

    boot: str | None = None
    generation: int = 0
    revoked: str | None = None
    forked: bool = False
    enrol: KeptToken | None = None
    redeemed: KeptToken | None = None
    current: KeptToken | None = None
    previous: KeptToken | None = None


class Leases:
    """The token state of one attempt. Times are milliseconds of any one monotonic clock."""

    def __init__(self) -> None:
        self._enrol: _Held | None = None
        self._redeemed: _Held | None = None
        """The enrol token, until whoever redeemed it has shown that the answer came."""
        self._current: _Held | None = None
        self._previous: _Held | None = None
        self.boot: str | None = None
        self.generation = 0
        self.revoked: str | None = None
        """Why the lease ended; the model socket accepts nothing from then on."""
        self.forked = False
        """Two holders were seen: the control socket accepts nothing either."""

    def issue_enrol(self, random: bytes, now_ms: int) -> str | LeaseError:
        """A new single-use token; an older one that was not redeemed is void."""
        if self.revoked is not None:
            return LeaseError.REVOKED
        if self.boot is not None:
            return LeaseError.REDEEMED
        token = make_token(random)
        self._enrol = _Held(token_digest(token), now_ms + ENROL_TTL_MS)
        return token

    def redeem(self, token: str, boot: str, random: bytes, now_ms: int) -> Grant | LeaseError:
        """The first lease, for exactly one caller.

        The same start may ask again while the answer may have been lost on its way.
        """
        if not well_formed(token):
            return LeaseError.MALFORMED
        if self.boot not in (None, boot) or (self.boot is not None and self._redeemed is None):
            return LeaseError.REDEEMED
        if self.revoked is not None:
            return LeaseError.REVOKED
        error = _problem(self._enrol or self._redeemed, token, now_ms)
        if error is not None:
            return LeaseError.REDEEMED if self.boot is not None else error
        self._redeemed, self._enrol = self._enrol or self._redeemed, None
        self.boot = boot
        return self._grant(random, now_ms)

    def heard(self) -> None:
        """Whoever redeemed the enrol token holds the lease: it is not given out again."""
        self._redeemed = None

    def resume(self, token: str, boot: str, random: bytes, now_ms: int) -> Grant | LeaseError:
        """A fresh lease for the same start after a cut, whose last renewal may have been lost.

        Also after the lease was revoked or ran out: the control connection goes on to the end, only
        the model socket is closed.
        """
        if not well_formed(token):
            return LeaseError.MALFORMED
        if self.forked:
            return LeaseError.REVOKED
        held = next((held for held in (self._current, self._previous) if _is_of(held, token)), None)
        if held is None:
            return LeaseError.UNKNOWN
        if boot != self.boot:
            return LeaseError.OTHER_BOOT
        self._previous = _Held(held.digest, min(held.expires_at_ms, now_ms + OVERLAP_MS))
        self.heard()
        return self._grant(random, now_ms)

    def renew(self, generation: int, random: bytes, now_ms: int) -> Grant | LeaseError:
        """The next lease; a generation that is not the current one means two holders."""
        if self.forked:
            return LeaseError.REVOKED
        if generation != self.generation or self._current is None:
            self.forked = True
            self.revoke(f"renewal of generation {generation}, the current is {self.generation}")
            return LeaseError.STALE_GENERATION
        until = min(self._current.expires_at_ms, now_ms + OVERLAP_MS)
        self._previous = _Held(self._current.digest, until)
        self.heard()
        return self._grant(random, now_ms)

    def check(self, token: str, now_ms: int) -> LeaseError | None:
        """None if the token is this attempt's lease."""
        if self.revoked is None and _problem(self._current, token, now_ms) is None:
            return None  # the usual case: what was given out is well formed
        if not well_formed(token):
            return LeaseError.MALFORMED
        if self.revoked is not None:
            return LeaseError.REVOKED
        error = _problem(self._current, token, now_ms)
        if error is None or _problem(self._previous, token, now_ms) is None:
            return None
        return error

    def revoke(self, why: str) -> bool:
        """End the lease at once; False if it had ended before."""
        if self.revoked is not None:
            return False
        self.revoked = why
        return True

    @property
    def current_digest(self) -> str | None:
        """Of the lease in force, for the receipts."""
        return None if self._current is None else self._current.digest

    def kept(self, now_ms: int, wall_ms: int) -> KeptLeases:
        """All of it, to be stored; without any token's text."""
        return KeptLeases(
            boot=self.boot,
            generation=self.generation,
            revoked=self.revoked,
            forked=self.forked,
            enrol=_keep(self._enrol, now_ms, wall_ms),
            redeemed=_keep(self._redeemed, now_ms, wall_ms),
            current=_keep(self._current, now_ms, wall_ms),
            previous=_keep(self._previous, now_ms, wall_ms),
        )

    @classmethod
    def restored(cls, kept: KeptLeases, now_ms: int, wall_ms: int) -> "Leases":
        """As it was kept. A jump of the wall clock can only shorten what a token has left."""
        leases = cls()
        leases.boot, leases.generation = kept.boot, kept.generation
        leases.revoked, leases.forked = kept.revoked, kept.forked
        leases._enrol = _restore(kept.enrol, now_ms, wall_ms)
        leases._redeemed = _restore(kept.redeemed, now_ms, wall_ms)
        leases._current = _restore(kept.current, now_ms, wall_ms)
        leases._previous = _restore(kept.previous, now_ms, wall_ms)
        return leases

    def _grant(self, random: bytes, now_ms: int) -> Grant:
        token = make_token(random)
        self._current = _Held(token_digest(token), now_ms + LEASE_TTL_MS)
        self.generation += 1
        return Grant(token, self.generation, LEASE_TTL_MS)


def _keep(held: _Held | None, now_ms: int, wall_ms: int) -> KeptToken | None:
    if held is None:
        return None
    left_ms = held.expires_at_ms - now_ms
    return KeptToken(sha256=held.digest, left_ms=left_ms, until_wall_ms=wall_ms + left_ms)


def _restore(kept: KeptToken | None, now_ms: int, wall_ms: int) -> _Held | None:
    if kept is None:
        return None
    return _Held(kept.sha256, now_ms + min(kept.left_ms, kept.until_wall_ms - wall_ms))


def _is_of(held: _Held | None, token: str) -> bool:
    return held is not None and hmac.compare_digest(held.digest, token_digest(token))


def _problem(held: _Held | None, token: str, now_ms: int) -> LeaseError | None:
    if held is None or not _is_of(held, token):
        return LeaseError.UNKNOWN
    return None if now_ms < held.expires_at_ms else LeaseError.EXPIRED
