"""Reads single values of a request or response, and keeps what cannot be one, in short. Pure.

Anything may be of any type on the wire. A value of another type than the protocol's is null on
record, and the record says that it is malformed: that is not the same as absent.
"""

import re
from collections.abc import Mapping

_NUMERIC = re.compile(r"[-+.0-9eE]{1,24}\Z")


def short(value: object) -> str:
    """A malformed value in few characters: what looks like a number as it is, else its kind.

    Any other text may be anything, a secret too, and no part of it is kept.
    """
    if isinstance(value, str):
        return repr(value) if _NUMERIC.match(value) else f"a text of {len(value)} characters"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return str(value)[:24]
    return "an object" if isinstance(value, dict) else "an array"


class Words:
    """The values of one request, or of one response so far; the last one said stands."""

    def __init__(self) -> None:
        self.malformed: dict[str, str] = {}
        """By the name that it has on record, what was said instead."""

    def text(self, name: str, value: object) -> str | None:
        """A text, as it is; None = absent or malformed."""
        if isinstance(value, str):
            if self.malformed:
                self.malformed.pop(name, None)
            return value
        if value is not None:
            self.malformed[name] = short(value)
        return None

    def whole(self, name: str, value: object) -> int | None:
        """A whole number; None = absent or malformed."""
        if isinstance(value, int) and not isinstance(value, bool):
            if self.malformed:
                self.malformed.pop(name, None)
            return value
        if value is not None:
            self.malformed[name] = short(value)
        return None

    def truth(self, name: str, value: object) -> bool | None:
        """True or false; None = absent or malformed."""
        if isinstance(value, bool):
            if self.malformed:
                self.malformed.pop(name, None)
            return value
        if value is not None:
            self.malformed[name] = short(value)
        return None

    def inside(self, name: str, holder: object, member: str) -> object:
        """A member of an object; where the holder is none, what was to be in it is malformed."""
        if isinstance(holder, dict):
            return holder.get(member)
        if holder is not None:
            self.malformed[name] = short(holder)
        return None

    def one(self, name: str, fields: Mapping[str, object]) -> tuple[str | None, object]:
        """The field of several that says something, and what; they may say the same.

        Which of two that disagree the provider obeys, nobody knows: that is malformed.
        """
        said = [(field, value) for field, value in fields.items() if value is not None]
        if not said:
            return None, None
        field, first = said[0]
        if len(said) == 1 or all(value == first for _, value in said):
            return field, first
        self.malformed[name] = ", ".join(f"{at} {short(value)}" for at, value in said)
        return field, None
