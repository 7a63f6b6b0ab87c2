"""Whether a broker's key is still the one in a caller's environment, without sending either.

The caller proves what it has under a salt of its own; the broker says only whether it differs, so
neither learns a key that it did not hold.
"""

import hashlib
import hmac

import msgspec


class EnvProof(msgspec.Struct, frozen=True, kw_only=True):
    """What one environment variable of the caller holds."""

    name: str
    salt: str
    """Random, 32 hex digits, new each time."""
    proof: str
    """HMAC-SHA256 of the value under the salt, in hex."""


class CompareEnv(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`POST /v1/credentials/compare`."""

    proofs: tuple[EnvProof, ...]


class ComparedEnv(msgspec.Struct, frozen=True, kw_only=True):
    """Answer: the variables whose value the broker does not hold."""

    differing: tuple[str, ...]


def proof_of(salt: str, value: str) -> str:
    """What is sent in the place of a value."""
    return hmac.new(salt.encode(), value.encode(), hashlib.sha256).hexdigest()
