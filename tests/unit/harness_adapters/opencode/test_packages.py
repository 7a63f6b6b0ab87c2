import pytest

from stanchion.harness_adapters.opencode.packages import (
    CEILINGS,
    PACKAGES,
    package_of,
    unsaid_effort,
)
from stanchion.protocol.dialects import EFFORT_WORDS, Dialect


@pytest.mark.parametrize("dialect", list(PACKAGES))
def test_the_effort_that_is_written_is_the_effort_that_is_read(dialect: Dialect) -> None:
    package = PACKAGES[dialect]
    for word in EFFORT_WORDS[dialect]:
        options = package.effort_options(word, None)
        unsaid = unsaid_effort(dialect, word) is not None
        assert package.effort_in(options) == (None if unsaid else word)
        assert package.thinking_budget(options) is None


def test_googles_package_takes_fewer_words_than_its_api() -> None:
    words = PACKAGES[Dialect.GEMINI].efforts
    assert words is not None
    assert set(EFFORT_WORDS[Dialect.GEMINI]) - set(words) == {"xhigh"}
    field = "generationConfig.thinkingConfig.thinkingLevel"
    assert unsaid_effort(Dialect.GEMINI, "xhigh") == field
    options = PACKAGES[Dialect.GEMINI].effort_options("xhigh", None)
    assert options == {"thinkingConfig": {"includeThoughts": True}}
    assert unsaid_effort(Dialect.GEMINI, None) is None
    assert {unsaid_effort(dialect, "high") for dialect in Dialect} == {None}
    assert unsaid_effort(Dialect.ANTHROPIC_MESSAGES, "ultra") is None


@pytest.mark.parametrize("options", [{}, {"thinkingConfig": "high"}, {"thinkingLevel": "high"}])
def test_a_level_elsewhere_is_none(options: dict[str, object]) -> None:
    assert PACKAGES[Dialect.GEMINI].effort_in(options) is None


def test_a_package_is_known_by_its_exact_name() -> None:
    for package in PACKAGES.values():
        assert package_of(package.npm) is package
    for other in ("@ai-sdk/xai", "@ai-sdk/open", "", None, 3, ["@ai-sdk/anthropic"]):
        assert package_of(other) is None


def test_the_first_words_that_are_contained_decide() -> None:
    """`claude-opus-4-` is in most of the others, so it has to come after them."""
    parts = [part for part, _ in CEILINGS]
    for place, part in enumerate(parts):
        assert not any(before in part for before in parts[:place])
    ceiling = PACKAGES[Dialect.ANTHROPIC_MESSAGES].ceiling
    assert ceiling("claude-opus-4-20250514") == ("claude-opus-4-", 32_000)
    assert ceiling("claude-opus-4-5") == ("claude-opus-4-5", 64_000)
    for dialect in (Dialect.OPENAI_CHAT, Dialect.OPENAI_RESPONSES, Dialect.GEMINI):
        assert PACKAGES[dialect].ceiling("claude-opus-4-5") is None
