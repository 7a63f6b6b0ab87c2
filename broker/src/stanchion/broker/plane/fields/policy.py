"""Finds the first field of a body that the table denies and the profile does not allow. Pure.

It reads names and values, never a model table, and it changes nothing: what it lets through is
forwarded byte for byte and named in the receipt. What it says holds no word of the caller's.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from stanchion.broker.plane.fields.table import (
    CLIENT_TOOL_PREFIXES,
    CLIENT_TOOLS,
    GEMINI_CLIENT_TOOL,
    HOSTED_TOOLS,
    OPAQUE,
    RULES,
    SOURCES,
    TWIN_FIELDS,
    TWINS,
    TYPES,
    UNKNOWN_TOOL,
    Rule,
    fold,
)
from stanchion.protocol.dialects import Dialect

SETTINGS_DEPTH = 3
"""Levels of objects in objects, from the body's own, that hold settings and not content."""


@dataclass(frozen=True, slots=True)
class DeniedField:
    """A name of `allow_fields`, and the key that it was found by, in the table's spelling."""

    name: str
    key: str

    @property
    def words(self) -> str:
        """For the record."""
        return self.name if self.key == self.name else f"{self.name} ({self.key})"


def first_denied(
    dialect: Dialect, body: Mapping[str, object], allowed: frozenset[str]
) -> DeniedField | None:
    """The first field of the body that may not be sent; None = there is none."""
    for field in _all(dialect, body):
        if field.name not in allowed:
            return field
    return None


def _all(dialect: Dialect, body: Mapping[str, object]) -> Iterator[DeniedField]:
    folded_body = [(fold(key), member) for key, member in body.items()]
    yield from _twins(body, dict(folded_body))
    if dialect is Dialect.OPENAI_RESPONSES:
        yield from _bare_references(body.get("input"))
    rules, watched = _TOP[dialect], _WATCHED_AT_TOP[dialect]
    for folded, member in folded_body:
        if folded in watched:
            yield from _member(dialect, folded, member, rules)
    rules, watched = _ANYWHERE[dialect], _WATCHED_ANYWHERE[dialect]
    pending = [value for value in body.values() if isinstance(value, _CONTAINERS)]
    while pending:
        value = pending.pop()
        if isinstance(value, list):
            pending += [child for child in value if isinstance(child, _CONTAINERS)]
            continue
        for key, member in value.items():
            folded = fold(key)
            if folded in watched:
                yield from _member(dialect, folded, member, rules)
            if isinstance(member, _CONTAINERS) and folded not in _OPAQUE_BELOW:
                pending.append(member)


def _member(
    dialect: Dialect, folded: str, member: object, rules: Mapping[str, tuple[Rule, str]]
) -> Iterator[DeniedField]:
    """What is denied of one member of an object, for its name is one that is watched."""
    found = rules.get(folded)
    if found is not None and found[0].denies(member):
        yield DeniedField(found[0].name, found[1])
    elif folded == "tools":
        yield from _tools(dialect, member)
    elif folded == "type" and isinstance(member, str) and member in TYPES:
        yield DeniedField(TYPES[member], member)
    elif folded == "source" and isinstance(member, dict):
        kinds = [kind for kind in _types(member) if isinstance(kind, str)]
        yield from (DeniedField(SOURCES[kind], "source") for kind in kinds if kind in SOURCES)


def _tools(dialect: Dialect, tools: object) -> Iterator[DeniedField]:
    for tool in tools if isinstance(tools, list) else [tools]:
        if isinstance(tool, dict):
            yield from _tool(dialect, tool)


