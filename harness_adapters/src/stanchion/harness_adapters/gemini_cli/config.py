"""What Gemini CLI 0.61.0 is told, as variables and files, and how it reads that.

Decides the words of its configuration and the meaning of such words (`understood`), so that a value
it would drop or replace by itself is seen before the start. Pure; it must never leave a choice to a
default of Gemini CLI, to the image's files or to the task's environment.

Each part of it asks the model of an alias of its own (a compaction, a sub-agent, a summary), so
the model, the limit and the effort are said of all aliases at once, in overrides that come last.
"""

import json
from collections.abc import Mapping

from stanchion.harness_adapters.base import PlannedFile, Settings, Written
from stanchion.harness_adapters.json_values import part, table_of, text, whole
from stanchion.harness_adapters.surroundings import surroundings

VERSION = "0.61.0"
KEY = "placeholder"
"""The real key never enters the sandbox; the relay replaces this header."""
HEADER_WAIT_S = 60
"""Its own, which only Google's servers can change: then it asks again (seen on the wire)."""
HOME_NAME = "GEMINI_CLI_HOME"
COMPACT_AT = 0.5
"""The part of the window that starts a compaction; its own default."""
NEVER = 1_000_000
WINDOW = 1_048_576
"""What it takes for every model's window, by which it counts the part."""
GEMMA_WINDOW = 256_000
GEMMA = ("gemma-4-31b-it", "gemma-4-26b-a4b-it")
FOREIGN = ("/etc/gemini-cli",)
"""Settings and rules of an image, above a user's."""
RULES = """\
[[rule]]
toolName = "*"
decision = "allow"
priority = 900

# With a pattern, else a command with git in it would be asked about.
[[rule]]
toolName = "run_shell_command"
argsPattern = "."
decision = "allow"
priority = 950
allowRedirection = true

# Nobody answers, and there is no network; both of the latter ask another model.
[[rule]]
toolName = ["ask_user", "google_web_search", "web_fetch"]
decision = "deny"
priority = 999
"""
"""Every tool that needs nobody and no network. Its mode without permissions is not to be had in a
folder that is not trusted, and only such a folder's files are left unread."""
_SWITCHES = {
    # Not trusted, whatever the folder is called; without this it would refuse to start.
    "GEMINI_CLI_TRUST_WORKSPACE": "false",
    "GEMINI_CLI_NO_RELAUNCH": "true",
    "NO_BROWSER": "1",
    "NO_COLOR": "1",
    # Names that a file of variables in the workspace could still set.
    "GOOGLE_API_KEY": "",
    "GOOGLE_CLOUD_LOCATION": "",
    "GOOGLE_CLOUD_PROJECT": "",
}
_OVERRIDDEN = "overrideScope"
_NOTHING = Written(model=None, base_url=None, output_limit=None, context=None, effort=None)


def folder(home: str) -> str:
    """Its own home: not the usual one, which an image may have filled."""
    return f"{home}/.stanchion-gemini"


def sessions(home: str) -> str:
    """Where it saves its conversations, below a folder for the workspace."""
    return f"{folder(home)}/.gemini/tmp"


def environment(settings: Settings) -> dict[str, str]:
    """The whole environment of the harness: the task's, and over it ours."""
    own = folder(settings.home)
    return {
        **surroundings(settings),
        **_SWITCHES,
        HOME_NAME: own,
        "GEMINI_API_KEY": KEY,
        "GEMINI_CLI_SYSTEM_DEFAULTS_PATH": f"{own}/none.json",
        "GEMINI_CLI_SYSTEM_SETTINGS_PATH": f"{own}/none.json",
        "GEMINI_MODEL": settings.model,
        "GOOGLE_GEMINI_BASE_URL": settings.base_url,
    }


def files(settings: Settings) -> tuple[PlannedFile, ...]:
    """Settings, and rules for what may be run."""
    own = f"{folder(settings.home)}/.gemini"
    return (
        PlannedFile(f"{own}/settings.json", json.dumps(_settings(settings), indent=1)),
        PlannedFile(f"{own}/policies/stanchion.toml", RULES),
    )


def understood(env: Mapping[str, str], written: Mapping[str, bytes]) -> Written:
    """Limits and effort as Gemini CLI will understand these variables and files."""
    table = table_of(written.get(f"{env.get(HOME_NAME, '')}/.gemini/settings.json", b""))
    name = text(part(table, "model").get("name"))
    overrides = part(table, "modelConfigs").get("customOverrides")
    if name is None or not isinstance(overrides, list) or len(overrides) != len(_matches(name)):
        return _NOTHING
    if [part({"o": one}, "o").get("match") for one in overrides] != _matches(name):
        return _NOTHING
    said = [part(one, "modelConfig") for one in overrides]
    if any(one != said[0] for one in said) or said[0].get("model") != name:
        return _NOTHING
    generation = part(said[0], "generateContentConfig")
    thinking = part(generation, "thinkingConfig")
    return Written(
        model=name,
        base_url=env.get("GOOGLE_GEMINI_BASE_URL"),
        output_limit=whole(generation.get("maxOutputTokens")),
        context=_context(part(table, "model").get("compressionThreshold"), name),
        effort=text(thinking.get("thinkingLevel")),
        thinking_budget=whole(thinking.get("thinkingBudget")),
    )


def window_of(model: str) -> int:
    """The window that it takes for granted."""
    return GEMMA_WINDOW if model in GEMMA else WINDOW


def _matches(model: str) -> list[dict[str, str]]:
    """Whom an override is for: all that it asks itself, and sub-agents, which ask this model."""
    return [{_OVERRIDDEN: "core"}, {"model": model}]


def _settings(settings: Settings) -> dict[str, object]:
    model = settings.model
    override = {"model": model, "generateContentConfig": _generation(settings)}
    configs: dict[str, object] = {
        "customOverrides": [{"match": match, "modelConfig": override} for match in _matches(model)],
    }
    if settings.effort is not None:
        # Some names have a budget of thoughts, which no request may have beside a level.
        configs["customAliases"] = {model: {"extends": "chat-base", "modelConfig": override}}
    off = {"enabled": False}
    return {
        "admin": {"extensions": off, "mcp": off, "skills": off},
        "advanced": {"autoConfigureMemory": False, "ignoreLocalEnv": True},
        "general": {
            "checkpointing": off,
            "enableAutoUpdate": False,
            "enableAutoUpdateNotification": False,
        },
        "hooksConfig": off,
        "model": {
            "compressionThreshold": NEVER
            if settings.context is None
            else COMPACT_AT * settings.context / window_of(model),
            "disableLoopDetection": True,
            "name": model,
            "skipNextSpeakerCheck": True,
        },
        "modelConfigs": configs,
        "privacy": {"usageStatisticsEnabled": False},
        "security": {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": off},
        "telemetry": off,
        "tools": {"disableLLMCorrection": True, "shell": {"enableInteractiveShell": False}},
    }


def _generation(settings: Settings) -> dict[str, object]:
    thinking: dict[str, object] = {}
    if settings.effort is not None:
        thinking["thinkingLevel"] = settings.effort
    if settings.thinking_budget is not None:
        thinking["thinkingBudget"] = settings.thinking_budget
    return {
        "maxOutputTokens": settings.output_limit,
        **({"thinkingConfig": {"includeThoughts": True, **thinking}} if thinking else {}),
    }


def _context(threshold: object, model: str) -> int | None:
    if not isinstance(threshold, int | float) or isinstance(threshold, bool) or threshold >= NEVER:
        return None
    return round(threshold * window_of(model) / COMPACT_AT)
