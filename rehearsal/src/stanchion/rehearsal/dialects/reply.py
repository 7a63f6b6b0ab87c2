"""What every dialect hands to the server: bytes to send and the waits between them.

A dialect is a module with the functions of `Dialect`. It decides the exact bytes of an answer
and must never send, wait or look at a clock; identity and time are given to it.
"""

from dataclasses import dataclass
from typing import Protocol

from stanchion.rehearsal.turns import Answer, Asked, Refusal


@dataclass(frozen=True, slots=True)
class Identity:
    """What makes one answer distinct from any other."""

    token: str
    """Hex digits, new for each request; all ids of the answer are made from them."""
    created_s: int


@dataclass(frozen=True, slots=True)
class Piece:
    """Bytes that leave together, after a wait."""

    delay_ms: int
    data: bytes


@dataclass(frozen=True, slots=True)
class Reply:
    """One whole response; `ends` is False if it stalls after its last piece."""

    status: int
    content_type: str
    pieces: tuple[Piece, ...]
    ends: bool = True
    sized: bool = False
    """True: sent with a Content-Length; False: chunked."""


class Dialect(Protocol):
    """The three answers a dialect module gives."""

    def understand(self, body: bytes) -> Asked | Refusal: ...

    def render(self, asked: Asked, answer: Answer, identity: Identity) -> Reply: ...

    def refuse(self, refusal: Refusal) -> Reply: ...
