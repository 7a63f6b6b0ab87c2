"""Which combinations of harness, model, effort and limit a smoke run goes through. Pure.

From repeated options or from a file; a list multiplies. What is misspelt is refused by field, so
that no combination is left out in silence.
"""

import itertools
import re
import tomllib
from collections.abc import Sequence
from pathlib import PurePath
from typing import Literal, TypeAlias, TypeVar

import msgspec

from stanchion.harness_adapters.registry import COMMAND
from stanchion.protocol.dialects import Dialect
from stanchion.protocol.refusal import RefusedError, refuse
from stanchion.runner.smoke.waiving import Waivers, check_waiver

MOST = 200
"""Combinations of one run; two attempts each."""
MOST_TOKENS = 100_000_000
_UNFIT = re.compile(r"[^A-Za-z0-9.]+")

T = TypeVar("T")
Several: TypeAlias = T | tuple[T, ...]


class Combination(msgspec.Struct, frozen=True, kw_only=True):
    """One of them. None = not said."""

    harness: str
    """`NAME[@VERSION]`."""
    model: str
    """`ACCOUNT/MODEL`."""
    command: str | None = None
    """The file that describes the program, where the harness is `command`."""
    profile: str | None = None
    dialect: Dialect | None = None
    effort: str | None = None
    effort_raw: str | None = None
    thinking_budget: int | None = None
    output_limit: int | None = None
    context: int | None = None
    waived: Waivers = {}

    @property
    def asked(self) -> dict[str, str]:
        """What is asked for beside harness and model, by name."""
        named = {
            "command": self.command,
            "api": self.dialect,
            "effort": self.effort,
            "effort-raw": self.effort_raw,
            "thinking-budget": self.thinking_budget,
            "output-limit": self.output_limit,
            "context": self.context,
        }
        return {name: str(value) for name, value in named.items() if value is not None}

    @property
    def label(self) -> str:
        """As a folder's name."""
        parts = [self.harness, self.model, *self.asked.values()]
        return "-".join(_UNFIT.sub("-", part).strip("-.") for part in parts)[:80]


class _Row(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One `[[combination]]` of the file."""

    model: Several[str]
    harness: Several[str] = ()
    command: Several[str] | None = None
    profile: str | None = None
    dialect: Several[Dialect] | None = None
    effort: Several[str] | None = None
    effort_raw: Several[str] | None = None
    thinking_budget: Several[int] | None = None
    output_limit: Several[int] | None = None
    context: int | None = None
    waive: dict[str, str] = {}


class _File(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    version: Literal[1]
    combination: tuple[_Row, ...]


def read_matrix(text: str, *, file: str) -> list[Combination]:
    """The combinations of a file."""
    try:
        rows = msgspec.convert(tomllib.loads(text), _File).combination
    except (tomllib.TOMLDecodeError, msgspec.ValidationError) as error:
        raise _invalid(file, str(error)) from None
    folder = PurePath(file).parent
    return checked([one for row in rows for one in _multiplied(row, folder)], source=file)


def _multiplied(row: _Row, folder: PurePath) -> list[Combination]:
    waived = {check_waiver(name, why): why.strip() for name, why in row.waive.items()}
    return multiplied(
        harness=_tuple(row.harness) or (COMMAND if row.command else "",),
        command=tuple(str(folder / name) for name in _tuple(row.command)),
        model=_tuple(row.model),
        dialect=_tuple(row.dialect),
        effort=_tuple(row.effort),
        effort_raw=_tuple(row.effort_raw),
        thinking_budget=_tuple(row.thinking_budget),
        output_limit=_tuple(row.output_limit),
        context=_tuple(row.context),
        profile=_tuple(row.profile),
        waived=(waived,),
    )


def multiplied(**choices: Sequence[object]) -> list[Combination]:
    """Every combination of these values by field; a field without any is not said."""
    said = {name: values for name, values in choices.items() if values}
    return [
        Combination(**dict(zip(said, values, strict=True)))  # type: ignore[arg-type]  # by field
        for values in itertools.product(*said.values())
    ]


def checked(found: list[Combination], *, source: str) -> list[Combination]:
    """The same, where they can be run at all."""
    if not found:
        raise _invalid(source, "at least one combination of a harness and a model")
    if len(found) > MOST:
        raise _invalid(source, f"at most {MOST} combinations; these are {len(found)}")
    for one in found:
        _check_numbers(one, source)
        if not one.harness:
            raise _invalid(source, "a combination names a harness, or the command of its own")
        if (one.harness == COMMAND) is (one.command is None):
            raise _invalid(
                source,
                f"the harness {COMMAND}, and no other, has a command, the file that describes it; "
                f"this one is {one.harness}",
            )
        if one.model.partition("/")[2] == "":
            raise _invalid(source, f"model is ACCOUNT/MODEL, and this one is {one.model!r}")
    twice = [one for at, one in enumerate(found) if one in found[:at]]
    if twice:
        raise _invalid(source, f"each combination once, and {twice[0].label} is there twice")
    return found


def _check_numbers(one: Combination, source: str) -> None:
    for name in ("output_limit", "context"):
        value = getattr(one, name)
        if value is not None and not 1 <= value <= MOST_TOKENS:
            raise _invalid(source, f"{name} is 1 to {MOST_TOKENS} tokens, and this one is {value}")


def _tuple(value: Several[T] | None) -> tuple[T, ...]:
    if value is None:
        return ()
    return value if isinstance(value, tuple) else (value,)


def _invalid(value: str, rule: str) -> RefusedError:
    return refuse(
        "matrix_invalid",
        field="--matrix",
        value=value,
        rule=rule,
        remedy="mend the file; docs/how-to/smoke-before-the-full-run.md has one",
    )
