"""The fixture files: one exchange each, as data. What a file may say is written here only.

A new trap is a new file: its bytes, where they were seen, and what the record must say. Every test
of this folder takes it up by itself.

about = "what goes on, in one sentence"
source = "where it was seen: an issue, a specification, a vendor's page"
vendor = "moonshot"                  # where it is one vendor's own
status = 200
content_type = "text/event-stream"   # "" = no such header
headers = { retry-after = "5" }      # further ones
framing = "chunked"                  # | "length" | "close" (HTTP/1.0: the end is the end)
ends = "whole"                       # | "fin" | "rst" (cut there) | "stall" (silent for ever)
body = '''...'''                     # sent event by event; or, where it matters:
pieces = ["...", { text = "x", times = 9 }, { base64 = "..." }, { text = "y", after_ms = 50 }]

[request]                            # where it is not the dialect's plain one
body = '''...'''
limit = 128000                       # what the launch declares
effort = "max"

[expected]                           # the record; what is absent is null, false or 0
result = "completed"
unread = true                        # where nobody could say what the body holds
[expected.asked]                     # words of the request, where the fixture is about them
[expected.mismatch]                  # in place of all that: it never leaves, for this difference,
denied = "..."                       # or for these words; then the file has no response
"""

import base64
import functools
import re
import tomllib
from pathlib import Path
from typing import Any, Literal

import msgspec

from stanchion.protocol.dialects import Dialect

FOLDER = Path(__file__).parent
_EVENT = re.compile(rb".+?(?:\r\n\r\n|\n\n|\Z)", re.DOTALL)


class _Table(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A key that nobody reads is a mistake."""


class Piece(_Table, frozen=True, kw_only=True):
    """Bytes that leave the provider together."""

    text: str = ""
    base64: str = ""
    times: int = 1
    after_ms: int = 0
    """Of silence before it. Nobody waits for it: it is virtual time."""

    @property
    def data(self) -> bytes:
        return (self.text.encode() + base64.b64decode(self.base64)) * self.times


class Request(_Table, frozen=True, kw_only=True):
    """What the harness sends, and what the launch declared of it."""

    body: str | None = None
    limit: int | None = None
    effort: str | None = None


class Recorded(_Table, frozen=True, kw_only=True):
    """One fixture file."""

    about: str
    source: str
    vendor: str | None = None
    status: int = 200
    content_type: str = "text/event-stream"
    headers: dict[str, str] = {}
    framing: Literal["chunked", "length", "close"] | None = None
    ends: Literal["whole", "fin", "rst", "stall"] = "whole"
    body: str | None = None
    pieces: tuple[str | Piece, ...] = ()
    request: Request = Request()
    expected: dict[str, Any]

    @property
    def needs_the_clock(self) -> bool:
        """Whether it ends by the broker's patience, not by anything that comes."""
        return self.ends == "stall" and self.expected["result"] == "truncated"

    @property
    def is_encoded(self) -> bool:
        """Whether the body comes in an encoding, which is undone before it is read."""
        return "content-encoding" in self.headers

    @property
    def is_refused(self) -> bool:
        """Whether the request is one that never reaches the provider."""
        return not {"mismatch", "denied"}.isdisjoint(self.expected)

    @property
    def given(self) -> tuple[Piece, ...]:
        """The pieces as they are given; a body leaves the provider event by event."""
        if self.body is None:
            return tuple(Piece(text=one) if isinstance(one, str) else one for one in self.pieces)
        whole = self.body.encode()
        return tuple(Piece(text=event.decode()) for event in _EVENT.findall(whole))

    @property
    def whole(self) -> bytes:
        """All of the body."""
        return b"".join(piece.data for piece in self.given)


@functools.cache
def load(path: Path) -> Recorded:
    """The file, or why it is none."""
    recorded = msgspec.convert(tomllib.loads(path.read_text(encoding="utf-8")), Recorded)
    given = (recorded.body is not None) + bool(recorded.pieces) + recorded.is_refused
    assert given == 1, f"{path}: a body, or pieces, or a mismatch"
    return recorded


def paths(dialect: Dialect) -> list[Path]:
    """The files of a dialect."""
    return sorted((FOLDER / dialect.value).glob("*.toml"))


def refusals(dialect: Dialect) -> list[Path]:
    """Those whose request never reaches the provider."""
    return [path for path in paths(dialect) if load(path).is_refused]


def answers(dialect: Dialect) -> list[Path]:
    """Those with a response."""
    return [path for path in paths(dialect) if not load(path).is_refused]


def readable(dialect: Dialect) -> list[Path]:
    """Those whose bytes can be read as they come."""
    return [path for path in answers(dialect) if not load(path).is_encoded]