def _tool(dialect: Dialect, tool: Mapping[str, object]) -> Iterator[DeniedField]:
    kinds = _types(tool)
    if dialect is Dialect.GEMINI:
        yield from (
            DeniedField(_hosted(fold(key)) or UNKNOWN_TOOL, "tools")
            for key in tool
            if fold(key) != GEMINI_CLIENT_TOOL
        )
    elif not kinds:
        hosted = (_hosted(fold(key)) for key in tool)
        yield from (DeniedField(name, "tools") for name in hosted if name is not None)
    for kind in [] if dialect is Dialect.GEMINI else kinds:
        if not isinstance(kind, str):
            yield DeniedField(UNKNOWN_TOOL, "tools")
        elif kind not in CLIENT_TOOLS and not kind.startswith(CLIENT_TOOL_PREFIXES):
            yield DeniedField(_hosted(fold(kind)) or UNKNOWN_TOOL, "tools")


def _types(value: Mapping[str, object]) -> list[object]:
    """What stands under `type`, in any of its spellings."""
    return [kind for key, kind in value.items() if fold(key) == "type" and kind is not None]


def _hosted(folded: str) -> str | None:
    return next((name for start, name in HOSTED_TOOLS if folded.startswith(start)), None)


def _bare_references(items: object) -> Iterator[DeniedField]:
    """An item that only names its id stands for a stored one (ItemReference.type is optional)."""
    for item in items if isinstance(items, list) else []:
        keys = {fold(key) for key in item} if isinstance(item, dict) else set()
        if "id" in keys and not {"type", "role"} & keys:
            yield DeniedField("item_reference", "input")


def _twins(body: Mapping[str, object], said: Mapping[str, object]) -> Iterator[DeniedField]:
    """`said`: the same, by folded names."""
    if len(said) < len(body) or _repeats_below(body):
        yield DeniedField(TWIN_FIELDS, "case")
    given: dict[str, object] = {}
    for name in said.keys() & _TWINS_BY_NAME.keys():
        for setting, below in _TWINS_BY_NAME[name]:
            value = _at(said[name], below)
            if value is not None and given.setdefault(setting, value) != value:
                yield DeniedField(TWIN_FIELDS, setting)


def _repeats_below(body: Mapping[str, object]) -> bool:
    """Whether an object with settings has a name twice, in two spellings."""
    level = _settings_in(body)
    for _ in range(SETTINGS_DEPTH - 1):
        if not level:
            return False
        if any(len(set(map(fold, settings))) < len(settings) for settings in level):
            return True
        level = [child for settings in level for child in _settings_in(settings)]
    return False


def _settings_in(settings: Mapping[str, object]) -> list[Mapping[str, object]]:
    return [
        child
        for key, child in settings.items()
        if isinstance(child, dict) and fold(key) not in _CALLERS_OWN
    ]


def _at(value: object, path: tuple[str, ...]) -> object:
    """What is said below, by folded names."""
    for name in path:
        if not isinstance(value, dict):
            return None
        value = next((member for key, member in value.items() if fold(key) == name), None)
    return value


_CONTAINERS = (dict, list)

_OPAQUE_BELOW = OPAQUE | {"input"}
"""Below the top level `input` holds the arguments of a tool call."""

_CALLERS_OWN = OPAQUE | {"metadata", "labels"}

_TOP: dict[Dialect, dict[str, tuple[Rule, str]]] = {
    dialect: {
        fold(key): (rule, key) for rule in RULES if dialect in rule.dialects for key in rule.keys
    }
    for dialect in Dialect
}
_ANYWHERE: dict[Dialect, dict[str, tuple[Rule, str]]] = {
    dialect: {key: found for key, found in rules.items() if found[0].anywhere}
    for dialect, rules in _TOP.items()
}
_ALWAYS_WATCHED = {"tools", "type", "source"}
_WATCHED_AT_TOP = {dialect: rules.keys() | _ALWAYS_WATCHED for dialect, rules in _TOP.items()}
_WATCHED_ANYWHERE = {
    dialect: rules.keys() | _ALWAYS_WATCHED for dialect, rules in _ANYWHERE.items()
}
"""Names of which something may be denied; most names of a body are none of them."""
_TWINS_BY_NAME = {
    name: [
        (setting, path[1:]) for setting, paths in TWINS.items() for path in paths if path[0] == name
    ]
    for name in {path[0] for paths in TWINS.values() for path in paths}
}
"""The settings that stand under a name of the top level, or below it."""
