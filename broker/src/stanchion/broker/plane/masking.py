"""Masks the account's key in all of one exchange that goes back or on record.

It decides nothing else about a header, a word or a body, and remembers whether the key came at
all. It must never show which of them it was.
"""

import hashlib
from collections.abc import Callable

import msgspec

from stanchion.broker.plane.scrub import Digest, Scrubber
from stanchion.broker.secrets import Secret
from stanchion.protocol.exchange import Answered

_STEP_BYTES = 64 * 1024


class Masking:
    """Of one exchange; over all its sendings."""

    def __init__(self, key: Secret | None) -> None:
        self._spellings = None if key is None else key.spellings
        self._hit = False
        self._body: Scrubber | None = None
        self._received_sha256: str | None = None

    @property
    def hit(self) -> bool:
        """Whether the key came."""
        return self._hit or (self._body is not None and self._body.hit)

    def text(self, text: str) -> str:
        """A word or a sentence without the key."""
        masked = text if self._spellings is None else self._spellings.masked_text(text)
        self._hit = self._hit or masked != text
        return masked

    def headers(self, headers: list[tuple[str, str]]) -> list[tuple[str, str]]:
        """Response headers without it, in names as in values."""
        if self._spellings is None or not self._spellings.may_be_in(headers):
            return headers
        return [(self._name(name), self.text(value)) for name, value in headers]

    def _name(self, name: str) -> str:
        if self._spellings is None:
            return name
        masked = self._spellings.masked_name(name.encode("latin-1")).decode("latin-1")
        self._hit = self._hit or masked != name
        return masked

    def new_body(self, passed: Callable[[], Digest], *, events: bool) -> Scrubber | None:
        """What masks the body that comes now; None = there is nothing to look for.

        `passed` gives a copy of the hash of what has left; `events` = it is an event stream.
        """
        self._hit, self._received_sha256 = self.hit, None
        self._body = (
            None if self._spellings is None else Scrubber(self._spellings, passed, events=events)
        )
        return self._body

    def whole(self, body: bytes) -> bytes:
        """A whole body without the key."""
        self._hit, self._received_sha256, self._body = self.hit, None, None
        masked = body if self._spellings is None else self._spellings.masked(body)
        if masked is not body:
            self._hit, self._received_sha256 = True, hashlib.sha256(body).hexdigest()
        return masked

    def apart(self, plain: bytes, encoded: bytes, *, events: bool) -> tuple[bytes, bool]:
        """A decoded body without the key, and whether that was in it or in its encoded form.

        It is taken in steps, so that a thread that does this leaves time to others.
        """
        if self._spellings is None:
            return plain, False
        scrub = Scrubber(self._spellings, hashlib.sha256, events=events)
        steps = range(0, len(plain), _STEP_BYTES)
        clean = b"".join(scrub.feed(plain[at : at + _STEP_BYTES]) for at in steps) + scrub.close()
        found = scrub.hit or self._spellings.masked(encoded) is not encoded
        self._hit = self._hit or found
        return clean, found

    def digested(self, answered: Answered) -> Answered:
        """With the digest of the last body as it came, and that of what was handed on."""
        received = self._received_sha256 if self._body is None else self._body.received_sha256
        if received is None:
            return answered
        return msgspec.structs.replace(
            answered, body_sha256=received, sent_sha256=answered.body_sha256
        )
