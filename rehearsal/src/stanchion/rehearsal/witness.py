"""What the rehearsal saw at the provider's end of the wire, one JSON line for each request.

Decides the fields of a line. The digests are of the exact entity bytes received and sent, so a
test can compare them with a broker's receipts without trusting the broker. It must never hold a
key or a body.
"""

import hashlib
from dataclasses import dataclass, field

import msgspec

from stanchion.rehearsal.turns import Asked


class Sighting(msgspec.Struct, frozen=True, kw_only=True):
    """One line of the witness log. None is "not known" or "not there", never zero."""

    at_ms: int
    """Wall clock when the request's head had arrived."""
    request_id: str
    method: str
    path: str
    status: int | None
    """None: the client went away before the status line."""
    turn: int | None
    model: str | None
    max_tokens: object
    max_completion_tokens: object
    reasoning_effort: object
    """The effort word, wherever the dialect has it."""
    thinking_type: object
    thinking_budget_tokens: object
    max_output_tokens: object
    stream: bool | None
    tools: tuple[str, ...] | None
    body_sha256: str | None
    body_bytes: int | None
    response_sha256: str
    response_bytes: int
    complete: bool
    """The last byte was handed to the socket; a False makes the digest one of a prefix."""
    client_gone: bool
    key_ok: bool | None
    """None: any key is accepted."""
    fault: str | None
    """The kind of the fault that this request met; None if it was served as the turn stands."""


@dataclass(slots=True)
class Exchange:
    """What is known so far of one request and its response."""

    at_ms: int
    request_id: str
    method: str
    path: str
    key_ok: bool | None = None
    fault: str | None = None
    body: bytes | None = None
    asked: Asked | None = None
    turn: int | None = None
    status: int | None = None
    complete: bool = False
    client_gone: bool = False
    response_bytes: int = 0
    _digest: "hashlib._Hash" = field(default_factory=hashlib.sha256)

    def sent(self, data: bytes) -> None:
        """Count bytes that the socket took."""
        self._digest.update(data)
        self.response_bytes += len(data)

    def line(self) -> bytes:
        """The finished line, newline included."""
        asked = self.asked
        sighting = Sighting(
            at_ms=self.at_ms,
            request_id=self.request_id,
            method=self.method,
            path=self.path,
            status=self.status,
            turn=self.turn,
            model=asked.model if asked else None,
            max_tokens=asked.max_tokens if asked else None,
            max_completion_tokens=asked.max_completion_tokens if asked else None,
            reasoning_effort=asked.reasoning_effort if asked else None,
            thinking_type=asked.thinking_type if asked else None,
            thinking_budget_tokens=asked.thinking_budget_tokens if asked else None,
            max_output_tokens=asked.max_output_tokens if asked else None,
            stream=asked.stream if asked else None,
            tools=asked.tools if asked else None,
            body_sha256=None if self.body is None else hashlib.sha256(self.body).hexdigest(),
            body_bytes=None if self.body is None else len(self.body),
            response_sha256=self._digest.hexdigest(),
            response_bytes=self.response_bytes,
            complete=self.complete,
            client_gone=self.client_gone,
            key_ok=self.key_ok,
            fault=self.fault,
        )
        return msgspec.json.encode(sighting) + b"\n"
