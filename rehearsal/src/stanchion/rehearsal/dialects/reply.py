"""What every dialect hands to the server: bytes to send, the waits between them, and the end.

A dialect is a module with the members of `Dialect`. It decides the exact bytes of an answer
and must never send, wait or look at a clock; identity and time are given to it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from stanchion.rehearsal.turns import Answer, Asked, Refusal

EVENT_STREAM = "text/event-stream; charset=utf-8"
JSON = "application/json"


@dataclass(frozen=True, slots=True)
class Identity:
    """What makes one answer distinct from any other."""

    token: str
    """Hex digits, new for each request; all ids of the answer are made from them."""
    created_s: int

    @property
    def request_id(self) -> str:
        return f"req_{self.token}"


@dataclass(frozen=True, slots=True)
class Piece:
    """Bytes that leave together, after a wait. In a stream each event is one piece."""

    delay_ms: int
    data: bytes


class End(StrEnum):
    """What becomes of the connection after the last piece."""

    CLEAN = "clean"
    """The response is ended as HTTP demands."""
    SILENT = "silent"
    """Nothing more, until the client goes away."""
    FIN = "fin"
    """The connection is closed in the middle of the response."""
    RST = "rst"
    """The connection is reset in the middle of the response."""


@dataclass(frozen=True, slots=True)
class Reply:
    """One whole response, or what a fault left of it."""

    status: int
    content_type: str
    pieces: tuple[Piece, ...]
    headers: tuple[tuple[str, str], ...] = ()
    size_bytes: int | None = None
    """What Content-Length promises; None: chunked."""
    drip: Piece | None = None
    """Sent again and again after the pieces, until the client goes away."""
    end: End = End.CLEAN


class Dialect(Protocol):
    """What a dialect module knows."""

    REQUEST_ID_HEADER: str
    WRONG_KEY: Refusal

    def presented_key(self, headers: Mapping[str, str], /) -> str | None: ...

    def understand(self, body: bytes, /) -> Asked | Refusal: ...

    def render(self, asked: Asked, answer: Answer, identity: Identity, /) -> Reply: ...

    def refuse(self, refusal: Refusal, identity: Identity, /) -> Reply: ...

    def error_event(self, refusal: Refusal, /) -> bytes: ...

    def models(self, created_s: int, /) -> Reply: ...
