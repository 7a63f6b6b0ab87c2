"""A line of JSON that a harness printed or saved, as a message of ours, or None where it is none.

Decides nothing about what it says. Pure; it must never raise on what it reads: the agent's programs
may write to the same place.
"""

import json
from typing import TypeVar

import msgspec

T = TypeVar("T")


def decoded(decoder: msgspec.json.Decoder[T], data: str | bytes | msgspec.Raw) -> T | None:
    """What the line says."""
    try:
        return decoder.decode(data)
    except (msgspec.DecodeError, ValueError, RecursionError):
        return None


def mended(decoder: msgspec.json.Decoder[T], data: str | bytes) -> T | None:
    """The same; JavaScript cuts texts inside a surrogate pair and saves the half, which is not
    Unicode, so such halves are replaced.
    """
    found = decoded(decoder, data)
    if found is not None:
        return found
    try:
        text = json.dumps(json.loads(data), ensure_ascii=False)
    except (ValueError, RecursionError):
        return None
    return decoded(decoder, text.encode("utf-8", "replace"))
