"""The faults a turn may name, as data: one type for each kind, told apart by its `kind`.

Decides which faults are valid and what their fields mean. What a fault does to an answer is
decided in `answers` and `replies`; this module must never know bytes or dialects.
"""

from collections.abc import Mapping
from typing import Annotated, Literal

import msgspec

Count = Annotated[int, msgspec.Meta(ge=0)]
Positive = Annotated[int, msgspec.Meta(ge=1)]
ErrorStatus = Annotated[int, msgspec.Meta(ge=400, le=599)]
WaitS = Annotated[float, msgspec.Meta(ge=0, le=86_400)]
Word = Annotated[str, msgspec.Meta(min_length=1)]


class AnyFault(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="kind"
):
    """What every fault has."""

    times: Positive | None = None
    """The first so many requests get the fault, later ones the turn itself; None: all do."""


class StatusFault(AnyFault, frozen=True, kw_only=True, tag="status"):
    """An error status with a body in the dialect's shape."""

    status: ErrorStatus
    message: str | None = None
    error_type: Word | None = None
    """None: the dialect's own word for the status."""
    error_code: Word | None = None
    """Only where the dialect has codes."""
    retry_after: Count | Word | None = None
    """Whole seconds, or any text for the header as it stands, such as an HTTP date."""
    headers: dict[str, str] = {}


class ErrorEventFault(AnyFault, frozen=True, kw_only=True, tag="error_event"):
    """An error object in a 200: after some events of a stream, or as the whole body."""

    after: Count = 0
    message: str | None = None
    error_type: Word | None = None
    error_code: Word | None = None


class CutFault(AnyFault, frozen=True, kw_only=True, tag="cut"):
    """The connection goes away in the middle of the response."""

    after: Count = 0
    extra_bytes: Count = 0
    """So many bytes of the next event are sent as well."""
    how: Literal["fin", "rst"] = "fin"


class StallFault(AnyFault, frozen=True, kw_only=True, tag="stall"):
    """Silence on an open connection."""

    after: Count = 0
    stall_s: WaitS | None = None
    """None: until the client goes away."""


class DripFault(AnyFault, frozen=True, kw_only=True, tag="drip"):
    """Signs of life without data."""

    after: Count = 0
    interval_s: Annotated[float, msgspec.Meta(gt=0, le=3600)] = 1.0
    count: Positive | None = None
    """None: until the client goes away."""


class SlowHeadersFault(AnyFault, frozen=True, kw_only=True, tag="slow_headers"):
    """A wait before the status line."""

    wait_s: WaitS


class MissingUsageFault(AnyFault, frozen=True, kw_only=True, tag="missing_usage"):
    """An answer without any token counts."""


class LengthFault(AnyFault, frozen=True, kw_only=True, tag="length"):
    """An answer that says it was cut at the output limit."""

    in_call: bool = False
    """True: the limit struck within the arguments of the last tool call."""


class RedirectFault(AnyFault, frozen=True, kw_only=True, tag="redirect"):
    """The advice to ask elsewhere."""

    location: Word
    status: Literal[301, 302, 303, 307, 308] = 307


class KeyEchoFault(AnyFault, frozen=True, kw_only=True, tag="key_echo"):
    """The key that the client presented, said back to it."""

    where: Literal["header", "body", "text"] = "body"
    """A header of the answer, the message of an error, or the text of the answer."""
    form: Literal["plain", "base64", "split", "deltas"] = "plain"
    """split: the bytes leave in two halves; deltas: the halves are two events of a stream."""
    status: ErrorStatus = 401
    """Of the error, where it is one."""


class GarbageFault(AnyFault, frozen=True, kw_only=True, tag="garbage"):
    """A 200 that no provider means."""

    what: Literal["html", "empty", "line", "json"] = "html"
    """A page, no bytes, a plain line among the events that ends them, one event cut short."""
    after: Count = 0
    """Events before the line, or before the broken one."""


class NoFinishFault(AnyFault, frozen=True, kw_only=True, tag="no_finish"):
    """A stream that ends cleanly and never says why."""

    done: bool = False
    """True: the dialect's end marker comes all the same."""


class UnknownFinishFault(AnyFault, frozen=True, kw_only=True, tag="unknown_finish"):
    """A finish word that no client knows."""

    word: Word = "rehearsed_unknown"


Fault = (
    StatusFault
    | ErrorEventFault
    | CutFault
    | StallFault
    | DripFault
    | SlowHeadersFault
    | MissingUsageFault
    | LengthFault
    | RedirectFault
    | KeyEchoFault
    | GarbageFault
    | NoFinishFault
    | UnknownFinishFault
)
KINDS: Mapping[str, type[AnyFault]] = {
    str(kind.__struct_config__.tag): kind for kind in AnyFault.__subclasses__()
}
REPLACES_THE_ANSWER = (StatusFault, RedirectFault)
"""With one of these and no `times`, nothing of the turn itself is ever sent."""


def kind_of(fault: AnyFault) -> str:
    return str(fault.__struct_config__.tag)
