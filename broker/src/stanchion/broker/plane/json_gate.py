"""The strict reading of a request body: what two parsers could understand differently is refused.

Pure. Duplicate keys (by their decoded names), NaN and Infinity, text that is not UTF-8, lone
surrogates and nesting beyond 64 levels never get past it (RFC 8259, section 4: names SHOULD be
unique, and what a receiver makes of duplicates is unpredictable).
"""

import json
from typing import Never

import msgspec

MAX_DEPTH = 64


class BodyError(ValueError):
    """A body that is not forwarded; the message says which rule it breaks, never its content."""


def read_object(body: bytes) -> dict[str, object]:
    """The JSON object in `body`, or BodyError."""
    try:
        value = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError):
        raise BodyError("the body is not valid JSON in UTF-8") from None
    except RecursionError:
        raise BodyError(f"the body is nested deeper than {MAX_DEPTH} levels") from None
    if not isinstance(value, dict):
        raise BodyError("the body is not a JSON object")
    if _depth(value) > MAX_DEPTH:
        raise BodyError(f"the body is nested deeper than {MAX_DEPTH} levels")
    _refuse_duplicates(body)
    return value


def _depth(value: object) -> int:
    """Levels of containers; stops counting just above the limit."""
    level: list[object] = [value]
    depth = 0
    while level and depth <= MAX_DEPTH:
        depth += 1
        level = [
            child
            for container in level
            for child in (container.values() if isinstance(container, dict) else _items(container))
            if isinstance(child, (dict, list))
        ]
    return depth


def _items(container: object) -> list[object]:
    return container if isinstance(container, list) else []


def _refuse_duplicates(body: bytes) -> None:
    try:
        json.loads(body, object_pairs_hook=_unique, parse_constant=_no_constant)
    except BodyError:
        raise
    except (ValueError, RecursionError):
        raise BodyError("the body is not valid JSON in UTF-8") from None


def _unique(pairs: list[tuple[str, object]]) -> None:
    if len({name for name, _ in pairs}) != len(pairs):
        raise BodyError("the body has an object with the same key twice")


def _no_constant(_name: str) -> Never:
    raise BodyError("the body has a number that JSON does not know")
