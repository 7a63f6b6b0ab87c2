from dataclasses import replace
from typing import Any

import pytest

from stanchion.harness_adapters.codex.check import LEAST_CONTEXT, check
from stanchion.protocol.dialects import EFFORT_WORDS, Dialect
from stanchion.protocol.refusal import RefusedError
from unit.harness_adapters.plain_launch import plain

PLAIN = plain(Dialect.OPENAI_RESPONSES)

DIALECTS = (Dialect.OPENAI_RESPONSES,)


@pytest.mark.parametrize(
    ("changed", "refusal", "field"),
    [
        ({"dialect": Dialect.OPENAI_CHAT}, "dialect_unsupported", "dialect"),
        ({"model": "a b"}, "model_unwritable", "--model"),
        ({"effort": "very high"}, "effort_unwritable", "--effort"),
        ({"output_limit": 0}, "limit_unwritable", "limits.output_tokens"),
        ({"context": 2**53}, "limit_unwritable", "limits.context"),
        ({"context": LEAST_CONTEXT - 1}, "context_too_small", "limits.context"),
        ({"instruction": " \n"}, "instruction_unusable", "instruction.md"),
        ({"base_url": "http://127.0.0.1:1/v1"}, "base_url_unusable", "base_url"),
        ({"home": "home"}, "path_unusable", "home"),
        ({"env": {"CODEX_HOME": "x"}}, "env_reserved", "env.CODEX_HOME"),
        ({"env": {"openai_base_url": "x"}}, "env_reserved", "env.openai_base_url"),
    ],
)
def test_what_would_be_misread_is_refused_by_name(
    changed: dict[str, Any], refusal: str, field: str
) -> None:
    with pytest.raises(RefusedError) as refused:
        check(replace(PLAIN, **changed), DIALECTS)
    assert (refused.value.refusal.id, refused.value.refusal.field) == (refusal, field)


@pytest.mark.parametrize(
    "word", [*EFFORT_WORDS[Dialect.OPENAI_RESPONSES], None, "ultra", "ULTRA", "new"]
)
def test_every_other_word_passes(word: str | None) -> None:
    check(replace(PLAIN, effort=word, output_limit=200_000, context=LEAST_CONTEXT), DIALECTS)
