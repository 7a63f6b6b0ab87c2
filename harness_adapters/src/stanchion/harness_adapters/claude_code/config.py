"""What Claude Code 2.1.332 is told, as environment variables and settings, and how it reads that.

Decides the words of its configuration and the meaning of such words (`understood`), so that a value
it would drop, clamp or replace by itself is seen before the start. Pure; it must never leave a
choice to a default of Claude Code, to the image's files or to the task's environment.
"""

import json
from collections.abc import Mapping

from stanchion.harness_adapters.base import PlannedFile, Settings, Written
from stanchion.harness_adapters.claude_code.models import CAP, family
from stanchion.harness_adapters.json_values import whole
from stanchion.harness_adapters.surroundings import surroundings
from stanchion.protocol.dialects import EFFORT_WORDS, Dialect

VERSION = "2.1.332"
KEY = "placeholder"
"""The real key never enters the sandbox; the relay replaces this header."""
DEFAULT_LIMIT = 32_000
DEFAULT_EFFORT = "high"
"""What it sends where nothing, or an unknown word, is said."""
HEADER_WAIT_S = 1800
"""The default of 300 s would ask, and pay, again for an answer that takes long to begin or that,
without a stream, comes only at its end."""
STREAM_IDLE_S = 600
EFFORTS = EFFORT_WORDS[Dialect.ANTHROPIC_MESSAGES]

LIMIT_NAME = "CLAUDE_CODE_MAX_OUTPUT_TOKENS"
EFFORT_NAME = "CLAUDE_CODE_EFFORT_LEVEL"
BODY_NAME = "CLAUDE_CODE_EXTRA_BODY"
WINDOW_NAME = "CLAUDE_CODE_MAX_CONTEXT_TOKENS"
COMPACT_NAME = "CLAUDE_CODE_AUTO_COMPACT_WINDOW"
NO_COMPACTION = "DISABLE_AUTO_COMPACT"
ENDLESS = 100_000_000
"""An unknown window; without a word it takes 1,000,000 for granted and asks no more there."""
FOREIGN = ("/etc/claude-code",)
"""`managed-settings.json` there outranks everything, `managed-mcp.json` starts servers (read in the
program)."""
_MODELS = (
    "ANTHROPIC_MODEL",
    "ANTHROPIC_SMALL_FAST_MODEL",
    "ANTHROPIC_DEFAULT_FABLE_MODEL",
    "ANTHROPIC_DEFAULT_HAIKU_MODEL",
    "ANTHROPIC_DEFAULT_OPUS_MODEL",
    "ANTHROPIC_DEFAULT_SONNET_MODEL",
    "CLAUDE_CODE_SUBAGENT_MODEL",
)
"""Everything that asks asks the same model."""
_SWITCHES = (
    "CLAUDE_CODE_DISABLE_AUTO_MEMORY",
    "CLAUDE_CODE_DISABLE_CLAUDE_MDS",
    "CLAUDE_CODE_DISABLE_FEEDBACK_SURVEY",
    # Without it `claude-opus-4-1` is asked for as another model (seen on the wire).
    "CLAUDE_CODE_DISABLE_LEGACY_MODEL_REMAP",
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC",
    "CLAUDE_CODE_DISABLE_OFFICIAL_MARKETPLACE_AUTOINSTALL",
    "CLAUDE_CODE_DISABLE_TERMINAL_TITLE",
    # No other model after a failure.
    "CLAUDE_CODE_DISABLE_MODEL_ACCESS_FALLBACK",
    "CLAUDE_CODE_DISABLE_REFUSAL_FALLBACK",
    "CLAUDE_CODE_NO_MODEL_FALLBACK",
    "DISABLE_AUTOUPDATER",
    "DISABLE_ERROR_REPORTING",
    "DISABLE_TELEMETRY",
    # Else it refuses to run as root without asking for permissions.
    "IS_SANDBOX",
)
_NOTHING = Written(model=None, base_url=None, output_limit=None, context=None, effort=None)


def folder(home: str) -> str:
    """Its own configuration folder: not the usual one, which an image may have filled."""
    return f"{home}/.stanchion-claude"


