from dataclasses import replace
from typing import Any

import pytest

from stanchion.harness_adapters.claude_code.check import check
from stanchion.protocol.dialects import Dialect
from stanchion.protocol.refusal import RefusedError
from unit.harness_adapters.plain_launch import plain

PLAIN = plain(Dialect.ANTHROPIC_MESSAGES)

DIALECTS = (Dialect.ANTHROPIC_MESSAGES,)


@pytest.mark.parametrize(
    ("changed", "refusal", "field"),
    [
        ({"dialect": Dialect.OPENAI_CHAT}, "dialect_unsupported", "dialect"),
        ({"model": "opus"}, "model_unwritable", "--model"),
        ({"model": "future-9[1m]"}, "model_unwritable", "--model"),
        ({"effort": "very high"}, "effort_unwritable", "--effort"),
        ({"output_limit": 0}, "limit_unwritable", "limits.output_tokens"),
        ({"output_limit": 2**53}, "limit_unwritable", "limits.output_tokens"),
        ({"context": 2**53}, "limit_unwritable", "limits.context"),
        ({"context": 99_999}, "context_too_small", "limits.context"),
        ({"model": "claude-opus-4-1"}, "limit_clamped", "limits.output_tokens"),
        ({"model": "my-opus-4-5", "output_limit": 9}, "effort_unwritable", "--effort"),
        ({"model": "sonnet-4-5", "output_limit": 9}, "effort_unwritable", "--effort"),
        ({"instruction": " \n"}, "instruction_unusable", "instruction.md"),
        ({"instruction": "\ud800"}, "instruction_unusable", "instruction.md"),
        ({"instruction": "/model x"}, "instruction_unusable", "instruction.md"),
        ({"base_url": "http://127.0.0.1:1/v1"}, "base_url_unusable", "base_url"),
        ({"home": "home"}, "path_unusable", "home"),
        ({"package_dir": "/a\nb"}, "path_unusable", "package_dir"),
        ({"env": {"ANTHROPIC_BASE_URL": "x"}}, "env_reserved", "env.ANTHROPIC_BASE_URL"),
        ({"env": {"MAX_THINKING_TOKENS": "0"}}, "env_reserved", "env.MAX_THINKING_TOKENS"),
        ({"env": {"claude_code_x": "0"}}, "env_reserved", "env.claude_code_x"),
        ({"env": {"A": "\0"}}, "env_unusable", "env.'A'"),
    ],
)
def test_what_would_be_misread_is_refused_by_name(
    changed: dict[str, Any], refusal: str, field: str
) -> None:
    with pytest.raises(RefusedError) as refused:
        check(replace(PLAIN, **changed), DIALECTS)
    assert (refused.value.refusal.id, refused.value.refusal.field) == (refusal, field)


@pytest.mark.parametrize(
    "changed",
    [
        {},
        {"effort": None, "context": 100_000},
        {"effort": "brand-new", "output_limit": 200_000},
        {"model": "claude-opus-4-1", "output_limit": 32_000, "effort": None},
        {"model": "claude-opus-4-5", "output_limit": 64_000, "effort": "high"},
    ],
)
def test_what_it_can_be_told_passes(changed: dict[str, Any]) -> None:
    check(replace(PLAIN, **changed), DIALECTS)
