"""What Codex 0.171.0 is told, as TOML, a model catalog and variables, and how it reads that.

Decides the words of its configuration and the meaning of such words (`understood`), so that a value
it would drop, clamp or replace by itself is seen before the start. Pure; it must never leave a
choice to a default of Codex, to the image's files or to the task's environment.
"""

import json
import tomllib
from collections.abc import Mapping

from stanchion.harness_adapters.base import PlannedFile, Settings, Written
from stanchion.harness_adapters.surroundings import surroundings

VERSION = "0.171.0"
PROVIDER = "stanchion"
KEY = "placeholder"
"""The real key never enters the sandbox; the relay replaces this header."""
HEADER_WAIT_S = 3600
"""It waits for a response's headers without an end (its issue #31376; seen for 949 s)."""
STREAM_IDLE_S = 600
"""A model that thinks hard may be silent for long; the default of 300 s would ask and pay again."""
REQUEST_RETRIES = 4
STREAM_RETRIES = 10
"""The pause before each is twice the last one, without a bound: 10 take 205 s, 20 would take 58 h
(seen on the wire)."""
REPLACED_EFFORT = "ultra"
"""Seen on the wire as `medium`. Every other word, `ULTRA` too, goes out as it is."""
ENDLESS = 100_000_000
"""A window that is never full: no compaction where none is known."""
FOREIGN = ("/etc/codex",)
"""`managed_config.toml` there outranks everything, `config.toml` adds servers that are started."""
INSTRUCTIONS = "base_instructions.txt"
"""Beside the program, cut out of it: what Codex tells a model that it does not know.

Its catalog replaces the one that is built in, and an entry must bring instructions, over which
`model_instructions_file` goes. Without a catalog a window above 272,000 is cut to that (seen in its
own record), and a name that resembles a known one gets that model's window, instructions and tools.
A test holds the text against what the program sends by itself.
"""
_FEATURES_OFF = (
    *("apps", "plugins", "remote_plugin", "daemon_auto_start", "hooks", "memories"),
    # It compresses bodies for some providers, and a body must be readable on its way.
    "enable_request_compression",
    # A goal goes on asking in turns that nobody asked for.
    "goals",
    # Runs at the provider.
    "image_generation",
    # On a refused connection it would try again for ever, without a request that could be seen.
    "unbounded_connection_retries",
)
_NOTHING = Written(model=None, base_url=None, output_limit=None, context=None, effort=None)


def folder(home: str) -> str:
    """Its own folder: not the usual one, which an image may have filled."""
    return f"{home}/.stanchion-codex"


def sessions(home: str) -> str:
    """Where it keeps a rollout file of each conversation, by date."""
    return f"{folder(home)}/sessions"


def environment(settings: Settings) -> dict[str, str]:
    """The whole environment of the harness: the task's, and over it ours."""
    return {**surroundings(settings), "CODEX_HOME": folder(settings.home)}


def files(settings: Settings) -> tuple[PlannedFile, ...]:
    """Its configuration and the only model that it knows."""
    own = folder(settings.home)
    return (
        PlannedFile(f"{own}/config.toml", _configuration(settings)),
        PlannedFile(f"{own}/models.json", json.dumps({"models": [_entry(settings)]}, indent=1)),
    )


def understood(env: Mapping[str, str], written: Mapping[str, bytes]) -> Written:
    """Limits and effort as Codex will understand these files: it takes no output limit."""
    own = env.get("CODEX_HOME", "")
    config = _table(written.get(f"{own}/config.toml", b""))
    catalog = _member(config, "model_catalog_json")
    entries = _models(written.get(catalog, b"") if isinstance(catalog, str) else b"")
    model = _member(config, "model")
    if not isinstance(model, str) or [entry.get("slug") for entry in entries] != [model]:
        return _NOTHING
    provider = _member(config, "model_providers", str(_member(config, "model_provider")))
    base_url, effort = _member(provider, "base_url"), _member(config, "model_reasoning_effort")
    return Written(
        model=model,
        base_url=base_url if isinstance(base_url, str) else None,
        output_limit=None,
        context=_window(entries[0]),
        effort=effort if isinstance(effort, str) and effort != REPLACED_EFFORT else None,
    )


def _configuration(settings: Settings) -> str:
    # Without a word it sends none, and the broker writes this one.
    effort = None if settings.effort == REPLACED_EFFORT else settings.effort
    lines = [
        f"model = {_text(settings.model)}",
        f'model_provider = "{PROVIDER}"',
        f"model_catalog_json = {_text(folder(settings.home) + '/models.json')}",
        f"model_instructions_file = {_text(f'{settings.package_dir}/{INSTRUCTIONS}')}",
        *([] if effort is None else [f"model_reasoning_effort = {_text(effort)}"]),
        "check_for_update_on_startup = false",
        "# A login shell would take the image's search path away.",
        "allow_login_shell = false",
        "# Nothing of the workspace is an instruction, a setting or a skill.",
        "project_doc_max_bytes = 0",
        "# It would search at the provider.",
        'web_search = "disabled"',
        "",
        "[skills]",
        "include_instructions = false",
        "bundled = {enabled = false}",
        "",
        "# A sub-agent takes its model and effort from what a model says.",
        "[agents]",
        "enabled = false",
        "",
        "[analytics]",
        "enabled = false",
        "",
        "# Variables of the task reach its commands whatever their names.",
        "[shell_environment_policy]",
        'inherit = "all"',
        "ignore_default_excludes = true",
        "",
        "[features]",
        *(f"{name} = false" for name in sorted(_FEATURES_OFF)),
        "",
        f"[projects.{_text(settings.workdir)}]",
        'trust_level = "untrusted"',
        "",
        f"[model_providers.{PROVIDER}]",
        f'name = "{PROVIDER}"',
        f"base_url = {_text(settings.base_url + '/v1')}",
        f'experimental_bearer_token = "{KEY}"',
        'wire_api = "responses"',
        f"request_max_retries = {REQUEST_RETRIES}",
        f"stream_max_retries = {STREAM_RETRIES}",
        f"stream_idle_timeout_ms = {STREAM_IDLE_S * 1000}",
    ]
    return "\n".join(lines) + "\n"


def _entry(settings: Settings) -> dict[str, object]:
    """The model, as Codex takes one that it does not know, but for the window."""
    window = ENDLESS if settings.context is None else settings.context
    return {
        "slug": settings.model,
        "display_name": settings.model,
        "supported_reasoning_levels": [],
        "shell_type": "unified_exec",
        "visibility": "list",
        "supported_in_api": True,
        "priority": 1,
        "support_verbosity": False,
        "truncation_policy": {"mode": "tokens", "limit": 10_000},
        "experimental_supported_tools": [],
        "base_instructions": "",
        "context_window": window,
        "max_context_window": window,
    }


def _window(entry: dict[str, object]) -> int | None:
    window = entry.get("context_window")
    if not isinstance(window, int) or window != entry.get("max_context_window"):
        return None
    return None if window == ENDLESS else window


def _text(value: str) -> str:
    """A TOML string; JSON's escapes are all TOML's too."""
    return json.dumps(value, ensure_ascii=False)


def _table(text: bytes) -> object:
    try:
        return tomllib.loads(text.decode())
    except (ValueError, RecursionError):
        return None


def _models(text: bytes) -> list[dict[str, object]]:
    try:
        models = _member(json.loads(text), "models")
    except (ValueError, RecursionError):
        return []
    if not isinstance(models, list) or not all(isinstance(entry, dict) for entry in models):
        return []
    return models


def _member(value: object, *names: str) -> object:
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
    return value
