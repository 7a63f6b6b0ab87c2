"""A thinking budget is taken where it reaches the provider, and refused by name everywhere else."""

from dataclasses import replace

import pytest

from stanchion.harness_adapters.base import Settings
from stanchion.harness_adapters.thinking import RULES, check_budget
from stanchion.protocol.dialects import Dialect
from stanchion.protocol.refusal import RefusedError
from unit.harness_adapters.plain_launch import plain

PLAIN = plain(Dialect.OPENAI_CHAT)

ANTHROPIC, GEMINI = Dialect.ANTHROPIC_MESSAGES, Dialect.GEMINI


def settings(dialect: Dialect, budget: int | None, *, effort: str | None = None) -> Settings:
    return replace(
        PLAIN, dialect=dialect, thinking_budget=budget, effort=effort, output_limit=16_000
    )


@pytest.mark.parametrize(
    ("dialect", "budget", "effort"),
    [
        (ANTHROPIC, 1_024, None),
        (ANTHROPIC, 15_999, "max"),
        (GEMINI, 0, None),
        (GEMINI, 15_999, None),
        *((dialect, None, "max") for dialect in Dialect),
    ],
)
def test_what_the_vendor_takes_is_taken(
    dialect: Dialect, budget: int | None, effort: str | None
) -> None:
    check_budget("opencode", settings(dialect, budget, effort=effort))


@pytest.mark.parametrize(
    ("harness", "asked", "rule"),
    [
        ("opencode", settings(ANTHROPIC, 20_000), "less than the output limit, which here is 160"),
        ("opencode", settings(ANTHROPIC, 16_000), "less than the output limit"),
        ("opencode", settings(ANTHROPIC, 1_023), "is at least 1024"),
        ("opencode", settings(GEMINI, -1), "is at least 0"),
        ("opencode", settings(GEMINI, 4_096, effort="high"), "both a level and a budget"),
        ("opencode", settings(Dialect.OPENAI_CHAT, 4_096), "openai_chat has no thinking budget"),
        ("opencode", settings(Dialect.OPENAI_RESPONSES, 1), "openai_responses has no thinking"),
        (
            "codex",
            settings(Dialect.OPENAI_RESPONSES, 4_096),
            "openai_responses has no thinking bud",
        ),
        ("qwen_code", settings(Dialect.OPENAI_CHAT, 4_096), "openai_chat has no thinking budget"),
        ("pi", settings(ANTHROPIC, 4_096), "pi was not seen to send thinking.budget_tokens"),
        ("mini_swe_agent", settings(ANTHROPIC, 4_096), "mini_swe_agent was not seen to send think"),
        ("command", settings(Dialect.OPENAI_CHAT, 4_096), "openai_chat has no thinking budget"),
        ("command", settings(ANTHROPIC, 1_000), "is at least 1024"),
        ("another", settings(ANTHROPIC, 4_096), "another was not seen to send thinking.budget_t"),
        ("claude_code", settings(GEMINI, 4_096), "claude_code was not seen to send generationC"),
    ],
)
def test_what_would_not_arrive_is_refused_before_the_start(
    harness: str, asked: Settings, rule: str
) -> None:
    with pytest.raises(RefusedError, match=rule) as refused:
        check_budget(harness, asked)
    assert refused.value.refusal.field == "--thinking-budget"


def test_each_rule_says_where_it_comes_from() -> None:
    for rule in RULES.values():
        assert rule.source
        assert rule.read.year >= 2026
