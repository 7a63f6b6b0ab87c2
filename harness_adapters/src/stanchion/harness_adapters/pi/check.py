"""What pi 1.6.0 would misread or lower without a word, refused before the start.

Decides nothing about policy (which limits or words are allowed); it must never let a value through
that would reach the wire as another one. No model name changes anything: limit, effort and API are
said of the one model there is (seen on the wire for names of old families).
"""

from collections.abc import Sequence

from stanchion.harness_adapters import common_checks as common
from stanchion.harness_adapters.base import Settings
from stanchion.harness_adapters.node_program import RESERVED_PREFIXES
from stanchion.harness_adapters.thinking import check_budget
from stanchion.protocol.dialects import Dialect
from stanchion.protocol.refusal import refuse

NAME = "pi"
LEAST_CONTEXT = 40_000
"""A compaction keeps the last 20,000 tokens and begins 16,384 below the window."""
_RESERVED = common.Reserved(prefixes=("PI_", *RESERVED_PREFIXES), names=("AI_AGENT",))


def check(settings: Settings, dialects: Sequence[Dialect]) -> None:
    """Raise RefusedError for the first thing that is wrong."""
    common.check_dialect(NAME, settings.dialect, dialects)
    common.check_model(NAME, settings.model)
    common.check_effort_form(NAME, settings.effort)
    common.check_tokens(NAME, "limits.output_tokens", settings.output_limit)
    _check_window(settings.context)
    check_budget(NAME, settings)
    common.check_instruction(NAME, settings.instruction, command_mark="/")
    common.check_places(settings)
    common.check_environment(settings, _RESERVED)


def _check_window(context: int | None) -> None:
    common.check_tokens(NAME, "limits.context", context)
    if context is not None and context < LEAST_CONTEXT:
        raise refuse(
            "context_too_small",
            field="limits.context",
            value=context,
            rule=f"pi would compact the conversation after every step of a window below "
            f"{LEAST_CONTEXT} tokens",
            remedy=f"Give {LEAST_CONTEXT} or more, or none, which switches compaction off",
        )
