"""What Qwen Code 0.15.10 is told, as variables and settings, and how it reads that.

Decides the words of its configuration and the meaning of such words (`understood`), so that a value
it would drop or replace by itself is seen before the start. Pure; it must never leave a choice to a
default of Qwen Code, to the image's files or to the task's environment.

`samplingParams` is the one place whose fields reach every request as they stand: beside it stand a
cap by model name, 8,000 tokens for names it does not know, and 64,000 after a cut answer (read in
the program, seen on the wire).
"""

import json
from collections.abc import Mapping

from stanchion.harness_adapters.base import PlannedFile, Settings, Written
from stanchion.harness_adapters.json_values import part, table_of, text, whole
from stanchion.harness_adapters.surroundings import surroundings
from stanchion.protocol.dialects import Dialect

VERSION = "0.15.10"
DIALECT = Dialect.OPENAI_CHAT
KEY = "placeholder"
"""The real key never enters the sandbox; the relay replaces this header."""
HEADER_WAIT_S = 1800
"""The default of 120 s would ask, and pay, again for an answer that takes long to begin."""
LAYOUT = 4
"""Version of the settings' layout; another one is migrated and written anew."""
COMPACT_AT = 0.7
"""The part of the window that starts a compaction; its own default."""
HOME_NAME = "QWEN_HOME"
PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy")
"""A proxy is used for every request, NO_PROXY or not, so none is left to be found."""
ALLOWED = (
    "agent",
    "edit",
    "exit_plan_mode",
    "glob",
    "grep_search",
    "list_directory",
    "monitor",
    "notebook_edit",
    "read_file",
    "run_shell_command",
    "save_memory",
    "send_message",
    "task_stop",
    "todo_write",
    "tool_search",
    "write_file",
)
"""Every tool that needs nobody and no network. Its mode without permissions is not to be had in a
folder that is not trusted, and only such a folder's files are left unread."""
DENIED = ("ask_user_question", "skill", "web_fetch", "web_search")
"""Nobody answers, there is no network, and skills come from the workspace too."""
_SWITCHES = {
    "NO_BROWSER": "1",
    "NO_COLOR": "1",
    "QWEN_CODE_DISABLE_PRECONNECT": "1",
    "QWEN_CODE_NO_RELAUNCH": "true",
    "QWEN_DISABLE_AUTO_TITLE": "1",
}
_NOTHING = Written(model=None, base_url=None, output_limit=None, context=None, effort=None)


def folder(home: str) -> str:
    """Its own configuration folder: not the usual one, which an image may have filled."""
    return f"{home}/.stanchion-qwen"


def environment(settings: Settings) -> dict[str, str]:
    """The whole environment of the harness: the task's, and over it ours."""
    own = folder(settings.home)
    return {
        **surroundings(settings),
        **_SWITCHES,
        **dict.fromkeys(PROXIES, ""),
        HOME_NAME: own,
        "QWEN_RUNTIME_DIR": own,
        # Above a workspace's settings, should the folder be taken for a trusted one.
        "QWEN_CODE_SYSTEM_SETTINGS_PATH": f"{own}/settings.json",
        "QWEN_CODE_SYSTEM_DEFAULTS_PATH": f"{own}/settings.json",
        "OPENAI_API_KEY": KEY,
        "OPENAI_BASE_URL": f"{settings.base_url}/v1",
        "OPENAI_MODEL": settings.model,
        "QWEN_CODE_MAX_OUTPUT_TOKENS": str(settings.output_limit),
    }


def files(settings: Settings) -> tuple[PlannedFile, ...]:
    """Settings, no variables of a user's own, and the workspace as a folder not to be trusted."""
    own = folder(settings.home)
    trust = json.dumps({settings.workdir: "DO_NOT_TRUST"})
    return (
        PlannedFile(f"{own}/settings.json", json.dumps(_settings(settings), indent=1)),
        PlannedFile(f"{own}/.env", ""),
        PlannedFile(f"{own}/trustedFolders.json", trust),
    )


def understood(env: Mapping[str, str], written: Mapping[str, bytes]) -> Written:
    """Limits and effort as Qwen Code will understand these variables and files."""
    table = table_of(written.get(f"{env.get(HOME_NAME, '')}/settings.json", b""))
    model = part(table, "model")
    generation = part(model, "generationConfig")
    sampling = part(generation, "samplingParams")
    if set(sampling) - {"max_tokens", "reasoning_effort"} or set(generation) - _GENERATION:
        return _NOTHING
    address = env.get("OPENAI_BASE_URL", "")
    return Written(
        model=text(model.get("name")),
        base_url=address.removesuffix("/v1") if address.endswith("/v1") else None,
        output_limit=whole(sampling.get("max_tokens")),
        context=_window(part(model, "chatCompression"), generation),
        effort=text(sampling.get("reasoning_effort")),
    )


_GENERATION = frozenset({"contextWindowSize", "samplingParams", "timeout"})


def _settings(settings: Settings) -> dict[str, object]:
    return {
        "$version": LAYOUT,
        "disableAllHooks": True,
        "experimental": {"cron": False, "emitToolUseSummaries": False},
        "general": {
            "checkpointing": {"enabled": False},
            "enableAutoUpdate": False,
            "gitCoAuthor": False,
        },
        "memory": {
            "enableAutoSkill": False,
            "enableManagedAutoDream": False,
            "enableManagedAutoMemory": False,
        },
        "model": {
            "chatCompression": {
                "contextPercentageThreshold": 0 if settings.context is None else COMPACT_AT
            },
            "generationConfig": {
                **({} if settings.context is None else {"contextWindowSize": settings.context}),
                "samplingParams": {
                    "max_tokens": settings.output_limit,
                    **({} if settings.effort is None else {"reasoning_effort": settings.effort}),
                },
                "timeout": HEADER_WAIT_S * 1000,
            },
            "name": settings.model,
            "skipLoopDetection": True,
            "skipNextSpeakerCheck": True,
        },
        "permissions": {"allow": list(ALLOWED), "deny": list(DENIED)},
        "privacy": {"usageStatisticsEnabled": False},
        "security": {"auth": {"selectedType": "openai"}, "folderTrust": {"enabled": True}},
        "telemetry": {"enabled": False},
        # Commands get pipes: what they print shall not depend on a terminal that nobody sees.
        "tools": {"shell": {"enableInteractiveShell": False}},
    }


def _window(compression: Mapping[str, object], generation: Mapping[str, object]) -> int | None:
    if compression.get("contextPercentageThreshold") != COMPACT_AT:
        return None
    return whole(generation.get("contextWindowSize"))
