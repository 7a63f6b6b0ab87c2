"""Texts with `{{name}}` in them: what a name stands for, and what was put in its place.

Decides only how a text is filled in and read again; it must never fill in a value that the launch
does not have, and never pass a name on that nobody knows.
"""

import json
import re
from collections.abc import Iterable, Mapping

from stanchion.harness_adapters.base import Settings

KEY = "placeholder"
"""The real key never enters the sandbox; the relay replaces this one."""
PROGRAM = "program"
NAMES = (
    "base_url",
    "key",
    "model",
    "output_limit",
    "context",
    "effort",
    "thinking_budget",
    "dialect",
    "instruction",
    "instruction_json",
    "home",
    "workdir",
    PROGRAM,
)
_PLACE = re.compile(r"\{\{\s*([^{}]*?)\s*\}\}")
_CAPTURED = frozenset({"base_url", "model", "output_limit", "context", "effort", "thinking_budget"})


class UnspecifiedError(Exception):
    """The launch has no value for a name; its message is the name."""


def values(settings: Settings) -> dict[str, str | None]:
    """What each name stands for; None = the launch does not say."""
    return {
        "base_url": settings.base_url,
        "key": KEY,
        "model": settings.model,
        "output_limit": str(settings.output_limit),
        "context": _digits(settings.context),
        "effort": settings.effort,
        "thinking_budget": _digits(settings.thinking_budget),
        "dialect": settings.dialect.value,
        "instruction": settings.instruction,
        "instruction_json": json.dumps(settings.instruction),
        "home": settings.home,
        "workdir": settings.workdir,
        PROGRAM: f"{settings.package_dir}/{PROGRAM}",
    }


def _digits(value: int | None) -> str | None:
    return None if value is None else str(value)


def names_in(text: str) -> tuple[str, ...]:
    """The names that a text has, known or not, in their order."""
    return tuple(_PLACE.findall(text))


def filled(text: str, known: Mapping[str, str | None]) -> str:
    """The text with its values; UnspecifiedError where there is none."""

    def value(place: re.Match[str]) -> str:
        found = known[place[1]]
        if found is None:
            raise UnspecifiedError(place[1])
        return found

    return _PLACE.sub(value, text)


def has_all(texts: Iterable[str], known: Mapping[str, str | None]) -> bool:
    """Whether the launch has a value for every name in these texts."""
    return all(known[name] is not None for text in texts for name in names_in(text))


def said(template: str, text: str) -> dict[str, str] | None:
    """The values that stand in a filled text; None where it is no text of this template."""
    pattern, counted, end = "", [], 0
    for place in _PLACE.finditer(template):
        pattern += re.escape(template[end : place.start()]) + "(.*?)"
        counted.append(place[1])
        end = place.end()
    match = re.fullmatch(pattern + re.escape(template[end:]), text, re.DOTALL)
    if match is None:
        return None
    found: dict[str, str] = {}
    for name, value in zip(counted, match.groups(), strict=True):
        if name in _CAPTURED and found.setdefault(name, value) != value:
            return None
    return found
