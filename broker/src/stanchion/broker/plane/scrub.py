"""Masks a secret in a stream of bytes, whatever way it was cut, without IO.

Each occurrence becomes asterisks of equal length, so that lengths and framing stay true. Held back
is only an end that may be the beginning of the secret; everything else leaves at once. It must
never let a whole secret through, and never change another byte.
"""

import hashlib
import json


class Scrubber:
    """Bytes in, the same bytes without the secret out. One for each body."""

    def __init__(self, secret: str) -> None:
        escaped = json.dumps(secret)[1:-1]
        spellings = {secret, escaped, escaped.replace("/", "\\/")}
        self._secrets = tuple(sorted((text.encode() for text in spellings), key=len, reverse=True))
        self._letters = frozenset(b"".join(self._secrets))
        self._tail = b""
        self._sha256 = hashlib.sha256()
        self.hit = False
        """Whether the secret came."""

    @property
    def received_sha256(self) -> str:
        """Of everything that was fed, as it came."""
        return self._sha256.hexdigest()

    def feed(self, data: bytes) -> bytes:
        """What may leave now."""
        self._sha256.update(data)
        window = self._tail + data if self._tail else data
        for secret in self._secrets:
            if secret in window:
                self.hit = True
                window = window.replace(secret, b"*" * len(secret))
        if not window or window[-1] not in self._letters:  # an event's line end is in no key
            self._tail = b""
            return window
        start = min(_start(window, secret) for secret in self._secrets)
        self._tail = window[start:]
        return window[:start]

    def close(self) -> bytes:
        """What was held back: it did not become the secret."""
        rest, self._tail = self._tail, b""
        return rest


def _start(window: bytes, secret: bytes) -> int:
    """Where the longest end begins that is a proper beginning of the secret."""
    first = secret[:1]
    place = window.find(first, max(0, len(window) - len(secret) + 1))
    while place >= 0:
        if secret.startswith(window[place:]):
            return place
        place = window.find(first, place + 1)
    return len(window)
