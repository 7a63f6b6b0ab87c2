from dataclasses import replace

import pytest

from stanchion.harness_adapters.mini_swe_agent import MiniSweAgent
from stanchion.protocol.dialects import EFFORT_WORDS, Dialect
from stanchion.protocol.refusal import RefusedError
from unit.harness_adapters.mini_swe_agent.mini_launches import PLAIN

ANTHROPIC = Dialect.ANTHROPIC_MESSAGES


@pytest.mark.parametrize(
    ("change", "refusal"),
    [
        ({"dialect": Dialect.GEMINI}, "dialect_unsupported"),
        ({"dialect": Dialect.OPENAI_RESPONSES}, "dialect_unsupported"),
        ({"model": "a b"}, "model_unwritable"),
        ({"model": "responses/future-9"}, "model_unwritable"),
        ({"effort": "very high"}, "effort_unwritable"),
        ({"effort": "ultra", "dialect": ANTHROPIC}, "effort_unwritable"),
        ({"output_limit": 0}, "limit_unwritable"),
        ({"context": -1}, "limit_unwritable"),
        ({"instruction": ""}, "instruction_unusable"),
        ({"home": "/home/agent=b"}, "path_unusable"),
        ({"env": {"MSWEA_MODEL_NAME": "x"}}, "env_reserved"),
        ({"env": {"litellm_mode": "DEV"}}, "env_reserved"),
        ({"env": {"OPENAI_API_BASE": "http://elsewhere"}}, "env_reserved"),
        ({"env": {"ANTHROPIC_API_BASE": "http://elsewhere"}}, "env_reserved"),
    ],
)
def test_what_it_would_misread_is_refused(change: dict[str, object], refusal: str) -> None:
    with pytest.raises(RefusedError) as refused:
        MiniSweAgent().check(replace(PLAIN, **change))  # type: ignore[arg-type]
    assert refused.value.refusal.id == refusal


@pytest.mark.parametrize("dialect", MiniSweAgent.dialects)
def test_every_word_of_the_dialect_and_every_name_of_a_model_passes(dialect: Dialect) -> None:
    for effort in (None, *EFFORT_WORDS[dialect]):
        for model in ("gpt-5-pro", "o3", "claude-opus-4-1", "maker/future-9:large"):
            MiniSweAgent().check(replace(PLAIN, dialect=dialect, effort=effort, model=model))


def test_a_word_that_openai_does_not_know_yet_passes_there() -> None:
    MiniSweAgent().check(replace(PLAIN, effort="ultra"))
