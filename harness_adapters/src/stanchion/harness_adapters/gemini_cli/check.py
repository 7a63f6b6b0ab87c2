"""What Gemini CLI 0.61.0 would misread or drop without a word, refused before the start.

Decides nothing about policy (which limits or words are allowed); it must never let a value through
that would reach the wire as another one.
"""

from collections.abc import Sequence

from stanchion.harness_adapters import common_checks as common
from stanchion.harness_adapters.base import Settings
from stanchion.harness_adapters.node_program import RESERVED_PREFIXES
from stanchion.harness_adapters.thinking import check_budget
from stanchion.protocol.dialects import Dialect
from stanchion.protocol.refusal import refuse

NAME = "gemini_cli"
ALIASES = (
    *("auto", "auto-gemini-2.5", "auto-gemini-3", "flash", "flash-lite", "none", "pro"),
    # Seen on the wire as later models.
    *("gemini-3-flash", "gemini-3-pro-preview", "gemini-3.1-flash-lite", "gemini-3.5-flash"),
    # What its own parts ask by.
    *("base", "chat-base"),
)
"""Names that it resolves to a model of its own choice."""
LEAST_CONTEXT = 50_000
"""It compacts at half of the window, and its own instructions and tools take 12,000 tokens."""
_RESERVED = common.Reserved(
    prefixes=("GEMINI_", "GOOGLE_", "OTEL_", "OTLP_", *RESERVED_PREFIXES),
    names=("SANDBOX", "CLOUD_SHELL", "CODE_ASSIST_ENDPOINT", "DEBUG", "DEV"),
)


def check(settings: Settings, dialects: Sequence[Dialect]) -> None:
    """Raise RefusedError for the first thing that is wrong."""
    common.check_dialect(NAME, settings.dialect, dialects)
    common.check_model(NAME, settings.model, ALIASES)
    _check_path(settings.model)
    common.check_effort_form(NAME, settings.effort)
    common.check_tokens(NAME, "limits.output_tokens", settings.output_limit)
    _check_window(settings.context)
    check_budget(NAME, settings)
    common.check_instruction(NAME, settings.instruction, command_mark="/")
    common.check_places(settings, excluded="$")
    common.check_environment(settings, _RESERVED)


def _check_path(model: str) -> None:
    if "/" in model or ":" in model:
        raise refuse(
            "model_unwritable",
            field="--model",
            value=model,
            rule="gemini_cli makes a model's id a part of the path of its requests, where / and : "
            "end it",
            remedy="Name the model as the provider lists it, without models/",
        )


def _check_window(context: int | None) -> None:
    common.check_tokens(NAME, "limits.context", context)
    if context is not None and context < LEAST_CONTEXT:
        raise refuse(
            "context_too_small",
            field="limits.context",
            value=context,
            rule=f"gemini_cli would compact the conversation after every step of a window below "
            f"{LEAST_CONTEXT} tokens",
            remedy=f"Give {LEAST_CONTEXT} or more, or none, which switches compaction off",
        )
