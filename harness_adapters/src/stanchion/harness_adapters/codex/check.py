"""What Codex 0.171.0 would misread, change or drop without a word, refused before the start.

Decides nothing about policy (which limits or words are allowed); it must never let a value through
that would reach the wire as another one.
"""

from collections.abc import Sequence

from stanchion.harness_adapters import common_checks as common
from stanchion.harness_adapters.base import Settings
from stanchion.protocol.dialects import Dialect
from stanchion.protocol.refusal import refuse

NAME = "codex"
LEAST_CONTEXT = 16_000
"""Its instructions and tools alone take 10,000; the smallest window that was seen to be obeyed."""
_RESERVED = common.Reserved(prefixes=("CODEX_", "OPENAI_"))


def check(settings: Settings, dialects: Sequence[Dialect]) -> None:
    """Raise RefusedError for the first thing that is wrong."""
    common.check_dialect(NAME, settings.dialect, dialects)
    common.check_model(NAME, settings.model)
    common.check_tokens(NAME, "limits.output_tokens", settings.output_limit)
    _check_window(settings.context)
    common.check_effort_form(NAME, settings.effort)
    common.check_instruction(NAME, settings.instruction)
    common.check_places(settings)
    common.check_environment(settings, _RESERVED)


def _check_window(context: int | None) -> None:
    if context is not None and context < LEAST_CONTEXT:
        raise refuse(
            "context_too_small",
            field="limits.context",
            value=context,
            rule=f"codex was seen to obey a window of {LEAST_CONTEXT} tokens and more; in a "
            "smaller one it would summarise the conversation after every step",
            remedy=f"Give {LEAST_CONTEXT} or more, or none, which switches compaction off",
        )
    common.check_tokens(NAME, "limits.context", context)
