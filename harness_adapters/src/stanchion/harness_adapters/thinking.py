"""Where a thinking budget can be asked for, by each vendor's own rule. Pure.

A budget is a number of tokens to think with. Two of the APIs have one; everywhere else it is
refused by name, for there it would be dropped in silence or refused at the first request, when the
sandbox is paid for.
"""

import datetime as dt
from dataclasses import dataclass

from stanchion.harness_adapters.base import Settings
from stanchion.protocol.dialects import Dialect
from stanchion.protocol.refusal import RefusedError, refuse

FIELD = "--thinking-budget"


@dataclass(frozen=True, slots=True)
class BudgetRule:
    """What one API says of its budget."""

    field: str
    """Of the request."""
    least: int
    below_limit: bool
    """Whether it must be less than the output limit, which it is a part of."""
    beside_effort: bool
    """Whether an effort may be asked for in the same request."""
    source: str
    read: dt.date


RULES: dict[Dialect, BudgetRule] = {
    Dialect.ANTHROPIC_MESSAGES: BudgetRule(
        field="thinking.budget_tokens",
        least=1024,
        below_limit=True,
        beside_effort=True,
        source="Anthropic, Messages API reference, `thinking.budget_tokens`: at least 1024, less "
        "than `max_tokens`",
        read=dt.date(2026, 12, 1),
    ),
    Dialect.GEMINI: BudgetRule(
        field="generationConfig.thinkingConfig.thinkingBudget",
        least=0,
        below_limit=True,
        beside_effort=False,
        source="Google, Gemini API documentation, Thinking: `thinkingBudget` from 0, which turns "
        "thinking off where a model can; not beside `thinkingLevel`. Thoughts count against "
        "`maxOutputTokens`, so that no budget at or above it leaves room for an answer",
        read=dt.date(2026, 12, 1),
    ),
}

WRITTEN_BY: dict[str, frozenset[Dialect]] = {
    "claude_code": frozenset({Dialect.ANTHROPIC_MESSAGES}),
    # Whatever the program is: its file says where it is told.
    "command": frozenset(RULES),
    "gemini_cli": frozenset({Dialect.GEMINI}),
    "opencode": frozenset({Dialect.ANTHROPIC_MESSAGES, Dialect.GEMINI}),
}
"""In which APIs each harness was seen to bring a budget to the wire; any other is refused."""


def check_budget(harness: str, settings: Settings) -> None:
    """Raise RefusedError where this budget would not reach the provider as it was asked for."""
    budget, dialect = settings.thinking_budget, settings.dialect
    if budget is None:
        return
    rule = RULES.get(dialect)
    if rule is None:
        raise _refused(
            budget,
            f"{dialect} has no thinking budget; {' and '.join(RULES)} have",
            "use --effort, or leave it out",
        )
    if dialect not in WRITTEN_BY.get(harness, frozenset()):
        able = ", ".join(name for name, spoken in WRITTEN_BY.items() if dialect in spoken)
        raise _refused(
            budget,
            f"{harness} was not seen to send {rule.field}; with {dialect} these do: {able}",
            "use one of them, or --effort",
        )
    if budget < rule.least:
        raise _refused(
            budget, f"{rule.field} is at least {rule.least}", f"give {rule.least} or more"
        )
    if rule.below_limit and budget >= settings.output_limit:
        raise _refused(
            budget,
            f"{rule.field} is less than the output limit, which here is {settings.output_limit}",
            "give less, or a higher --output-limit",
        )
    if settings.effort is not None and not rule.beside_effort:
        raise _refused(
            budget,
            f"{dialect} refuses a request with both a level and a budget",
            "keep --effort or --thinking-budget",
        )


def _refused(value: int, rule: str, remedy: str) -> RefusedError:
    return refuse("thinking_budget_refused", field=FIELD, value=value, rule=rule, remedy=remedy)
