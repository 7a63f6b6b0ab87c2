"""What Claude Code 2.1.332 would misread, clamp or drop without a word, refused before the start.

Decides nothing about policy (which limits or words are allowed); it must never let a value through
that would reach the wire as another one.
"""

from collections.abc import Sequence

from stanchion.harness_adapters import common_checks as common
from stanchion.harness_adapters.base import Settings
from stanchion.harness_adapters.claude_code.models import ALIASES, family
from stanchion.protocol.dialects import Dialect
from stanchion.protocol.refusal import refuse

NAME = "claude_code"
LEAST_CONTEXT = 100_000
"""The smallest window that was seen to be obeyed."""
_RESERVED = common.Reserved(
    prefixes=(
        "CLAUDE_",
        "ANTHROPIC_",
        "BUN_",
        "DISABLE_",
        "ENABLE_",
        "API_TIMEOUT_MS",
        "IS_SANDBOX",
    ),
    names=("MAX_THINKING_TOKENS",),
)


def check(settings: Settings, dialects: Sequence[Dialect]) -> None:
    """Raise RefusedError for the first thing that is wrong."""
    common.check_dialect(NAME, settings.dialect, dialects)
    common.check_model(NAME, settings.model, ALIASES)
    common.check_effort_form(NAME, settings.effort)
    common.check_tokens(NAME, "limits.output_tokens", settings.output_limit)
    _check_window(settings.context)
    _check_family(settings)
    common.check_instruction(NAME, settings.instruction, command_mark="/")
    common.check_places(settings)
    common.check_environment(settings, _RESERVED)


def _check_window(context: int | None) -> None:
    if context is not None and context < LEAST_CONTEXT:
        raise refuse(
            "context_too_small",
            field="limits.context",
            value=context,
            rule=f"claude_code was seen to obey a window of {LEAST_CONTEXT} tokens and more",
            remedy=f"Give {LEAST_CONTEXT} or more, or none, which switches compaction off",
        )
    common.check_tokens(NAME, "limits.context", context)


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
