"""The provider package that OpenCode 1.18.33 uses for a dialect, and what it makes of the settings.

Decides how limit and effort are spelled for each package, and what such spellings become on the
wire, by their own code (ai-sdk 6: `@ai-sdk/openai-compatible`, `@ai-sdk/openai`,
`@ai-sdk/anthropic`, `@ai-sdk/google`) and by OpenCode's, which makes `@ai-sdk/openai` send an
effort whatever the model is called. Pure; it must never be asked which limit a model ought to have.
"""

from collections.abc import Callable
from dataclasses import dataclass

from stanchion.harness_adapters.json_values import text, whole
from stanchion.protocol.dialects import EFFORT_WORDS, Dialect

Json = dict[str, object]


@dataclass(frozen=True, slots=True)
class Package:
    """One provider package."""

    npm: str
    effort_options: Callable[[str | None, int | None], Json]
    """A model's options that bring this effort word and this thinking budget to the wire."""
    effort_in: Callable[[Json], str | None]
    """The effort that such options bring to the wire; other spellings are dropped silently."""
    added_effort: Callable[[str], str | None]
    """The effort that OpenCode adds by itself for a model id where nothing is said."""
    thinking_budget: Callable[[Json], int | None]
    """The thinking budget that such options bring to the wire; None = none."""
    budget_on_top: bool
    """Whether the package adds the budget to the limit that it was given."""
    ceiling: Callable[[str], tuple[str, int] | None]
    """The part of a model id by which the package lowers every limit, and to what."""
    efforts: tuple[str, ...] | None
    """Words it takes; any other ends the harness before it asks. None = any word."""
    effort_field: str | None = None
    """Where the broker writes the others; None = they are refused."""
    version: str = "/v1"
    """The path that its base URL ends with."""
    model_in_path: bool = False
    """Whether a model's id becomes a part of the path, one with a slash the whole of it."""


CEILINGS = (
    ("claude-opus-5", 128_000),
    ("claude-opus-4-8", 128_000),
    ("claude-opus-4-7", 128_000),
    ("claude-fable-5", 128_000),
    ("claude-sonnet-5", 128_000),
    ("claude-sonnet-4-6", 128_000),
    ("claude-opus-4-6", 128_000),
    ("claude-sonnet-4-5", 64_000),
    ("claude-opus-4-5", 64_000),
    ("claude-haiku-4-5", 64_000),
    ("claude-opus-4-1", 32_000),
    ("claude-sonnet-4-", 64_000),
    ("claude-opus-4-", 32_000),
    ("claude-3-haiku", 4_096),
)
"""`@ai-sdk/anthropic` lowers max_tokens to the first of these whose words a model id contains, a
later model's id too: `claude-opus-4-10` contains `claude-opus-4-1`."""


def _ceiling(model: str) -> tuple[str, int] | None:
    return next(((part, most) for part, most in CEILINGS if part in model), None)


def _openai_options(word: str | None, _budget: int | None) -> Json:
    return {} if word is None else {"reasoningEffort": word}


def _openai_effort(options: Json) -> str | None:
    return text(options.get("reasoningEffort"))


def _openai_added(model: str) -> str | None:
    named = "gpt-5" in model and "gpt-5-chat" not in model and "gpt-5-pro" not in model
    return "medium" if named else None


def _anthropic_options(word: str | None, budget: int | None) -> Json:
    effort: Json = {} if word is None else {"effort": word}
    if budget is not None:
        return {**effort, "thinking": {"type": "enabled", "budgetTokens": budget}}
    return {} if word is None else {**effort, "thinking": {"type": "adaptive"}}


def _anthropic_effort(options: Json) -> str | None:
    return text(options.get("effort"))


def _anthropic_budget(options: Json) -> int | None:
    thinking = options.get("thinking")
    if not isinstance(thinking, dict) or thinking.get("type") != "enabled":
        return None
    budget = thinking.get("budgetTokens")
    return budget if isinstance(budget, int) and not isinstance(budget, bool) else 1024


GOOGLE_LEVELS = ("minimal", "low", "medium", "high")


def _google_options(word: str | None, budget: int | None) -> Json:
    level: Json = {"thinkingLevel": word} if word in GOOGLE_LEVELS else {}
    tokens: Json = {} if budget is None else {"thinkingBudget": budget}
    if word is None and budget is None:
        return {}
    # Without a level there is still the object that the broker writes one into.
    return {"thinkingConfig": {"includeThoughts": True, **level, **tokens}}


def _google_budget(options: Json) -> int | None:
    thinking = options.get("thinkingConfig")
    return whole(thinking.get("thinkingBudget")) if isinstance(thinking, dict) else None


def _google_effort(options: Json) -> str | None:
    thinking = options.get("thinkingConfig")
    return text(thinking.get("thinkingLevel")) if isinstance(thinking, dict) else None


PACKAGES: dict[Dialect, Package] = {
    Dialect.OPENAI_CHAT: Package(
        npm="@ai-sdk/openai-compatible",
        effort_options=_openai_options,
        effort_in=_openai_effort,
        added_effort=_openai_added,
        thinking_budget=lambda _options: None,
        budget_on_top=False,
        ceiling=lambda _model: None,
        efforts=None,
    ),
    Dialect.OPENAI_RESPONSES: Package(
        npm="@ai-sdk/openai",
        effort_options=_openai_options,
        effort_in=_openai_effort,
        added_effort=_openai_added,
        thinking_budget=lambda _options: None,
        budget_on_top=False,
        ceiling=lambda _model: None,
        efforts=None,
    ),
    Dialect.ANTHROPIC_MESSAGES: Package(
        npm="@ai-sdk/anthropic",
        effort_options=_anthropic_options,
        effort_in=_anthropic_effort,
        added_effort=lambda _model: None,
        thinking_budget=_anthropic_budget,
        budget_on_top=True,
        ceiling=_ceiling,
        efforts=EFFORT_WORDS[Dialect.ANTHROPIC_MESSAGES],
    ),
    Dialect.GEMINI: Package(
        npm="@ai-sdk/google",
        effort_options=_google_options,
        effort_in=_google_effort,
        added_effort=lambda _model: None,
        thinking_budget=_google_budget,
        budget_on_top=False,
        ceiling=lambda _model: None,
        efforts=GOOGLE_LEVELS,
        effort_field="generationConfig.thinkingConfig.thinkingLevel",
        version="/v1beta",
        model_in_path=True,
    ),
}
"""The first is the one that a launch without a dialect of its own gets."""


def unsaid_effort(dialect: Dialect, effort: str | None) -> str | None:
    """The body field that the broker must write this word into, since the package takes it not."""
    package = PACKAGES.get(dialect)
    if package is None or effort is None or package.efforts is None or effort in package.efforts:
        return None
    return package.effort_field


def package_of(npm: object) -> Package | None:
    """The package of this name, if it is one of these."""
    return next((package for package in PACKAGES.values() if package.npm == npm), None)
