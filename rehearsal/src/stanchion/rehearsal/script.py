"""What a rehearsal script may say, and the reading of one from TOML.

Decides which scripts are valid; a wrong one is refused in one sentence that names the file, the
field, its value, the rule and the remedy. It must never guess a meaning: unknown fields and
parts of a turn that could never be sent are refused, not ignored.
"""

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal

import msgspec

from stanchion.rehearsal.faults import kinds, rules
from stanchion.rehearsal.faults.kinds import Fault

GapMs = Annotated[int, msgspec.Meta(ge=0, le=60_000)]
Tokens = Annotated[int, msgspec.Meta(ge=0)]


class ScriptError(Exception):
    """A script that cannot be played; the message is the whole explanation."""


class Usage(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Token counts a turn reports, exactly as the script wrote them."""

    prompt_tokens: Tokens
    completion_tokens: Tokens
    reasoning_tokens: Tokens | None = None
    """None leaves the detail out of the answer: unknown, not zero."""


class ToolCall(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One tool call of a turn, under the name the harness offers it."""

    name: Annotated[str, msgspec.Meta(min_length=1)]
    arguments: dict[str, object] = {}
    only_tool: bool = False
    """True: left out where the request offers another tool beside it."""


class Turn(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One model response."""

    reasoning: str = ""
    text: str = ""
    tool: tuple[ToolCall, ...] = ()
    finish: Annotated[str, msgspec.Meta(min_length=1)] | None = None
    """None: the dialect's own word for "called tools" or "stopped"."""
    usage: Usage | bool | None = None
    """None: counts computed from the lengths; false: no usage in the answer."""
    model: Annotated[str, msgspec.Meta(min_length=1)] | None = None
    """The id that the answer names; None: the one that was asked for."""
    gap_ms: GapMs | None = None
    hold_s: Annotated[float, msgspec.Meta(ge=0, le=86_400)] = 0.0
    """Wait before the first byte of the answer, headers included."""
    pause: Literal["forever"] | None = None
    """Send headers and reasoning, then nothing more until the client goes away."""
    fault: Fault | None = None
    """What goes wrong with this turn."""


class Defaults(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a turn takes where it says nothing itself."""

    gap_ms: GapMs = 5


class Script(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A whole conversation, one turn after the other."""

    version: Literal[1]
    defaults: Defaults = Defaults()
    turn: Annotated[tuple[Turn, ...], msgspec.Meta(min_length=1)]


BUILT_IN = Script(
    version=1,
    turn=(
        Turn(
            reasoning="No script was given, so there is nothing to do but to say so.",
            text="This is the rehearsal provider. Give it a script to make it call tools.",
        ),
    ),
)

_REMEDIES: Mapping[str, str] = {
    "version": "write version = 1 as the first line",
    "gap_ms": "write whole milliseconds from 0 to 60000, such as gap_ms = 5",
    "hold_s": "write seconds from 0 to 86400, such as hold_s = 2.5",
    "pause": 'write pause = "forever" or leave it out',
    "model": 'write the id that the answer names, such as model = "another-one"',
    "usage": "write usage = {prompt_tokens = 900, completion_tokens = 60}, usage = false for none, "
    "or leave it out for computed counts",
    "turn": "write at least one [[turn]] table",
    "tool": "write each call as a [[turn.tool]] table with name and arguments",
    "name": 'write the tool\'s name as the harness offers it, such as name = "bash"',
    "only_tool": "write only_tool = true or leave it out",
    "arguments": 'write a table, such as arguments = {command = "ls"}',
    "fault": 'write a table, such as fault = {kind = "status", status = 429, times = 1}',
    "kind": f"write one of {', '.join(kinds.KINDS)}",
    "times": "write a whole number from 1, or leave it out for every request",
    "status": "write a number that the kind allows, such as 429 for status or 307 for redirect",
    "location": 'write the address, such as location = "http://127.0.0.1:9/elsewhere"',
    "wait_s": "write seconds from 0 to 86400, such as wait_s = 2.5",
    "retry_after": "write whole seconds, or an HTTP date as text, such as retry_after = 2",
}
_UNKNOWN_FIELD = re.compile(r"^Object contains unknown field `(?P<field>[^`]*)`$")
_MISSING_FIELD = re.compile(r"^Object missing required field `(?P<field>[^`]*)`$")
_STEP = re.compile(r"(?P<key>[A-Za-z_]+)|\[(?P<index>\d+)\]")
_LEVELS: Mapping[str, type[msgspec.Struct]] = {
    "": Script,
    "defaults": Defaults,
    "turn": Turn,
    "tool": ToolCall,
    "usage": Usage,
}


def load_script(path: Path) -> Script:
    """Read a script file; ScriptError says what is wrong with it."""
    try:
        text = path.read_bytes().decode()
    except OSError as error:
        raise ScriptError(
            f"{path}: the script cannot be read ({error.strerror}); "
            "give --script the path of a readable TOML file"
        ) from error
    except UnicodeDecodeError as error:
        raise ScriptError(
            f"{path}: byte {error.start} is not UTF-8, which TOML demands; save the file as UTF-8"
        ) from error
    return parse_script(text, source=str(path))


def parse_script(text: str, *, source: str) -> Script:
    """Read a script from TOML text; `source` is the name that errors begin with."""
    try:
        raw = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ScriptError(
            f"{source}: the script is not TOML ({error}); correct it there"
        ) from error
    try:
        script = msgspec.convert(raw, Script)
    except msgspec.ValidationError as error:
        raise ScriptError(f"{source}: {_explain(str(error), raw)}") from error
    for index, turn in enumerate(script.turn):
        if problem := _contradiction(turn):
            raise ScriptError(f"{source}: turn[{index}]{problem}")
    return script


def _contradiction(turn: Turn) -> str | None:
    if turn.usage is True:
        return f".usage is true, which names no counts; {_REMEDIES['usage']}"
    if turn.pause and (turn.text or turn.tool):
        return (
            '.pause is "forever", so its text and tools would never be sent; '
            "keep only reasoning in this turn"
        )
    if turn.fault and (problem := _wrong_fault(turn, turn.fault)):
        return f".fault{problem}"
    replaced = isinstance(turn.fault, kinds.REPLACES_THE_ANSWER) and turn.fault.times is None
    if not (turn.reasoning or turn.text or turn.tool or turn.pause or turn.finish or replaced):
        return (
            " is empty, but a turn must answer something; give it reasoning, text or a tool, "
            "or a finish if an empty answer is meant"
        )
    return None


def _wrong_fault(turn: Turn, fault: Fault) -> str | None:
    if turn.pause:
        return (
            ' stands beside pause = "forever", so one would hide the other; '
            'keep one, or write fault = {kind = "stall", after = N}'
        )
    if isinstance(fault, kinds.LengthFault) and fault.in_call and not turn.tool:
        return ".in_call is true, but the turn calls no tool; give it a [[turn.tool]]"
    return rules.problem(fault)


def _explain(message: str, raw: dict[str, object]) -> str:
    """Turn a validation message of msgspec into field, value, rule and remedy."""
    rule, _, path = message.partition(" - at `$")
    path = path.removesuffix("`").removeprefix(".")
    last = next((key for key in reversed(re.findall(r"[A-Za-z_]+", path)) if key), "")
    if unknown := _UNKNOWN_FIELD.match(rule):
        known = ", ".join(_known_fields(last, _lookup(raw, path)))
        field = _join(path, unknown["field"])
        return f"{field} is not a field of a script; the fields here are {known}"
    if missing := _MISSING_FIELD.match(rule):
        field = missing["field"]
        return f"{_join(path, field)} is missing but required; {_remedy(field)}"
    return f"{path} is {_show(_lookup(raw, path))}, but the rule is: {rule}; {_remedy(last)}"


def _known_fields(level: str, value: object) -> tuple[str, ...]:
    if level != "fault":
        return _LEVELS[level].__struct_fields__
    kind = value.get("kind") if isinstance(value, dict) else None
    return ("kind", *kinds.KINDS[str(kind)].__struct_fields__)


def _join(path: str, field: str) -> str:
    return f"{path}.{field}" if path else field


def _remedy(field: str) -> str:
    return _REMEDIES.get(field, "correct the field or leave it out")


def _show(value: object) -> str:
    shown = repr(value)
    return shown if len(shown) <= 60 else f"{shown[:57]}..."


def _lookup(raw: object, path: str) -> object:
    """The value at a path such as turn[0].gap_ms."""
    for step in _STEP.finditer(path):
        if isinstance(raw, dict):
            raw = raw.get(step["key"])
        elif isinstance(raw, list):
            raw = raw[int(step["index"])]
    return raw
