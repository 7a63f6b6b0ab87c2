"""The request and stream formats of providers, by name, and the effort words each one knows.

Sources: OpenAI API reference `reasoning_effort`/`reasoning.effort`; Anthropic API reference
`output_config.effort`; Gemini API `generationConfig.thinkingConfig.thinkingLevel` (the enum
`ThinkingLevel` of google-genai 3.6, in lower case as the REST examples spell it). A word that is
not listed is refused, unless it is passed as a raw word, and then must be seen on the wire
verbatim.
"""

from enum import StrEnum


class Dialect(StrEnum):
    """One request and stream format."""

    OPENAI_CHAT = "openai_chat"
    OPENAI_RESPONSES = "openai_responses"
    ANTHROPIC_MESSAGES = "anthropic_messages"
    GEMINI = "gemini"


_OPENAI = ("none", "minimal", "low", "medium", "high", "xhigh", "max")

EFFORT_WORDS: dict[Dialect, tuple[str, ...]] = {
    Dialect.OPENAI_CHAT: _OPENAI,
    Dialect.OPENAI_RESPONSES: _OPENAI,
    Dialect.ANTHROPIC_MESSAGES: ("low", "medium", "high", "xhigh", "max"),
    Dialect.GEMINI: ("minimal", "low", "medium", "high", "xhigh"),
}


def knows_effort(dialect: Dialect, word: str) -> bool:
    """Whether the dialect's vocabulary has this word."""
    return word in EFFORT_WORDS[dialect]
