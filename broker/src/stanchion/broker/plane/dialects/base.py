"""What the broker asks of a dialect: the words of a request, and a fold over a response. Pure.

A fold sees whole JSON documents; cutting the byte stream is not its business. It must never
invent a figure: what the provider did not say stays None.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import msgspec

from stanchion.broker.plane.dialects.figures import Reported
from stanchion.broker.plane.frame import Frame
from stanchion.broker.plane.lookout import Lookout
from stanchion.protocol.exchange import Asked, ErrorClass, Finish


class ProviderError(msgspec.Struct, frozen=True):
    """An error object that the provider sent, whole or within a stream."""

    words: str | None
    code: str | None = None
    kind: str | None = None
    param: str | None = None
    status: int | None = None
    retry_after_ms: int | None = None
    """The wait that the object itself asks for, beside any header."""
    detail: str | None = None
    """What a router says that its own provider said: it is classified by, and never kept."""


class Told(msgspec.Struct, frozen=True):
    """What a response said, as far as it came."""

    error: ProviderError | None
    finish: Finish | None
    finish_raw: str | None
    model: str | None
    reported: Reported
    reasoning: bool
    text: bool
    tool_calls: int
    """Whole ones."""
    cut_calls: int
    """Begun, and not whole."""
    response_id: str | None = None
    """As the provider names the response itself."""
    call_ids: tuple[str, ...] = ()
    """Of the whole tool calls that have one, in their order."""
    malformed: Mapping[str, str] = {}
    """Of the words above, what was said where it cannot be one, by the name on record."""


class ResponseFold(Protocol):
    """Collects what one response says."""

    @property
    def done(self) -> bool:
        """Whether the dialect's terminal event came."""

    @property
    def failed(self) -> bool:
        """Whether an error came."""

    def stream_event(self, data: bytes) -> bool:
        """Take the data of one stream event; whether it meant anything (a ping does not)."""

    def whole_body(self, data: bytes) -> bool:
        """Take a whole JSON body; False if it is none."""

    def stray_line(self, text: bytes) -> None:
        """Take a line that is no part of the event stream, which may be a bare error object."""

    def told(self) -> Told:
        """Everything so far."""


def _never(_fold: ResponseFold) -> bool:
    return False


def _unknown(_fold: ResponseFold, _data: bytes) -> None:
    return None


@dataclass(frozen=True)
class DialectReader:
    """One dialect."""

    read_request: Callable[[Mapping[str, object], bytes], Asked]
    new_fold: Callable[[], ResponseFold]
    markers: tuple[bytes, ...]
    """Byte strings of which one is in every event that ends a response or reports an error; where
    none of them is, bytes may leave before they are read."""
    stream_needs_terminal: bool = False
    """Whether a stream that said why it stopped is still cut where its terminal event is missing;
    servers of other dialects leave that one out."""
    may_be_last: Callable[[ResponseFold], bool] = _never
    """Whether the event that was read last may end a response although more could follow: it waits
    for the next one, or for the end. For dialects without a terminal event."""
    frame: Callable[[ResponseFold, bytes], Frame | None] = _unknown
    """What stands around the text of an event that the fold took just now, if another text in its
    place would tell the fold nothing but that it came; None = that is not known."""

    @cached_property
    def lookout(self) -> Lookout:
        """For the markers."""
        return Lookout(self.markers)


def an_id(value: object) -> str | None:
    """A name that a provider gave something; None = it gave none."""
    return value if isinstance(value, str) and value else None


REFUSALS = frozenset(
    {
        ErrorClass.AUTH,
        ErrorClass.BILLING,
        ErrorClass.QUOTA,
        ErrorClass.MODEL_NOT_FOUND,
        ErrorClass.LIMIT_REJECTED,
    }
)
"""Failures that a further request cannot mend."""
