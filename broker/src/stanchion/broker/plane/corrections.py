"""Writes one member of a JSON object and leaves every other byte as it is. Pure.

For the corrections that an adapter declares where its harness cannot say a limit or an effort
itself. It decides where the member stands, or where it goes; it never decides what is corrected,
makes no object that is not there, and of a member that holds one or an array it keeps away. The
body must have passed the strict reading (one JSON object in UTF-8, no name twice), which is what
makes the place unambiguous.
"""

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import msgspec

from stanchion.protocol.launch import Correction

_SPACE = re.compile(r"[ \t\n\r]*")
_decoder = json.JSONDecoder()


@dataclass(frozen=True, slots=True)
class Corrected:
    """A body as it is sent, and the fields that were corrected."""

    body: bytes
    fields: tuple[str, ...]


def corrected(body: bytes, corrections: Iterable[Correction]) -> Corrected:
    """The body with each correction made that it needs; one that it has already is none."""
    fields = []
    for correction in corrections:
        edited = with_member(body, correction.field, correction.value)
        if edited is not body:
            body = edited
            fields.append(correction.field)
    return Corrected(body, tuple(fields))


def with_member(body: bytes, name: str, value: int | str) -> bytes:
    """The object with this member; the same bytes where it is so already, or is no plain value.

    A dot in the name leads into an object; without that object the bytes stay the same too.
    """
    text = body.decode()
    written = msgspec.json.encode(value).decode()
    *parents, name = name.split(".")
    at = _object(text, parents)
    if at is None:
        return body
    end = at
    for key, start, end in _members(text, at):
        if key == name:
            if text[start] in "{[" or _is(text[start:end], value):
                return body
            return (text[:start] + written + text[end:]).encode()
    member = f"{msgspec.json.encode(name).decode()}:{written}"
    if text[end] == "{":  # it has no member
        return (text[: end + 1] + member + text[end + 1 :]).encode()
    return (text[:end] + "," + member + text[end:]).encode()


def _object(text: str, path: Iterable[str]) -> int | None:
    """Where the object at the end of this path begins; None = there is none."""
    at = _skip(text, 0)
    for name in path:
        inside = (start for key, start, _ in _members(text, at) if key == name)
        start = next(inside, None)
        if start is None or text[start] != "{":
            return None
        at = start
    return at


def _members(text: str, at: int) -> Iterator[tuple[str, int, int]]:
    """Each member of the object there: its name, and where its value begins and ends."""
    at = _skip(text, at + 1)
    while text[at] != "}":
        name, at = _decoder.raw_decode(text, at)
        start = _skip(text, _skip(text, at) + 1)
        _, end = _decoder.raw_decode(text, start)
        yield name, start, end
        at = _skip(text, end)
        at = _skip(text, at + 1) if text[at] == "," else at


def _skip(text: str, at: int) -> int:
    """Behind the white space."""
    match = _SPACE.match(text, at)
    return at if match is None else match.end()


def _is(written: str, value: int | str) -> bool:
    """Whether it is that value already, whatever its spelling; a float is no integer."""
    read = json.loads(written)
    return type(read) is type(value) and read == value
