"""What OpenCode 1.18.33 is told, as environment variables and JSON, and how it will read that.

Decides the bytes of its configuration and the meaning of such bytes (`understood`), so that a
value it would drop, clamp or replace by itself is seen before the start. Pure; it must never leave
a choice to a default of OpenCode, to the image's files or to the task's environment.
"""

import json
import re
from collections.abc import Mapping

from stanchion.harness_adapters.base import PlannedFile, Settings, Written
from stanchion.harness_adapters.opencode.packages import PACKAGES, Json, Package, package_of
from stanchion.harness_adapters.surroundings import surroundings
from stanchion.protocol.dialects import Dialect

VERSION = "1.18.33"
PROVIDER = "stanchion"
"""Own provider id: under the built-in ids OpenCode drops the limit and picks models of its own."""
KEY = "placeholder"
"""The real key never enters the sandbox; the relay replaces this header."""

DEFAULT_CAP = 32_000
"""What OpenCode lowers every limit to, where CAP_NAME does not say otherwise (its issue #29363)."""
CAP_NAME = "OPENCODE_EXPERIMENTAL_OUTPUT_TOKEN_MAX"
CONFIG_NAME = "OPENCODE_CONFIG_CONTENT"
RESERVE_TOKENS = 20_000
"""Compaction starts this far (or one answer, if that is less) below the context window."""
HEADER_WAIT_S = 600
"""A model that thinks hard may be silent for long; the default of 300 s would ask and pay again."""

_SWITCHES = (
    "OPENCODE_DISABLE_AUTOUPDATE",
    "OPENCODE_DISABLE_CLAUDE_CODE",
    "OPENCODE_DISABLE_DEFAULT_PLUGINS",
    "OPENCODE_DISABLE_EXTERNAL_SKILLS",
    "OPENCODE_DISABLE_LSP_DOWNLOAD",
    "OPENCODE_DISABLE_MODELS_FETCH",
    "OPENCODE_DISABLE_PROJECT_CONFIG",
    "OPENCODE_DISABLE_SHARE",
    "OPENCODE_DISABLE_TERMINAL_TITLE",
    "OPENCODE_PURE",
)
_GLOBAL_FILES = ("config.json", "opencode.json", "opencode.jsonc")
"""Read before our configuration; written empty so that an image cannot bring its own."""
_SCHEMA = "https://opencode.ai/config.json"
_SUBSTITUTED = re.compile(r"\{(?:env|file):[^}]+\}")
"""OpenCode replaces these in the raw text of a configuration, before it reads the JSON."""


def database(home: str) -> str:
    """Where OpenCode is told to keep its sessions."""
    return f"{home}/.local/share/opencode/stanchion.db"


def environment(settings: Settings) -> dict[str, str]:
    """The whole environment of the harness: the task's, and over it ours."""
    home = settings.home
    return {
        **surroundings(settings),
        "XDG_CONFIG_HOME": f"{home}/.config",
        "XDG_DATA_HOME": f"{home}/.local/share",
        "XDG_STATE_HOME": f"{home}/.local/state",
        "XDG_CACHE_HOME": f"{home}/.cache",
        **dict.fromkeys(_SWITCHES, "1"),
        "OPENCODE_AUTH_CONTENT": "{}",
        "OPENCODE_DB": database(home),
        # Neither of these folders exists: no configuration of the image outranks ours (it would be
        # read from /etc/opencode) or adds to it (from ~/.opencode).
        "OPENCODE_TEST_MANAGED_CONFIG_DIR": f"{home}/.config/opencode/managed",
        "OPENCODE_TEST_HOME": f"{home}/.config/opencode/home",
        CAP_NAME: str(settings.output_limit),
        CONFIG_NAME: json.dumps(configuration(settings)),
    }


def configuration(settings: Settings) -> Json:
    """What goes in OPENCODE_CONFIG_CONTENT, which is merged after every file."""
    name = f"{PROVIDER}/{settings.model}"
    package = PACKAGES[settings.dialect]
    effort = package.effort_options(settings.effort, settings.thinking_budget)
    wait_ms = HEADER_WAIT_S * 1000
    options = {
        "baseURL": f"{settings.base_url}{package.version}",
        "apiKey": KEY,
        "headerTimeout": wait_ms,
        "chunkTimeout": wait_ms,
    }
    return {
        "$schema": _SCHEMA,
        "model": name,
        "small_model": name,
        "default_agent": "build",
        "enabled_providers": [PROVIDER],
        "share": "disabled",
        "autoupdate": False,
        "snapshot": False,
        "permission": "allow",
        "compaction": {"auto": settings.context is not None},
        # Said for the main agent too, where an agent file of the image would beat the model's.
        "agent": {"build": {"model": name, "options": effort}, "title": {"disable": True}},
        "provider": {
            PROVIDER: {
                "npm": package.npm,
                "options": options,
                "models": {settings.model: {"limit": _limit(settings, package), "options": effort}},
            },
        },
    }


