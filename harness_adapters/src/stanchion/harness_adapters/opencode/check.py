"""What OpenCode 1.18.33 would misread, clamp or drop without a word, refused before the start.

Decides nothing about policy (which limits or words are allowed); it must never let a value through
that would reach the wire as another one.
"""

import re
from collections.abc import Sequence

from stanchion.harness_adapters.base import Settings
from stanchion.harness_adapters.opencode.config import RESERVE_TOKENS
from stanchion.harness_adapters.opencode.packages import PACKAGES, Package
from stanchion.protocol.dialects import Dialect
from stanchion.protocol.refusal import refuse

_MODEL = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:/@+~-]*", re.ASCII)
"""Braces would be substituted in OpenCode's configuration, other characters were not tried."""
_WORD = re.compile(r"[A-Za-z0-9._:+-]+", re.ASCII)
_BASE_URL = re.compile(r"http://127\.0\.0\.1:[0-9]{1,5}", re.ASCII)
_PATH = re.compile(r"/[^\x00-\x1f\x7f{}]*")
_LARGEST = 2**53 - 1
"""The largest integer that JavaScript keeps exactly."""
_PRIVATE = ("OPENCODE_", "BUN_")
"""Variables of these names steer the harness itself, not the task's programs."""


def check(settings: Settings, dialects: Sequence[Dialect]) -> None:
    """Raise RefusedError for the first thing that is wrong."""
    _check_names(settings, dialects)
    _check_numbers(settings)
    package = PACKAGES[settings.dialect]
    _check_path(settings, package)
    _check_ceiling(settings, package)
    _check_effort(settings.effort, package)
    _check_instruction(settings.instruction)
    _check_places(settings)
    _check_environment(settings)


def _check_names(settings: Settings, dialects: Sequence[Dialect]) -> None:
    if settings.dialect not in dialects:
        raise refuse(
            "dialect_unsupported",
            field="dialect",
            value=settings.dialect,
            rule=f"this adapter of opencode speaks {', '.join(dialects)} only",
            remedy=f"Choose an account whose api is {dialects[0]}",
        )
    if not _MODEL.fullmatch(settings.model):
        raise refuse(
            "model_unwritable",
            field="--model",
            value=settings.model,
            rule="opencode keeps a model id only if it is a letter or digit, followed by letters, "
            "digits and . _ : / @ + ~ -",
            remedy="Name the model under an id of that form; a gateway can map it to another",
        )


def _check_path(settings: Settings, package: Package) -> None:
    if package.model_in_path and "/" in settings.model:
        raise refuse(
            "model_unwritable",
            field="--model",
            value=settings.model,
            rule=f"opencode's package {package.npm} makes an id with a slash the whole path of its "
            "requests",
            remedy="Name the model as the provider lists it, without models/",
        )


def _check_numbers(settings: Settings) -> None:
    for field, value in (
        ("limits.output_tokens", settings.output_limit),
        ("limits.context", settings.context),
    ):
        if value is not None and not 0 < value <= _LARGEST:
            raise refuse(
                "limit_unwritable",
                field=field,
                value=value,
                rule=f"opencode takes a number of tokens from 1 to {_LARGEST} and silently "
                "replaces any other by its own default",
                remedy="Give a positive whole number of tokens",
            )
    reserve = min(RESERVE_TOKENS, settings.output_limit)
    if settings.context is not None and settings.context <= reserve:
        raise refuse(
            "context_too_small",
            field="limits.context",
            value=settings.context,
            rule=f"opencode keeps {reserve} tokens of the context window free and would compact "
            "the conversation after every step of a window that is not larger",
            remedy=f"Give a window above {reserve}, or none, which switches compaction off",
        )


def _check_ceiling(settings: Settings, package: Package) -> None:
    ceiling = package.ceiling(settings.model)
    if ceiling is not None and settings.output_limit > ceiling[1]:
        raise refuse(
            "limit_clamped",
            field="limits.output_tokens",
            value=settings.output_limit,
            rule=f"opencode lowers the limit of every model whose id contains {ceiling[0]} to "
            f"{ceiling[1]} without a word, and this one is {settings.model}",
            remedy=f"Declare --output-limit {ceiling[1]} or less, or name the model under an id "
            "without these words; a gateway can map it to another",
        )


def _check_effort(effort: str | None, package: Package) -> None:
    if effort is not None and not _WORD.fullmatch(effort):
        raise refuse(
            "effort_unwritable",
            field="--effort",
            value=effort,
            rule="opencode passes one word of letters, digits and . _ : + - on; it may drop or "
            "change any other",
            remedy="Give one such word, or none to leave the effort unspecified",
        )
    if effort is not None and package.efforts is not None and effort not in package.efforts:
        raise refuse(
            "effort_unwritable",
            field="--effort",
            value=effort,
            rule=f"opencode's package {package.npm} takes {', '.join(package.efforts)} and ends "
            "before it asks for any other",
            remedy="Use one of these words, or none to leave the effort unspecified",
        )


def _check_instruction(instruction: str) -> None:
    try:
        instruction.encode()
        rule = None if instruction.strip() else "opencode ends at once without an instruction"
    except UnicodeEncodeError:
        rule = "an instruction must be text that UTF-8 can hold"
    if rule is not None:
        raise refuse(
            "instruction_unusable",
            field="instruction.md",
            value=None,
            rule=rule,
            remedy="Write what the agent shall do into the task's instruction.md",
        )


def _check_places(settings: Settings) -> None:
    if not _BASE_URL.fullmatch(settings.base_url):
        raise refuse(
            "base_url_unusable",
            field="base_url",
            value=settings.base_url,
            rule="the harness speaks to the relay at http://127.0.0.1:PORT and nothing else",
            remedy="Pass the relay's address without a path",
        )
    for field, value in (("home", settings.home), ("package_dir", settings.package_dir)):
        if not _PATH.fullmatch(value):
            raise refuse(
                "path_unusable",
                field=field,
                value=value,
                rule="the path must be absolute, without braces and control characters",
                remedy="Use a plain absolute path",
            )


def _check_environment(settings: Settings) -> None:
    for name, value in settings.env.items():
        if name.upper().startswith(_PRIVATE):
            raise refuse(
                "env_reserved",
                field=f"env.{name}",
                value=None,
                rule="variables that begin with OPENCODE_ or BUN_ change the harness itself",
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
