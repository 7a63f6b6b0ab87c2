"""A signed line, read so that no byte of it goes unread. Pure.

Bytes that could be spelled otherwise, or that say something this version does not know, are
refused: a reader who passed over them would vouch for what nobody checked.
"""

from typing import Any, TypeVar

import msgspec

from stanchion.protocol.codec import encode

T = TypeVar("T")


class FaultError(ValueError):
    """What is wrong with the line in hand."""


def exact(line: bytes, decoder: msgspec.json.Decoder[T], what: str) -> tuple[T, dict[str, Any]]:
    """The message in a line that has no second spelling, and the line as plain JSON.

    A field that a newer version added may be missing (it reads as unknown); one that this version
    does not know may not be there.
    """
    try:
        raw = msgspec.json.decode(line)
        canonical = encode(raw) == line
        message = decoder.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise FaultError(f"not a {what}: {error}") from None
    if not canonical:
        raise FaultError(f"the {what} is not in canonical form")
    stranger = _stranger(raw, msgspec.json.decode(encode(message)), "")
    if stranger is not None:
        raise FaultError(f"the {what} has {stranger}, which this version does not know")
    return message, raw


def _stranger(raw: Any, known: Any, path: str) -> str | None:
    """The first place where the line says something that its message does not."""
    if isinstance(raw, dict) and isinstance(known, dict):
        for name, value in raw.items():
            inner = f"{path}.{name}" if path else name
            found = _stranger(value, known[name], inner) if name in known else inner
            if found is not None:
                return found
        return None
    if isinstance(raw, list) and isinstance(known, list) and len(raw) == len(known):
        pairs = enumerate(zip(raw, known, strict=True))
        inners = (_stranger(value, other, f"{path}.{at}") for at, (value, other) in pairs)
        return next((inner for inner in inners if inner is not None), None)
    return None if type(raw) is type(known) and raw == known else path
