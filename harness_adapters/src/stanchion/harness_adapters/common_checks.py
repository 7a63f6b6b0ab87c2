"""Checks that every adapter makes of a launch, in the name of its harness.

Decides only what no harness here can be given, whoever it is: what one harness alone would misread
is its own `check`. Pure; it must never let a value through that its rule excludes, nor show the
value of a variable.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from stanchion.harness_adapters.base import Settings
from stanchion.protocol.dialects import Dialect
from stanchion.protocol.refusal import refuse

LARGEST = 2**53 - 1
"""The largest integer that JavaScript, or any program that keeps numbers as doubles, keeps."""
_MODEL = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:/@+~-]*", re.ASCII)
"""Other characters are substituted, cut off or escaped by one harness or another."""
_WORD = re.compile(r"[A-Za-z0-9._:+-]+", re.ASCII)
_BASE_URL = re.compile(r"http://127\.0\.0\.1:[0-9]{1,5}", re.ASCII)
_CONTROL = r"\x00-\x1f\x7f"


@dataclass(frozen=True, slots=True)
class Reserved:
    """Variables that steer the harness itself, not the task's programs; names in capitals."""

    prefixes: tuple[str, ...]
    names: tuple[str, ...] = ()

    def holds(self, name: str) -> bool:
        """Whether the variable is one of them, however it is written."""
        upper = name.upper()
        return upper.startswith(self.prefixes) or upper in self.names

    def words(self) -> str:
        """The rule in words."""
        said = f"variables that begin with {' or '.join(self.prefixes)}"
        return f"{said} or are {' or '.join(self.names)}" if self.names else said


def check_dialect(harness: str, dialect: Dialect, spoken: Sequence[Dialect]) -> None:
    """The adapter speaks this dialect."""
    if dialect not in spoken:
        raise refuse(
            "dialect_unsupported",
            field="dialect",
            value=dialect,
            rule=f"this adapter of {harness} speaks {', '.join(spoken)} only",
            remedy=f"Choose an account whose api is {spoken[0]}, or for the rehearsal "
            f"--dialect {spoken[0]}",
        )


def check_model(harness: str, model: str, aliases: Sequence[str] = ()) -> None:
    """The id is kept as it is; `aliases` are names that the harness takes for another model's."""
    if not _MODEL.fullmatch(model) or model.lower() in aliases:
        known = f", and none of its aliases {', '.join(aliases)}" if aliases else ""
        raise refuse(
            "model_unwritable",
            field="--model",
            value=model,
            rule=f"{harness} keeps a model id only if it is a letter or digit, followed by "
            f"letters, digits and . _ : / @ + ~ -{known}",
            remedy="Name the model by an id of that form; a gateway can map it to another",
        )


def check_effort_form(harness: str, effort: str | None) -> None:
    """The effort is one plain word; which words there are is not decided here."""
    if effort is not None and not _WORD.fullmatch(effort):
        raise refuse(
            "effort_unwritable",
            field="--effort",
            value=effort,
            rule=f"{harness} is given one word of letters, digits and . _ : + -; it may drop or "
            "change any other",
            remedy="Give one such word, or none to leave the effort unspecified",
        )


def check_tokens(harness: str, field: str, value: int | None) -> None:
    """A number of tokens that reaches the harness as itself; None is no number and passes."""
    if value is not None and not 0 < value <= LARGEST:
        raise refuse(
            "limit_unwritable",
            field=field,
            value=value,
            rule=f"{harness} takes a number of tokens from 1 to {LARGEST}, and no other reaches "
            "the wire as it is",
            remedy="Give a positive whole number of tokens",
        )


def check_instruction(harness: str, instruction: str, command_mark: str | None = None) -> None:
    """A text that the model gets as it stands; behind `command_mark` it would be a command."""
    try:
        instruction.encode()
        rule = None if instruction.strip() else f"{harness} ends at once without an instruction"
    except UnicodeEncodeError:
        rule = "an instruction must be text that UTF-8 can hold"
    if rule is None and command_mark is not None and instruction.lstrip().startswith(command_mark):
        rule = f"{harness} takes an instruction that begins with {command_mark} for a command"
    if rule is not None:
        raise refuse(
            "instruction_unusable",
            field="instruction.md",
            value=None,
            rule=rule,
            remedy="Write what the agent shall do into the task's instruction.md",
        )


def check_places(settings: Settings, *, excluded: str = "") -> None:
    """The relay's address, and absolute paths without control or `excluded` characters."""
    if not _BASE_URL.fullmatch(settings.base_url):
        raise refuse(
            "base_url_unusable",
            field="base_url",
            value=settings.base_url,
            rule="the harness speaks to the relay at http://127.0.0.1:PORT and nothing else",
            remedy="Pass the relay's address without a path",
        )
    path = re.compile(f"/[^{_CONTROL}{re.escape(excluded)}]*")
    also = f" and {' '.join(excluded)}" if excluded else ""
    for field, value in (("home", settings.home), ("package_dir", settings.package_dir)):
        if not path.fullmatch(value):
            raise refuse(
                "path_unusable",
                field=field,
                value=value,
                rule=f"the path must be absolute, without control characters{also}",
                remedy="Use a plain absolute path",
            )


def check_environment(settings: Settings, reserved: Reserved) -> None:
    """Variables that a process can have and that do not steer the harness."""
    for name, value in settings.env.items():
        if reserved.holds(name):
            raise refuse(
                "env_reserved",
                field=f"env.{name}",
                value=None,
                rule=f"{reserved.words()} change the harness itself",
                remedy="Remove it from the task's environment",
            )
        if not name or "=" in name or "\0" in name + value:
            raise refuse(
                "env_unusable",
                field=f"env.{name!r}",
                value=None,
                rule="a variable has a name without =, and no NUL in name or value",
                remedy="Correct the task's environment",
            )
