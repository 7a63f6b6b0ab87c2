"""Whether a request's body may go on under an attempt's terms, or what it is refused with. Pure.

The order is: the route's dialect, one strict JSON object, no field that is denied, one model where
the path has one. A refusal is a constant; what it was for stands in the record only, in our own
words.
"""

from dataclasses import dataclass
from typing import Protocol

import msgspec

from stanchion.broker.plane.corrections import corrected
from stanchion.broker.plane.dialects.readers import READERS
from stanchion.broker.plane.fields.policy import first_denied
from stanchion.broker.plane.fields.table import names
from stanchion.broker.plane.http_gate import UPSTREAM, Route
from stanchion.broker.plane.json_gate import BodyError, read_object
from stanchion.broker.plane.path_model import with_path
from stanchion.protocol.dialects import Dialect
from stanchion.protocol.exchange import Asked
from stanchion.protocol.launch import LaunchSpec


class Request(Protocol):
    """What came."""

    @property
    def route(self) -> Route:
        """Where to."""

    @property
    def model(self) -> str | None:
        """That of the path, where it stands there."""

    @property
    def body(self) -> bytes:
        """The whole body."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """A request that is not sent: the status and word of its constant reply."""

    status: int
    word: str
    detail: str = ""
    """For the record only."""

    @property
    def record(self) -> str:
        """What the receipt says."""
        return f"{self.word}: {self.detail}" if self.detail else self.word


class Leaving(msgspec.Struct, frozen=True):
    """A request as it is sent."""

    body: bytes
    asked: Asked
    """Its words, read from these very bytes."""
    corrections: tuple[str, ...]
    """The fields that are not as they came."""
    refusal: Refusal | None = None
    """Why it must not leave after all, though it is as declared."""


def leaving(spec: LaunchSpec, request: Request, asked: Asked, *, side: str | None) -> Leaving:
    """The request that came, but for the corrections that were declared; none of a side request.

    A correction beside another spelling of the same setting would leave it to the server which one
    counts.
    """
    if side is not None or not spec.corrections:
        return Leaving(request.body, asked, ())
    made = corrected(request.body, spec.corrections)
    if not made.fields:
        return Leaving(request.body, asked, ())
    path = UPSTREAM[request.route][1]
    body = read_object(made.body)
    twin = first_denied(spec.dialect, body, frozenset(names()))
    refusal = None if twin is None else Refusal(403, "field_denied", twin.words)
    sent = READERS[spec.dialect].read_request(body, made.body)
    return Leaving(made.body, with_path(sent, path, request.model) or sent, made.fields, refusal)


def admitted(dialect: Dialect, request: Request, allow_fields: frozenset[str]) -> Asked | Refusal:
    """The words of a request that may be sent on, or its refusal."""
    spoken, path = UPSTREAM[request.route]
    if spoken is not dialect:
        return Refusal(404, "not_found")
    try:
        body = read_object(request.body)
    except BodyError:
        return Refusal(400, "bad_body")
    field = first_denied(dialect, body, allow_fields)
    if field is not None:
        return Refusal(403, "field_denied", field.words)
    asked = with_path(READERS[dialect].read_request(body, request.body), path, request.model)
    return Refusal(400, "two_models") if asked is None else asked
