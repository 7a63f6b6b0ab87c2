"""Masks the account's key in all of one exchange that goes back or on record.

It decides nothing else about a header, a word or a body, and remembers whether the key came at
all. It must never show which of them it was.
"""

import msgspec

from stanchion.broker.plane.scrub import Scrubber
from stanchion.broker.secrets import Secret
from stanchion.protocol.exchange import Answered


class Masking:
    """Of one exchange; over all its sendings."""

    def __init__(self, key: Secret | None) -> None:
        self._key = key
        self._hit = False
        self._body: Scrubber | None = None

    @property
    def hit(self) -> bool:
        """Whether the key came."""
        return self._hit or (self._body is not None and self._body.hit)

    def text(self, text: str) -> str:
        """A word or a sentence without the key."""
        masked = text if self._key is None else self._key.mask_text(text)
        self._hit = self._hit or masked != text
        return masked

    def headers(self, headers: list[tuple[str, str]]) -> list[tuple[str, str]]:
        """Response headers without it."""
        return [(name, self.text(value)) for name, value in headers]

    def new_body(self) -> Scrubber | None:
        """What masks the body that comes now; None = there is nothing to look for."""
        self._hit = self.hit
        self._body = None if self._key is None else self._key.scrubber()
        return self._body

    def whole(self, body: bytes) -> bytes:
        """A whole body without the key."""
        scrub = self.new_body()
        return body if scrub is None else scrub.feed(body) + scrub.close()

    def digested(self, answered: Answered) -> Answered:
        """With the digest of the last body as it came, and that of what was handed on."""
        if self._body is None or not self._body.hit:
            return answered
        return msgspec.structs.replace(
            answered, body_sha256=self._body.received_sha256, sent_sha256=answered.body_sha256
        )
