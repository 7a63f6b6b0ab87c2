"""The file in which a user describes a program of their own, read and checked. Pure.

Decides whether such a description is complete: a value that the launch declares is either told to
the program or listed as one that it has no way to be told. Nothing is ever taken for granted.
"""

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass

import msgspec

from stanchion.harness_adapters.command.templates import NAMES, PROGRAM, names_in
from stanchion.protocol.dialects import VOCABULARIES, Dialect
from stanchion.protocol.launch import Command, SideRequest
from stanchion.protocol.refusal import RefusedError, refuse

LIMIT_FIELDS: dict[Dialect, tuple[str, ...]] = {
    Dialect.OPENAI_CHAT: ("max_tokens", "max_completion_tokens"),
    Dialect.OPENAI_RESPONSES: ("max_output_tokens",),
    Dialect.ANTHROPIC_MESSAGES: ("max_tokens",),
    Dialect.GEMINI: (),
}
"""Where the broker can write a limit that a program cannot say; Gemini's stands deeper."""
EFFORT_FIELDS: dict[Dialect, str] = {
    Dialect.OPENAI_CHAT: VOCABULARIES[Dialect.OPENAI_CHAT].field,
}
"""The same of an effort; the others' stand in an object that a program may leave out."""
MUST_SAY = ("base_url",)
MAY_LEAVE_OUT = ("output_limit", "effort", "model", "context")
"""What no text tells the broker writes (limit, effort), or nobody needs to (model, window)."""
OURS = ("HOME", "NO_PROXY", "no_proxy")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,40}", re.ASCII)
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
_REMEDY = "Correct the file; docs/how-to/run-a-program-of-your-own.md shows a whole one"


class _File(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The file as written."""

    name: str
    version: str
    dialects: tuple[Dialect, ...]
    argv: tuple[str | tuple[str, ...], ...]
    header_wait_s: int
    program: str | None = None
    env: dict[str, str] = {}
    stdin: str = ""
    files: dict[str, str] = {}
    cannot_say: tuple[str, ...] = ()
    limit_field: str | None = None
    side_requests: tuple[SideRequest, ...] = ()
    memory_mb: int = 64


@dataclass(frozen=True, slots=True)
class Described:
    """What the file says, and which folder beside it belongs to the program."""

    command: Command
    program: str | None


def read(text: str, where: str) -> Described:
    """The description; RefusedError names the field, as `agent.toml, argv`."""
    try:
        file = msgspec.convert(tomllib.loads(text), _File)
    except (tomllib.TOMLDecodeError, msgspec.ValidationError) as error:
        raise _refused(where, None, f"it must describe a program: {error}") from error
    _check_words(file, where)
    _check_names(file, where)
    _check_said(file, where)
    _check_limit_field(file, where)
    _check_effort_field(file, where)
    known = {name: getattr(file, name) for name in Command.__struct_fields__}
    return Described(command=Command(**known), program=file.program)


def must_stand(command: Command | _File) -> Iterator[tuple[str, str]]:
    """Every text that is never left out, with the field that it is in."""
    for text in command.argv:
        if isinstance(text, str):
            yield "argv", text
    yield "stdin", command.stdin
    for path, text in command.files.items():
        yield "files", path
        yield f"files.{path}", text


def texts(command: Command | _File) -> Iterator[tuple[str, str]]:
    """Every text that names may stand in, with the field that it is in."""
    yield from must_stand(command)
    for group in command.argv:
        for text in () if isinstance(group, str) else group:
            yield "argv", text
    for name, text in command.env.items():
        yield f"env.{name}", text


def told(command: Command | _File) -> frozenset[str]:
    """The names that the program is told something by."""
    return frozenset(name for _, text in texts(command) for name in names_in(text))


def _check_words(file: _File, where: str) -> None:
    for field, value in (("name", file.name), ("version", file.version)):
        if not _NAME.fullmatch(value):
            rule = "letters, digits and . _ -, at most 41, the first no sign"
            raise _refused(f"{where}, {field}", value, rule)
    if not file.dialects or len(set(file.dialects)) < len(file.dialects):
        known = ", ".join(Dialect)
        raise _refused(f"{where}, dialects", None, f"it names one or more of {known}, each once")
    if not file.argv or not file.argv[0] or not isinstance(file.argv[0], str):
        raise _refused(f"{where}, argv", None, "it begins with the program to start, as a text")
    if file.header_wait_s < 1 or file.memory_mb < 1:
        raise _refused(f"{where}, header_wait_s and memory_mb", None, "both are at least 1")
    for name in file.env:
        if not _VARIABLE.fullmatch(name) or name in OURS:
            rule = f"a variable is of letters, digits and _, and none of {', '.join(OURS)}"
            raise _refused(f"{where}, env", name, rule)
    for path in file.files:
        if not path.startswith(("{{home}}/", "/")) or set(names_in(path)) - {"home"}:
            rule = "a file stands below {{home}}/ or at an absolute path without other names"
            raise _refused(f"{where}, files", path, rule)


def _check_names(file: _File, where: str) -> None:
    for field, text in texts(file):
        for name in names_in(text):
            if name not in NAMES:
                rule = f"the names between braces are {', '.join(NAMES)}"
                raise _refused(f"{where}, {field}", "{{" + name + "}}", rule)
        if "\0" in text:
            raise _refused(f"{where}, {field}", None, "no program can be given a NUL")
    if (PROGRAM in told(file)) is (file.program is None):
        rule = "program is a folder beside this file, and {{program}} is where it is mounted: a "
        raise _refused(f"{where}, program", file.program, rule + "file has both or neither")


def _check_said(file: _File, where: str) -> None:
    known = told(file)
    for name in file.cannot_say:
        if name not in MAY_LEAVE_OUT or name in known:
            rule = f"it lists values that no text names, of {', '.join(MAY_LEAVE_OUT)}"
            raise _refused(f"{where}, cannot_say", name, rule)
    for name in (*MUST_SAY, "output_limit", "model"):
        if name not in known and name not in file.cannot_say:
            also = "" if name in MUST_SAY else f', or cannot_say lists "{name}"'
            rule = f"argv, env, stdin or a file names {{{{{name}}}}}{also}"
            raise _refused(where, None, rule)
    if not known & {"instruction", "instruction_json"}:
        rule = "argv, env, stdin or a file names {{instruction}}; nothing else tells the task"
        raise _refused(where, None, rule)


def _check_limit_field(file: _File, where: str) -> None:
    needed = "output_limit" in file.cannot_say
    if not needed and file.limit_field is not None:
        rule = "it is for a program that cannot say its output limit"
        raise _refused(f"{where}, limit_field", file.limit_field, rule)
    for dialect in file.dialects if needed else ():
        fields = LIMIT_FIELDS[dialect]
        if file.limit_field not in fields:
            names = " or ".join(fields) or "no field that the broker can write"
            rule = f"over {dialect} the broker writes the limit into {names}, and this file says so"
            raise _refused(f"{where}, limit_field", file.limit_field, rule)


def _check_effort_field(file: _File, where: str) -> None:
    for dialect in file.dialects if "effort" in file.cannot_say else ():
        if dialect not in EFFORT_FIELDS:
            rule = (
                f"over {dialect} the effort stands in an object that the program itself must send, "
                "so it must be told the effort"
            )
            raise _refused(f"{where}, cannot_say", "effort", rule)


def _refused(field: str, value: object, rule: str) -> RefusedError:
    return refuse("command_unusable", field=field, value=value, rule=rule, remedy=_REMEDY)
