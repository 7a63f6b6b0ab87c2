"""Where the requests of an account go, and the head of one with the real key in it.

The only module that reveals a key. It sends no caller's header that is not listed.
"""

import ssl
from dataclasses import dataclass, field

from stanchion.broker.plane.pacing.turns import Turns
from stanchion.broker.plane.pool import Pool
from stanchion.broker.secrets import Secret


@dataclass(frozen=True, slots=True)
class Target:
    """Where requests of an account go. From the configuration only, never from a request."""

    host: str
    port: int
    authority: str
    """For the Host header."""
    path: str
    """Path of the base URL, without a slash at its end."""
    tls: ssl.SSLContext | None
    key: Secret | None
    key_header: tuple[str, str] = ("authorization", "Bearer ")
    """The header that carries the key, and what goes before it there."""
    turns: Turns = field(default_factory=Turns)
    """Whose turn it is under the account; one for all that go there."""
    proxy: tuple[str, int] | None = None
    """Host and port of the egress proxy; for https only."""
    pool: Pool | None = None
    """The account's idle connections; None = each request has its own connection."""


def request_head(
    target: Target, path: str, headers: tuple[tuple[str, str], ...], body_bytes: int
) -> bytes:
    """The head of an upstream request: our own framing, the account's key."""
    length = (("content-length", str(body_bytes)),)
    return _head(target, f"POST {target.path}{path}", (*length, *_framing(target), *headers))


def question_head(target: Target, path: str, headers: tuple[tuple[str, str], ...]) -> bytes:
    """The head of a GET without a body, with the account's key."""
    return _head(target, f"GET {target.path}{path}", (*_framing(target), *headers))


def _framing(target: Target) -> tuple[tuple[str, str], ...]:
    plain = ("accept-encoding", "identity")
    return (plain, ("connection", "close")) if target.pool is None else (plain,)


def _head(target: Target, what: str, headers: tuple[tuple[str, str], ...]) -> bytes:
    lines = [
        f"{what} HTTP/1.1",
        f"host: {target.authority}",
        *(f"{name}: {value}" for name, value in headers),
    ]
    if target.key is not None:
        name, before = target.key_header
        lines.append(f"{name}: {before}{target.key.reveal()}")
    return ("\r\n".join(lines) + "\r\n\r\n").encode("ascii")
