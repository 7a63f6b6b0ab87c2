"""What pi 1.6.0 is told, as files and variables, and how it reads that.

Decides the words of its configuration and the meaning of such words (`understood`), so that a value
it would lower, clamp or replace by itself is seen before the start. Pure; it must never leave a
choice to a default of pi, to the image's files or to the task's environment.

pi lowers the limit of a request to what it thinks is left of the model's window, down to 1 (seen on
the wire with a window of 100,000). So the window it is told is one that never fills up, and the
true one decides by the tokens that a compaction keeps free.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass

from stanchion.harness_adapters.base import PlannedFile, Settings, Written
from stanchion.harness_adapters.json_values import part, table_of, text, whole
from stanchion.harness_adapters.surroundings import surroundings
from stanchion.protocol.dialects import Dialect

VERSION = "1.6.0"
KEY = "placeholder"
"""The real key never enters the sandbox; the relay replaces this header."""
HEADER_WAIT_S = 1800
"""The default of 300 s would ask, and pay, again for an answer that takes long to begin."""
PROVIDER = "stanchion"
LEVEL = "high"
"""The one level of thinking that the model is said to have; it stands for the word asked for."""
OFF = "off"
OTHER_LEVELS = ("off", "minimal", "low", "medium", "xhigh", "max")
ENDLESS = 100_000_000
RESERVE = 16_384
"""Tokens below the true window at which it compacts; its own default."""
FOLDER_NAME = "PI_CODING_AGENT_DIR"
_SWITCHES = {"PI_OFFLINE": "1", "PI_SKIP_VERSION_CHECK": "1", "PI_TELEMETRY": "0"}
_NOTHING = Written(model=None, base_url=None, output_limit=None, context=None, effort=None)


@dataclass(frozen=True, slots=True)
class Api:
    """One of its ways to speak to a provider."""

    name: str
    version: str
    """The path that its base URL ends with."""
    compat: Mapping[str, object]
    """What it would else guess from the address, which is the relay's."""


APIS: dict[Dialect, Api] = {
    Dialect.OPENAI_CHAT: Api(
        name="openai-completions",
        version="/v1",
        compat={
            "maxTokensField": "max_tokens",
            "supportsReasoningEffort": True,
            "thinkingFormat": "openai",
        },
    ),
    Dialect.OPENAI_RESPONSES: Api(
        name="openai-responses", version="/v1", compat={"supportsMaxOutputTokens": True}
    ),
    # Else an effort becomes a budget of thoughts.
    Dialect.ANTHROPIC_MESSAGES: Api(
        name="anthropic-messages", version="", compat={"forceAdaptiveThinking": True}
    ),
}
"""The first is the native one."""


def folder(home: str) -> str:
    """Its own configuration folder: not the usual one, which an image may have filled."""
    return f"{home}/.stanchion-pi"


def environment(settings: Settings) -> dict[str, str]:
    """The whole environment of the harness: the task's, and over it ours."""
    return {**surroundings(settings), **_SWITCHES, FOLDER_NAME: folder(settings.home)}


def files(settings: Settings) -> tuple[PlannedFile, ...]:
    """The one model there is, and settings."""
    own = folder(settings.home)
    return (
        PlannedFile(f"{own}/models.json", json.dumps(_models(settings), indent=1)),
        PlannedFile(f"{own}/settings.json", json.dumps(_settings(settings), indent=1)),
    )


def understood(env: Mapping[str, str], written: Mapping[str, bytes]) -> Written:
    """Limits and effort as pi will understand these files."""
    own = env.get(FOLDER_NAME, "")
    provider = part(part(table_of(written.get(f"{own}/models.json", b"")), "providers"), PROVIDER)
    model = _only(provider.get("models"))
    api = next((api for api in APIS.values() if api.name == provider.get("api")), None)
    address, window = provider.get("baseUrl"), whole(model.get("contextWindow"))
    levels = part(model, "thinkingLevelMap")
    if api is None or not isinstance(address, str) or not address.endswith(api.version):
        return _NOTHING
    if window is None or model.get("samplingParams") or provider.get("compat") != api.compat:
        return _NOTHING
    return Written(
        model=text(model.get("id")),
        base_url=address.removesuffix(api.version),
        output_limit=whole(model.get("maxTokens")),
        context=_context(table_of(written.get(f"{own}/settings.json", b"")), window),
        effort=text(levels.get(LEVEL)) if model.get("reasoning") is True else None,
    )


def _window(settings: Settings) -> int:
    return ENDLESS + settings.output_limit


def _models(settings: Settings) -> dict[str, object]:
    api = APIS[settings.dialect]
    model: dict[str, object] = {
        "contextWindow": _window(settings),
        "id": settings.model,
        "input": ["text"],
        "maxTokens": settings.output_limit,
        "name": settings.model,
        "reasoning": settings.effort is not None,
    }
    if settings.effort is not None:
        model["thinkingLevelMap"] = {**dict.fromkeys(OTHER_LEVELS), LEVEL: settings.effort}
    provider = {
        "api": api.name,
        "apiKey": KEY,
        "baseUrl": f"{settings.base_url}{api.version}",
        "compat": dict(api.compat),
        "models": [model],
    }
    return {"providers": {PROVIDER: provider}}


def _settings(settings: Settings) -> dict[str, object]:
    compaction: dict[str, object] = {"enabled": settings.context is not None}
    if settings.context is not None:
        compaction["reserveTokens"] = _window(settings) - settings.context + RESERVE
    wait_ms = HEADER_WAIT_S * 1000
    return {
        "cacheWarming": "off",
        "compaction": compaction,
        "defaultProjectTrust": "never",
        "enableInstallTelemetry": False,
        "httpIdleTimeoutMs": wait_ms,
        "retry": {"enabled": True, "provider": {"maxRetries": 0, "timeoutMs": wait_ms}},
    }


def _context(settings: Mapping[str, object], window: int) -> int | None:
    compaction = part(settings, "compaction")
    reserve = whole(compaction.get("reserveTokens"))
    if compaction.get("enabled") is not True or reserve is None:
        return None
    return window - reserve + RESERVE


def _only(models: object) -> Mapping[str, object]:
    found = models[0] if isinstance(models, list) and len(models) == 1 else None
    return found if isinstance(found, dict) else {}
