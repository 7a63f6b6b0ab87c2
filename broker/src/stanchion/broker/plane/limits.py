"""Every wait and every size that the data plane bounds, in one place; tests pass shorter ones.

None of them is on the harness's word. A wait that ends an exchange is named on its record.
"""

from dataclasses import dataclass

MAX_UNREAD_BYTES = 4 * 1024
"""Of a stream: a stranger's memory is slow to reach, so several pieces are read at one visit."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Of one attempt's model socket and its exchanges."""

    request_head_s: float = 10.0
    """From the connection to the end of the request's head."""
    request_body_s: float = 120.0
    """From there to the end of its body."""
    connections: int = 256
    """Open at a time: one attempt must not take the descriptors of the others."""
    surplus_bytes: int = 64 * 1024
    """Behind a request; they are read, so that its end is seen, and never used."""
    refused_s: float = 5.0
    """For the rest of a request that was refused before its end: closing on bytes that nobody read
    would reset the connection, and the answer would be lost (RFC 9112, 9.6)."""
    refused_bytes: int = 16 * 1024 * 1024
    """Of that rest."""
    connect_s: float = 30.0
    """Name, connection, proxy and TLS."""
    first_byte_s: float = 300.0
    """From the request to the answer's head; where its harness listens longer, so long."""
    idle_s: float = 600.0
    """Without a semantic event; comments and pings are none."""
    reader_s: float = 600.0
    """For a reader that takes nothing."""
    flush_s: float = 60.0
    """For a reader to take the rest once an answer is over."""
    linger_s: float = 0.5
    """For the end of a body after its terminal event."""
    drain_s: float = 5.0
    """For the usage after the client left."""
    drain_bytes: int = 1024 * 1024
    error_body_s: float = 30.0
    error_body_bytes: int = 64 * 1024
    alive_every_s: float = 5.0
    """How often a stream's sign of life is told."""
