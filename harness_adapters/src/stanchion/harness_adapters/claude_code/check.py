"""What Claude Code 2.1.332 would misread, clamp or drop without a word, refused before the start.

Decides nothing about policy (which limits or words are allowed); it must never let a value through
that would reach the wire as another one.
"""

import re
from collections.abc import Sequence

from stanchion.harness_adapters.base import Settings
from stanchion.harness_adapters.claude_code.models import ALIASES, family
from stanchion.protocol.dialects import Dialect
from stanchion.protocol.refusal import refuse

LEAST_CONTEXT = 100_000
"""The smallest window that was seen to be obeyed."""
_MODEL = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:/@+~-]*", re.ASCII)
"""`[1m]` at the end would be cut off, other characters were not tried."""
_WORD = re.compile(r"[A-Za-z0-9._:+-]+", re.ASCII)
_BASE_URL = re.compile(r"http://127\.0\.0\.1:[0-9]{1,5}", re.ASCII)
_PATH = re.compile(r"/[^\x00-\x1f\x7f]*")
_LARGEST = 2**53 - 1
"""The largest integer that JavaScript keeps exactly."""
_PRIVATE = ("CLAUDE_", "ANTHROPIC_", "BUN_", "DISABLE_", "API_TIMEOUT_MS", "IS_SANDBOX", "ENABLE_")
_THINKING = "MAX_THINKING_TOKENS"


def check(settings: Settings, dialects: Sequence[Dialect]) -> None:
    """Raise RefusedError for the first thing that is wrong."""
    _check_names(settings, dialects)
    _check_numbers(settings)
    _check_family(settings)
    _check_instruction(settings.instruction)
    _check_places(settings)
    _check_environment(settings)


def _check_names(settings: Settings, dialects: Sequence[Dialect]) -> None:
    if settings.dialect not in dialects:
        raise refuse(
            "dialect_unsupported",
            field="dialect",
            value=settings.dialect,
            rule=f"this adapter of claude_code speaks {', '.join(dialects)} only",
            remedy=f"Choose an account whose api is {dialects[0]}, or for the rehearsal "
            f"--dialect {dialects[0]}",
        )
    if not _MODEL.fullmatch(settings.model) or settings.model.lower() in ALIASES:
        raise refuse(
            "model_unwritable",
            field="--model",
            value=settings.model,
            rule="claude_code keeps a model id only if it is a letter or digit, followed by "
            f"letters, digits and . _ : / @ + ~ -, and none of its aliases {', '.join(ALIASES)}",
            remedy="Name the model by its full id; a gateway can map it to another",
        )
    if settings.effort is not None and not _WORD.fullmatch(settings.effort):
        raise refuse(
            "effort_unwritable",
            field="--effort",
            value=settings.effort,
            rule="claude_code is given one word of letters, digits and . _ : + -",
            remedy="Give one such word, or none to leave the effort unspecified",
        )


def _check_numbers(settings: Settings) -> None:
    if not 0 < settings.output_limit <= _LARGEST:
        raise refuse(
            "limit_unwritable",
            field="limits.output_tokens",
            value=settings.output_limit,
            rule=f"claude_code takes a number of tokens from 1 to {_LARGEST} and silently "
            "replaces any other by its own default",
            remedy="Give a positive whole number of tokens",
        )
    if settings.context is not None and settings.context > _LARGEST:
        raise refuse(
            "limit_unwritable",
            field="limits.context",
            value=settings.context,
            rule=f"claude_code takes a number of tokens up to {_LARGEST}",
            remedy="Give the model's window",
        )
    if settings.context is not None and settings.context < LEAST_CONTEXT:
        raise refuse(
            "context_too_small",
            field="limits.context",
            value=settings.context,
            rule=f"claude_code was seen to obey a window of {LEAST_CONTEXT} tokens and more",
            remedy=f"Give {LEAST_CONTEXT} or more, or none, which switches compaction off",
        )


def _check_family(settings: Settings) -> None:
    known = family(settings.model)
    if known is None:
        return
    if settings.output_limit > known.cap:
        raise refuse(
            "limit_clamped",
            field="limits.output_tokens",
            value=settings.output_limit,
            rule=f"claude_code lowers the limit to {known.cap} without a word where a model is "
            f"named as {settings.model} is",
            remedy=f"Declare --output-limit {known.cap} or less, or name the model under an id "
            "without these words; a gateway can map it to another",
        )
    if settings.effort is not None and settings.effort not in known.efforts:
        words = ", ".join(known.efforts) or "no effort"
        raise refuse(
            "effort_unwritable",
            field="--effort",
            value=settings.effort,
            rule=f"claude_code sends {words} where a model is named as {settings.model} is, and "
            "drops or changes any other word silently",
            remedy="Use one that it sends, or none to leave the effort unspecified",
        )


def _check_instruction(instruction: str) -> None:
    try:
        instruction.encode()
        rule = None if instruction.strip() else "claude_code ends at once without an instruction"
    except UnicodeEncodeError:
        rule = "an instruction must be text that UTF-8 can hold"
    if rule is None and instruction.lstrip().startswith("/"):
        rule = "claude_code takes an instruction that begins with / for a command of its own"
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
                rule="the path must be absolute, without control characters",
                remedy="Use a plain absolute path",
            )


def _check_environment(settings: Settings) -> None:
    for name, value in settings.env.items():
        if name.upper().startswith(_PRIVATE) or name.upper() == _THINKING:
            raise refuse(
                "env_reserved",
                field=f"env.{name}",
                value=None,
                rule=f"variables that begin with {', '.join(_PRIVATE)} or are {_THINKING} change "
                "the harness itself",
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
