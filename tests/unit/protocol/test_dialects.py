"""The effort words of each API, as its vendor's own package has them."""

import datetime as dt
import typing

import pytest
from anthropic.types.output_config_param import OutputConfigParam
from google.genai.types import ThinkingLevel
from openai.types.shared import ReasoningEffort

from stanchion.protocol.dialects import EFFORT_WORDS, VOCABULARIES, Dialect, knows_effort


def words_of(annotation: object) -> set[str]:
    """The strings of an optional literal."""
    (literal,) = (one for one in typing.get_args(annotation) if one is not type(None))
    return set(typing.get_args(literal))


VENDORS = {
    Dialect.OPENAI_CHAT: words_of(ReasoningEffort),
    Dialect.OPENAI_RESPONSES: words_of(ReasoningEffort),
    Dialect.ANTHROPIC_MESSAGES: words_of(typing.get_type_hints(OutputConfigParam)["effort"]),
    Dialect.GEMINI: {
        level.value.lower() for level in ThinkingLevel if not level.value.endswith("UNSPECIFIED")
    },
}


@pytest.mark.parametrize("dialect", Dialect)
def test_the_words_are_those_of_the_vendor_s_own_package(dialect: Dialect) -> None:
    assert set(EFFORT_WORDS[dialect]) == VENDORS[dialect]
    assert len(EFFORT_WORDS[dialect]) == len(VENDORS[dialect])


@pytest.mark.parametrize("dialect", Dialect)
def test_each_vocabulary_says_where_it_stands_and_when_it_was_read(dialect: Dialect) -> None:
    vocabulary = VOCABULARIES[dialect]
    assert vocabulary.field
    assert "reference" in vocabulary.source
    assert dt.date.fromisoformat(vocabulary.read) <= dt.datetime.now(dt.UTC).date()


def test_a_word_counts_as_it_is_spelled_and_for_its_own_dialect() -> None:
    assert knows_effort(Dialect.OPENAI_CHAT, "minimal")
    assert not knows_effort(Dialect.ANTHROPIC_MESSAGES, "minimal")
    assert not knows_effort(Dialect.GEMINI, "max")
    assert not knows_effort(Dialect.OPENAI_CHAT, "MAX")
