"""Values of a JSON text that a harness would take, or nothing where it is not of their kind.

Decides only what kind a value is; which values a harness takes is for its own module. Pure; it must
never raise on what it reads.
"""

import json
from collections.abc import Mapping


def table_of(text: bytes) -> dict[str, object]:
    """The object that the text is; an empty one for any other text."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def part(table: Mapping[str, object], name: str) -> Mapping[str, object]:
    """The object of that name; an empty one where there is none."""
    value = table.get(name)
    return value if isinstance(value, dict) else {}


def whole(value: object) -> int | None:
    """A whole number; true and false are none."""
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def text(value: object) -> str | None:
    """A text with anything in it."""
    return value if isinstance(value, str) and value else None
