"""The strict reading of a request body: what two parsers could understand differently is refused.

Pure. Duplicate keys (by their decoded names), NaN, Infinity and numbers beyond a double, whole
numbers beyond 64 bits, text that is not UTF-8, a byte order mark, lone surrogates and nesting
beyond 64 levels never get past it (RFC 8259, sections 4, 6 and 8: names SHOULD be unique, numbers
within what doubles hold, text UTF-8 without a mark). What passes is forwarded as it came.
"""

import re
from collections.abc import Iterable

import msgspec

MAX_DEPTH = 64
MIN_INT, MAX_INT = -(2**63), 2**64 - 1
"""Signed or unsigned 64 bits; beyond them some parsers wrap, others round."""

_CONTAINERS = (dict, list)
_BACKSLASH = ord("\\")
_LONG = re.compile(rb"[0-9]{19}")


class BodyError(ValueError):
    """A body that is not forwarded; the message says which rule it breaks, never its content."""


def read_object(body: bytes) -> dict[str, object]:
    """The JSON object in `body`, or BodyError."""
    value = read_value(body)
    if not isinstance(value, dict):
        raise BodyError("the body is not a JSON object")
    return value


def read_value(body: bytes) -> object:
    """The JSON value in `body`, or BodyError."""
    try:
        value: object = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError):
        raise BodyError("the body is not valid JSON in UTF-8") from None
    except RecursionError:
        raise BodyError(f"the body is nested deeper than {MAX_DEPTH} levels") from None
    names = _count_names(value)
    marks = _outside_strings(body)
    if marks.count(b":") != names:
        raise BodyError("the body has an object with the same key twice")
    if _LONG.search(marks) is not None and _has_huge_integer(value):
        raise BodyError("the body has a whole number beyond 64 bits")
    return value


def _count_names(value: object) -> int:
    """Names over all objects, each counted once per object; BodyError for too deep a nesting."""
    level: list[object] = [value]
    names = 0
    for _ in range(MAX_DEPTH):
        inner: list[object] = []
        for container in level:
            if isinstance(container, dict):
                names += len(container)
                children: Iterable[object] = container.values()
            elif isinstance(container, list):
                children = container
            else:
                continue
            inner += [child for child in children if isinstance(child, _CONTAINERS)]
        if not inner:
            return names
        level = inner
    raise BodyError(f"the body is nested deeper than {MAX_DEPTH} levels")


def _outside_strings(body: bytes) -> bytes:
    """A valid document without its strings: in what is left, each colon belongs to one name.

    Backslashes are in strings only, and pairs of them go first, so a quote that still has one
    before it is escaped, and every other one begins or ends a string.
    """
    if _BACKSLASH in body:
        body = body.replace(b"\\\\", b"").replace(b'\\"', b"")
    return b"".join(body.split(b'"')[::2])


def _has_huge_integer(value: object) -> bool:
    pending = [value]
    while pending:
        item = pending.pop()
        if isinstance(item, dict):
            pending += item.values()
        elif isinstance(item, list):
            pending += item
        elif isinstance(item, int) and not MIN_INT <= item <= MAX_INT:
            return True
    return False
