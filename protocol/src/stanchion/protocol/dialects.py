"""The request and stream formats of providers, by name, and the effort words each one knows.

A word that is not listed is refused, unless it is passed as a raw word, and then must be seen on
the wire verbatim. A vocabulary is the API's, not a model's: which of its words a model takes, its
provider says.
"""

from dataclasses import dataclass
from enum import StrEnum


class Dialect(StrEnum):
    """One request and stream format."""

    OPENAI_CHAT = "openai_chat"
    OPENAI_RESPONSES = "openai_responses"
    ANTHROPIC_MESSAGES = "anthropic_messages"
    GEMINI = "gemini"


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The effort words of one API."""

    words: tuple[str, ...]
    """From the least to the most."""
    field: str
    """Of the request, as a path."""
    source: str
    read: str
    """When the source was read, as an ISO date."""


_OPENAI = ("none", "minimal", "low", "medium", "high", "xhigh", "max")
_OPENAI_TYPE = "the type `ReasoningEffort` of the openai package 3.57"

VOCABULARIES: dict[Dialect, Vocabulary] = {
    Dialect.OPENAI_CHAT: Vocabulary(
        words=_OPENAI,
        field="reasoning_effort",
        source=f"OpenAI API reference, Create chat completion; {_OPENAI_TYPE}",
        read="2026-12-01",
    ),
    Dialect.OPENAI_RESPONSES: Vocabulary(
        words=_OPENAI,
        field="reasoning.effort",
        source=f"OpenAI API reference, Create a model response; {_OPENAI_TYPE}",
        read="2026-12-01",
    ),
    Dialect.ANTHROPIC_MESSAGES: Vocabulary(
        words=("low", "medium", "high", "xhigh", "max"),
        field="output_config.effort",
        source="Anthropic API reference, Create a Message; the type `OutputConfigParam` of the "
        "anthropic package 2.14",
        read="2026-12-01",
    ),
    Dialect.GEMINI: Vocabulary(
        words=("minimal", "low", "medium", "high", "xhigh"),
        field="generationConfig.thinkingConfig.thinkingLevel",
        source="Gemini API reference, GenerationConfig, in lower case as its REST examples write "
        "it; the enum `ThinkingLevel` of the google-genai package 3.6",
        read="2026-12-01",
    ),
}

EFFORT_WORDS: dict[Dialect, tuple[str, ...]] = {
    dialect: vocabulary.words for dialect, vocabulary in VOCABULARIES.items()
}


def knows_effort(dialect: Dialect, word: str) -> bool:
    """Whether the dialect's vocabulary has this word."""
    return word in EFFORT_WORDS[dialect]
