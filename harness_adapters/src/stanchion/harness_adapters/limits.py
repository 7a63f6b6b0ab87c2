"""Which output limit and context window an attempt gets, and who declared it.

The launch wins over the operator, the operator over the model's documented maximum; then comes
the default for output, and nothing for context: a guessed window would compact a conversation
that need not be. Never matches a model by a part of its name.
"""

import datetime as dt
import tomllib
from functools import cache
from importlib import resources

import msgspec

from stanchion.protocol.launch import DEFAULT_OUTPUT_LIMIT, Limit, LimitSource
from stanchion.protocol.refusal import refuse

DATA_NAME = "limits.toml"


class Documented(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a vendor documents of one model."""

    id: str
    output_tokens: int
    context: int | None = None
    source: str
    """Whose page says so."""
    read: dt.date


class _Data(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The data file."""

    model: tuple[Documented, ...]


@cache
def documented() -> dict[str, Documented]:
    """All documented models by their id."""
    text = resources.files("stanchion.harness_adapters").joinpath(DATA_NAME).read_text("utf-8")
    data = msgspec.convert(tomllib.loads(text), _Data)
    return {entry.id: entry for entry in data.model}


def resolve_output(*, launch: int | None, operator: int | None, model: str) -> Limit:
    """The output limit: there always is one."""
    declared = _declared("--output-limit", launch, "output_limit", operator)
    if declared is not None:
        return declared
    entry = documented().get(model)
    if entry is not None:
        return Limit(value=entry.output_tokens, source=LimitSource.DOCUMENTED)
    return Limit(value=DEFAULT_OUTPUT_LIMIT, source=LimitSource.DEFAULT)


def resolve_context(*, launch: int | None, operator: int | None, model: str) -> Limit | None:
    """The context window, or None: unknown."""
    declared = _declared("--context", launch, "context", operator)
    if declared is not None:
        return declared
    entry = documented().get(model)
    if entry is None or entry.context is None:
        return None
    return Limit(value=entry.context, source=LimitSource.DOCUMENTED)


def _declared(option: str, launch: int | None, key: str, operator: int | None) -> Limit | None:
    for field, value, source in (
        (option, launch, LimitSource.LAUNCH),
        (f"profiles.models.{key}", operator, LimitSource.OPERATOR),
    ):
        if value is None:
            continue
        if value < 1:
            raise refuse(
                "limit_invalid",
                field=field,
                value=value,
                rule="a limit is a whole number of tokens, at least 1",
                remedy="Give a positive number, or leave it out",
            )
        return Limit(value=value, source=source)
    return None
