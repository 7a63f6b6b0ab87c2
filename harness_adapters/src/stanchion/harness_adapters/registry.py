"""Which harnesses there are, by name.

Decides only whether a name is known; it must never guess one that is nearly right. An adapter is
imported when it is asked for: the supervisor needs one, and its start is paid by every attempt.
"""

from collections.abc import Callable
from importlib import import_module
from typing import cast

from stanchion.harness_adapters.base import Adapter
from stanchion.protocol.launch import Command, LaunchSpec
from stanchion.protocol.refusal import refuse

_ADAPTERS = {
    "mini_swe_agent": "mini_swe_agent:MiniSweAgent",
    "claude_code": "claude_code:ClaudeCode",
    "codex": "codex:Codex",
    "gemini_cli": "gemini_cli:GeminiCli",
    "noop": "without_model:Noop",
    "opencode": "opencode:OpenCode",
    "oracle": "without_model:Oracle",
    "pi": "pi:Pi",
    "qwen_code": "qwen_code:QwenCode",
}
"""Of each name its module here and its class."""

COMMAND = "command"
NAMES = tuple(sorted(_ADAPTERS))
"""Without `command`, which is as many harnesses as there are programs."""


def adapter_of(spec: LaunchSpec) -> Adapter:
    """The adapter of a frozen launch."""
    return adapter(spec.harness.name, spec.command)


def adapter(name: str, command: Command | None = None) -> Adapter:
    """The adapter of this harness, or a refusal that names the known ones.

    `command` describes the program of the harness `command`, and goes with no other.
    """
    if (name == COMMAND) is (command is None):
        raise refuse(
            "command_missing",
            field="--command",
            value=None,
            rule=f"--harness {COMMAND} starts the program that a file describes, and no other "
            "harness takes one",
            remedy=f"Pass --harness {COMMAND} --command FILE.toml, or leave --command out",
        )
    if command is not None:
        own = import_module(f"stanchion.harness_adapters.{COMMAND}").OwnProgram
        return cast("Callable[[Command], Adapter]", own)(command)
    if name not in _ADAPTERS:
        raise refuse(
            "harness_unknown",
            field="--harness",
            value=name,
            rule=f"the known harnesses are {', '.join(NAMES)}, and {COMMAND} with --command FILE",
            remedy="Choose one of them, as --harness opencode",
        )
    module, _, kind = _ADAPTERS[name].partition(":")
    found = getattr(import_module(f"stanchion.harness_adapters.{module}"), kind)
    return cast("Callable[[], Adapter]", found)()