def environment(settings: Settings) -> dict[str, str]:
    """The whole environment of the harness: the task's, and over it ours."""
    own = folder(settings.home)
    return {
        **surroundings(settings),
        **dict.fromkeys(_SWITCHES, "1"),
        **dict.fromkeys(_MODELS, settings.model),
        "CLAUDE_CONFIG_DIR": own,
        "ANTHROPIC_BASE_URL": settings.base_url,
        "ANTHROPIC_API_KEY": KEY,
        "API_TIMEOUT_MS": str(HEADER_WAIT_S * 1000),
        "CLAUDE_STREAM_IDLE_TIMEOUT_MS": str(STREAM_IDLE_S * 1000),
        LIMIT_NAME: str(settings.output_limit),
        **_effort(settings.effort),
        **_window(settings.context),
        **_body(settings),
    }


def files(home: str) -> tuple[PlannedFile, ...]:
    """User settings that say nothing, in place of any that an image has there."""
    return (PlannedFile(f"{folder(home)}/settings.json", "{}"),)


def understood(env: Mapping[str, str], written: Mapping[str, bytes]) -> Written:
    """Limits and effort as Claude Code will understand these variables and files."""
    settings = _table(written.get(f"{env.get('CLAUDE_CONFIG_DIR', '')}/settings.json", b"{}"))
    body = _table(env.get(BODY_NAME, "{}").encode())
    model = env.get("ANTHROPIC_MODEL")
    if settings is None or settings or body is None or model is None:
        return _NOTHING
    return Written(
        model=model,
        base_url=env.get("ANTHROPIC_BASE_URL"),
        output_limit=_read_limit(env.get(LIMIT_NAME, ""), body.get("max_tokens"), model),
        context=_read_window(env),
        effort=_read_effort(env.get(EFFORT_NAME, ""), body.get("output_config"), model),
        thinking_budget=_read_budget(body.get("thinking")),
    )


def _effort(effort: str | None) -> dict[str, str]:
    return {EFFORT_NAME: effort} if effort in EFFORTS else {}


def _window(context: int | None) -> dict[str, str]:
    if context is None:
        return {NO_COMPACTION: "1", WINDOW_NAME: str(ENDLESS)}
    return {WINDOW_NAME: str(context), COMPACT_NAME: str(context)}


def _body(settings: Settings) -> dict[str, str]:
    """What the variables cannot say is put into the request as it stands."""
    body: dict[str, object] = {}
    if settings.output_limit > CAP:
        body["max_tokens"] = settings.output_limit
    if settings.effort is not None and settings.effort not in EFFORTS:
        body["output_config"] = {"effort": settings.effort}
    if settings.thinking_budget is not None:  # models it does not know ignore its own variable
        body["thinking"] = {"type": "enabled", "budget_tokens": settings.thinking_budget}
    return {BODY_NAME: json.dumps(body)} if body else {}


def _read_limit(said: str, over: object, model: str) -> int | None:
    if over is not None:
        return over if isinstance(over, int) and not isinstance(over, bool) else None
    limit = int(said) if said.isascii() and said.isdigit() else 0
    known = family(model)
    return min(limit or DEFAULT_LIMIT, CAP if known is None else known.cap)


def _read_window(env: Mapping[str, str]) -> int | None:
    if env.get(NO_COMPACTION) == "1":
        return None
    window, compact = env.get(WINDOW_NAME, ""), env.get(COMPACT_NAME)
    return int(window) if window == compact and window.isascii() and window.isdigit() else None


def _read_effort(said: str, over: object, model: str) -> str | None:
    if isinstance(over, dict):
        word = over.get("effort")
        return word if isinstance(word, str) else None
    word = said if said in EFFORTS else DEFAULT_EFFORT
    known = family(model)
    return word if known is None or word in known.efforts else None


def _read_budget(thinking: object) -> int | None:
    budget = thinking.get("budget_tokens") if isinstance(thinking, dict) else None
    return whole(budget)


def _table(text: bytes) -> dict[str, object] | None:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None
