"""The rules of a fault that its types cannot say, as the rest of a sentence that names it.

Decides what is refused before a script is played: headers that HTTP forbids, a key in places
where it cannot be in that form. It must never soften a script; it accepts or refuses.
"""

import re
from functools import singledispatch

from stanchion.rehearsal.faults import kinds

_HEADER_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_HEADER_VALUE = re.compile(r"[\x20-\x7e]*")
_FRAMING = {"connection", "content-length", "content-type", "transfer-encoding"}


@singledispatch
def problem(_fault: kinds.AnyFault) -> str | None:
    """What is wrong, beginning with the field; None if nothing is."""
    return None


@problem.register
def _status(fault: kinds.StatusFault) -> str | None:
    if isinstance(fault.retry_after, str) and not _HEADER_VALUE.fullmatch(fault.retry_after):
        return ".retry_after is no header value; write printable ASCII characters"
    for name, value in fault.headers.items():
        if not _HEADER_NAME.fullmatch(name) or not _HEADER_VALUE.fullmatch(value):
            return (
                f".headers has {name!r}, which makes no header; "
                "write a name without spaces and a value of printable ASCII characters"
            )
        if name.lower() in _FRAMING:
            return f".headers has {name!r}, which the body itself decides; leave it out"
    return None


@problem.register
def _redirect(fault: kinds.RedirectFault) -> str | None:
    if not _HEADER_VALUE.fullmatch(fault.location):
        return ".location is no header value; write printable ASCII characters"
    return None


@problem.register
def _key_echo(fault: kinds.KeyEchoFault) -> str | None:
    if fault.where == "header" and fault.form in {"split", "deltas"}:
        return f".form is {fault.form!r}, but a header has no parts; write plain or base64"
    if fault.where == "body" and fault.form == "deltas":
        return '.form is "deltas", but an error body has none; write split, or where = "text"'
    return None
