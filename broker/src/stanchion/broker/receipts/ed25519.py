"""Ed25519 (RFC 8032) over our own messages: what a signature says, and how a key is named.

Pure: it decides whether a signature holds, and must never read a key from anywhere. Keys and
signatures are lower-case hex and nothing else, because another spelling of the same number would
leave a byte of a bundle that nobody signed.
"""

import hashlib
import re
from typing import Protocol

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

_PUBLIC_KEY = re.compile(r"[0-9a-f]{64}\Z")
_SIGNATURE = re.compile(r"[0-9a-f]{128}\Z")


class Signer(Protocol):
    """Whoever holds the private key."""

    @property
    def public_key(self) -> str:
        """64 hex digits."""
        ...

    def sign(self, message: bytes) -> str:
        """128 hex digits."""
        ...


def is_public_key(text: str) -> bool:
    """Whether the text is spelled as a public key."""
    return _PUBLIC_KEY.match(text) is not None


def holds(*, public_key: str, message: bytes, signature: str) -> bool:
    """Whether this key signed exactly this message."""
    if not is_public_key(public_key) or not _SIGNATURE.match(signature):
        return False
    key = Ed25519PublicKey.from_public_bytes(bytes.fromhex(public_key))
    try:
        key.verify(bytes.fromhex(signature), message)
    except InvalidSignature:
        return False
    return True


def key_fingerprint(public_key: str) -> str:
    """The key's name for people: the first 8 bytes of its SHA-256, as `7C:19:…`."""
    name = hashlib.sha256(bytes.fromhex(public_key)).hexdigest()[:16].upper()
    return ":".join(name[at : at + 2] for at in range(0, len(name), 2))
