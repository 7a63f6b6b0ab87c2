"""What a program of the user's is really told, read from its arguments, variables and files.

Decides which values stand there, by the very texts that they were put into; two places that differ
say nothing. Pure; it must never report a value that the program cannot find.
"""

from collections.abc import Iterator, Mapping

from stanchion.harness_adapters.base import ARGUMENTS, INPUT, Written
from stanchion.harness_adapters.command.templates import said
from stanchion.protocol.launch import Command

_NOTHING = Written(model=None, base_url=None, output_limit=None, context=None, effort=None)


def understood(command: Command, env: Mapping[str, str], files: Mapping[str, bytes]) -> Written:
    """The values; none of them where a text is not what its template makes."""
    found: dict[str, str] = {}
    for values in _places(command, env, files):
        if values is None:
            return _NOTHING
        for name, value in values.items():
            if found.setdefault(name, value) != value:
                return _NOTHING
    return Written(
        model=found.get("model"),
        base_url=found.get("base_url"),
        output_limit=_number(found.get("output_limit")),
        context=_number(found.get("context")),
        effort=found.get("effort"),
        thinking_budget=_number(found.get("thinking_budget")),
        unsaid=frozenset(command.cannot_say),
    )


def _places(
    command: Command, env: Mapping[str, str], files: Mapping[str, bytes]
) -> Iterator[dict[str, str] | None]:
    arguments = files.get(ARGUMENTS, b"").decode(errors="replace").split("\0")
    yield from _arguments(command, arguments)
    for name, template in command.env.items():
        if name in env:
            yield said(template, env[name])
    yield said(command.stdin, files.get(INPUT, b"").decode(errors="replace"))
    for path, template in command.files.items():
        place = path.replace("{{home}}", env.get("HOME", ""))
        yield said(template, files.get(place, b"").decode(errors="replace"))


def _arguments(command: Command, arguments: list[str]) -> Iterator[dict[str, str] | None]:
    rest = arguments
    for group in command.argv:
        wanted = (group,) if isinstance(group, str) else group
        found = [said(template, text) for template, text in zip(wanted, rest, strict=False)]
        if len(found) == len(wanted) and None not in found:
            yield from found
            rest = rest[len(wanted) :]
        elif isinstance(group, str):
            yield None
    if rest:
        yield None


def _number(text: str | None) -> int | None:
    return int(text) if text is not None and text.isascii() and text.isdigit() else None
