"""What mini-swe-agent 2.4.6 (on litellm 1.110.2) is told, and how the two read that.

Decides the bytes of its configuration and the meaning of such bytes (`understood`). Pure; it must
never leave a choice to a default of either, to litellm's table of models, to the image's files or
to the task's environment. Each line was seen on the wire.
"""

import json
import re
from collections.abc import Mapping
from typing import Any

from stanchion.harness_adapters.base import PlannedFile, Settings, Written
from stanchion.harness_adapters.surroundings import surroundings
from stanchion.protocol.dialects import Dialect

VERSION = "2.4.6"
KEY = "placeholder"
"""The real key never enters the sandbox; the relay replaces this header."""
WAIT_S = 3600
"""It asks without a stream: nothing comes before the whole answer is there, and 128,000 tokens take
long. Its own 600 s would ask, and pay, again."""
PROVIDERS = {
    # Not `openai`: there litellm changes field or API by the model's name (o3, gpt-5-pro).
    Dialect.OPENAI_CHAT: "custom_openai",
    Dialect.ANTHROPIC_MESSAGES: "anthropic",
}
"""litellm's word for each API; the first is the native one."""
SETTINGS = "run.yaml"
TRAJECTORY = "trajectory.json"
MODELS = "models.json"
UNSAID = frozenset({"context"})
"""It never compacts: there is nothing that a window could be told to."""
_VERSION_PATH = {Dialect.OPENAI_CHAT: "/v1", Dialect.ANTHROPIC_MESSAGES: ""}
_SWITCHES = {
    # Without it litellm fetches its table of models from the network at each start.
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    # Else it reads a .env file.
    "LITELLM_MODE": "PRODUCTION",
    "MSWEA_CONFIGURED": "true",
    "MSWEA_COST_TRACKING": "ignore_errors",
    "MSWEA_GLOBAL_CALL_LIMIT": "0",
    "MSWEA_GLOBAL_COST_LIMIT": "0",
    "MSWEA_MODEL_RETRY_STOP_AFTER_ATTEMPT": "10",
    "MSWEA_SILENT_STARTUP": "1",
}
_ABLE = {
    "litellm_provider": "anthropic",
    "mode": "chat",
    "supports_adaptive_thinking": True,
    "supports_function_calling": True,
    "supports_max_reasoning_effort": True,
    "supports_output_config": True,
    "supports_reasoning": True,
    "supports_tool_choice": True,
    "supports_xhigh_reasoning_effort": True,
}
"""Without these litellm refuses or rewrites an effort by the model's name."""
_NOTHING = Written(model=None, base_url=None, output_limit=None, context=None, effort=None)
_UNREADABLE = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
"""Characters that JSON leaves alone, and YAML refuses or takes for line ends."""


def folder(home: str) -> str:
    """Its own folder: not the usual one, which an image may have filled."""
    return f"{home}/.stanchion-mini"


def environment(settings: Settings) -> dict[str, str]:
    """The whole environment of the harness: the task's, and over it ours."""
    own = {"MSWEA_GLOBAL_CONFIG_DIR": folder(settings.home)}
    return {**surroundings(settings), **_SWITCHES, **own}


def files(settings: Settings) -> tuple[PlannedFile, ...]:
    """Its settings with the task, what litellm shall know of the model, and no more variables."""
    own = folder(settings.home)
    known = dict.fromkeys((settings.model, f"anthropic/{settings.model}"), _ABLE)
    return (
        PlannedFile(f"{own}/.env", "", 0o600),
        PlannedFile(f"{own}/{MODELS}", json.dumps(known), 0o600),
        PlannedFile(f"{own}/{SETTINGS}", _text(configuration(settings)), 0o600),
    )


def configuration(settings: Settings) -> dict[str, Any]:
    """What goes over its own prompts."""
    anthropic = settings.dialect is Dialect.ANTHROPIC_MESSAGES
    return {
        "run": {"task": settings.instruction},
        "agent": {
            # The other one asks people; the steps are the same.
            "agent_class": "default",
            "step_limit": 0,
            "cost_limit": 0,
            "wall_time_limit_seconds": 0,
            "max_consecutive_format_errors": 3,
        },
        "environment": {"environment_class": "local", "cwd": settings.workdir},
        "model": {
            "model_class": "litellm",
            "model_name": f"{PROVIDERS[settings.dialect]}/{settings.model}",
            "cost_tracking": "ignore_errors",
            # Said, since by default it depends on the model's name.
            "set_cache_control": "default_end" if anthropic else None,
            "litellm_model_registry": f"{folder(settings.home)}/{MODELS}" if anthropic else None,
            "model_kwargs": {
                "api_base": f"{settings.base_url}{_VERSION_PATH[settings.dialect]}",
                "api_key": KEY,
                "max_tokens": settings.output_limit,
                # True in its own settings: what a model is not known to take would be left out.
                "drop_params": False,
                # One request a try, and ten tries of its own.
                "max_retries": 0,
                "timeout": WAIT_S,
                **_effort(settings),
            },
        },
    }


def understood(env: Mapping[str, str], written: Mapping[str, bytes]) -> Written:
    """Limits and effort as they will be understood."""
    own = folder(env.get("HOME", ""))
    table = _table(_read(written.get(f"{own}/{SETTINGS}", b"")))
    model = _table(table.get("model"))
    arguments = _table(model.get("model_kwargs"))
    provider, _, name = str(model.get("model_name", "")).partition("/")
    dialect = next((spoken for spoken, word in PROVIDERS.items() if word == provider), None)
    told = {key: env.get(key) for key in _SWITCHES} == _SWITCHES
    if dialect is None or not told or env.get("MSWEA_GLOBAL_CONFIG_DIR") != own:
        return _NOTHING
    if arguments.get("drop_params") is not False or written.get(f"{own}/.env") != b"":
        return _NOTHING
    limit, address = arguments.get("max_tokens"), str(arguments.get("api_base", ""))
    return Written(
        model=name or None,
        base_url=address.removesuffix(_VERSION_PATH[dialect]) or None,
        output_limit=limit if isinstance(limit, int) and not isinstance(limit, bool) else None,
        context=None,
        effort=_read_effort(dialect, arguments),
        unsaid=UNSAID,
    )


def _effort(settings: Settings) -> dict[str, Any]:
    """Where litellm passes it on as it is: not as the parameter, which it maps by name."""
    if settings.effort is None:
        return {}
    if settings.dialect is Dialect.OPENAI_CHAT:
        return {"extra_body": {"reasoning_effort": settings.effort}}
    return {"output_config": {"effort": settings.effort}, "thinking": {"type": "adaptive"}}


def _read_effort(dialect: Dialect, arguments: Mapping[str, Any]) -> str | None:
    if dialect is Dialect.OPENAI_CHAT:
        word = _table(arguments.get("extra_body")).get("reasoning_effort")
    else:
        word = _table(arguments.get("output_config")).get("effort")
    return word if isinstance(word, str) else None


def _text(value: object) -> str:
    """JSON that YAML reads as the same."""
    text = json.dumps(value, ensure_ascii=False, indent=1)
    return _UNREADABLE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def _read(text: bytes) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _table(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