def files(home: str) -> tuple[PlannedFile, ...]:
    """Its configuration folder, so complete that it neither reads another nor installs anything."""
    folder = f"{home}/.config/opencode"
    dependencies = {"@opencode-ai/plugin": VERSION}
    lock = {
        "name": "opencode",
        "lockfileVersion": 3,
        "packages": {"": {"dependencies": dependencies}},
    }
    return (
        PlannedFile(f"{folder}/node_modules", None, 0o755),
        PlannedFile(f"{folder}/package.json", json.dumps({"dependencies": dependencies})),
        PlannedFile(f"{folder}/package-lock.json", json.dumps(lock)),
        *(
            PlannedFile(f"{folder}/{name}", json.dumps({"$schema": _SCHEMA}))
            for name in _GLOBAL_FILES
        ),
    )


def understood(env: Mapping[str, str], written: Mapping[str, bytes]) -> Written:
    """Limits and effort as OpenCode will understand these variables and files."""
    folder = f"{env.get('XDG_CONFIG_HOME') or env.get('HOME', '') + '/.config'}/opencode"
    texts = [written.get(f"{folder}/{name}", b"{}") for name in _GLOBAL_FILES]
    merged: Json = {}
    for text in (*texts, env.get(CONFIG_NAME, "{}").encode()):
        layer = _parsed(text)
        if layer is None:
            return _NOTHING
        merged = _merge(merged, layer)
    provider, _, model = _text(merged.get("model")).partition("/")
    account = _table(_table(merged.get("provider")).get(provider))
    entry = _table(_table(account.get("models")).get(model))
    package = package_of(account.get("npm"))
    if package is None or not entry:
        return _NOTHING
    base_url = _text(_table(account.get("options")).get("baseURL"))
    return Written(
        model=model,
        base_url=base_url.removesuffix(package.version) or None,
        output_limit=_output_limit(env, provider, model, merged, entry, package),
        context=_context(merged, entry),
        effort=_effort(merged, model, entry, package),
        thinking_budget=_budget(merged, entry, package),
    )


_NOTHING = Written(model=None, base_url=None, output_limit=None, context=None, effort=None)


def _limit(settings: Settings, package: Package) -> Json:
    """A budget that the package adds is taken off first: the wire carries the declared limit.

    An unknown window is 0, which switches compaction off; a known one is written as `input` too,
    without which OpenCode would take a whole answer's length off it.
    """
    on_top = settings.thinking_budget or 0 if package.budget_on_top else 0
    output = settings.output_limit - on_top
    if settings.context is None:
        return {"context": 0, "output": output}
    return {
        "context": settings.context,
        "input": settings.context,
        "output": output,
    }


def _output_limit(
    env: Mapping[str, str], provider: str, model: str, merged: Json, entry: Json, package: Package
) -> int | None:
    if provider == "openai" and env.get("OPENCODE_DISABLE_DEFAULT_PLUGINS") not in {"1", "true"}:
        return None
    override = _count(_table(entry.get("options")).get("max_tokens"))
    if override and package is PACKAGES[Dialect.OPENAI_CHAT]:
        return override
    said = env.get(CAP_NAME, "")
    cap = (int(said) if said.isascii() and said.isdigit() else 0) or DEFAULT_CAP
    limit = _count(_table(entry.get("limit")).get("output"))
    on_top = _budget(merged, entry, package) or 0 if package.budget_on_top else 0
    value = (min(limit, cap) if limit else cap) + on_top
    ceiling = package.ceiling(model)
    return value if ceiling is None else min(value, ceiling[1])


def _budget(merged: Json, entry: Json, package: Package) -> int | None:
    options = _table(entry.get("options"))
    for over in _agent_options(merged):
        options = _merge(options, over)
    return package.thinking_budget(options)


def _context(merged: Json, entry: Json) -> int | None:
    """None where compaction never starts by itself."""
    limit = _table(entry.get("limit"))
    window = _count(limit.get("context"))
    if _table(merged.get("compaction")).get("auto") is False or not window:
        return None
    return _count(limit.get("input")) or window


def _effort(merged: Json, model: str, entry: Json, package: Package) -> str | None:
    """The main agent's options beat the model's, and those what OpenCode adds by itself."""
    for options in (*reversed(_agent_options(merged)), _table(entry.get("options"))):
        effort = package.effort_in(options)
        if effort is not None:
            return effort if package.efforts is None or effort in package.efforts else None
    return package.added_effort(model)


def _agent_options(merged: Json) -> tuple[Json, Json]:
    """The main agent's options, the stronger ones last."""
    agent = _table(_table(merged.get("agent")).get("build"))
    return agent, _table(agent.get("options"))


def _parsed(text: bytes) -> Json | None:
    """None for what is not plain JSON, or would become something else before it is read."""
    try:
        decoded = text.decode()
        value = json.loads(decoded)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) and not _SUBSTITUTED.search(decoded) else None


def _merge(below: Json, above: Json) -> Json:
    result = dict(below)
    for name, value in above.items():
        old = result.get(name)
        both = isinstance(old, dict) and isinstance(value, dict)
        result[name] = _merge(_table(old), _table(value)) if both else value
    return result


def _table(value: object) -> Json:
    return value if isinstance(value, dict) else {}


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _count(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None
