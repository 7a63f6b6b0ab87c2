"""What Qwen Code 0.15.10 would misread or drop without a word, refused before the start.

Decides nothing about policy (which limits or words are allowed); it must never let a value through
that would reach the wire as another one. No model name lowers a limit: `samplingParams` is beyond
the caps that it has by name (seen on the wire for names of each of its families).
"""

from collections.abc import Sequence

from stanchion.harness_adapters import common_checks as common
from stanchion.harness_adapters.base import Settings
from stanchion.harness_adapters.node_program import RESERVED_PREFIXES
from stanchion.harness_adapters.qwen_code.config import PROXIES
from stanchion.protocol.dialects import Dialect
from stanchion.protocol.refusal import refuse

NAME = "qwen_code"
LEAST_CONTEXT = 30_000
"""Its own instructions and tools take about half of this, so a smaller window would be compacted
after every step."""
_RESERVED = common.Reserved(
    prefixes=("QWEN_", "OPENAI_", "GEMINI_", "ANTHROPIC_", *RESERVED_PREFIXES),
    names=(*sorted({name.upper() for name in PROXIES}), "SANDBOX", "DEBUG", "DEV"),
)


def check(settings: Settings, dialects: Sequence[Dialect]) -> None:
    """Raise RefusedError for the first thing that is wrong."""
    common.check_dialect(NAME, settings.dialect, dialects)
    common.check_model(NAME, settings.model)
    common.check_effort_form(NAME, settings.effort)
    common.check_tokens(NAME, "limits.output_tokens", settings.output_limit)
    _check_window(settings.context)
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
            rule=f"qwen_code's own instructions leave no room in a window below {LEAST_CONTEXT} "
            "tokens, and it would compact the conversation after every step",
            remedy=f"Give {LEAST_CONTEXT} or more, or none, which switches compaction off",
        )
