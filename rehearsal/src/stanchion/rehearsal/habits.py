"""What harnesses do differently with one and the same script, so that it plays for all of them.

Decides under which name a harness offers the shell, and which words of the model it made up itself.
Measured on Qwen Code 0.15.10, Gemini CLI 0.61.0 and Codex 0.171.0; a harness that is not known is
left as it is.
"""

from collections.abc import Mapping

SHELLS = ("bash", "run_shell_command", "exec_command")
"""Names of the one tool that runs a command; most take a `command` and a `description`."""
CODEX_SHELL = "exec_command"
"""Codex's takes the command as `cmd`, and no description."""
MADE_UP = frozenset({"Got it. Thanks for the context!"})
"""Qwen Code lets the model say this before the conversation begins."""


def offered(name: str, tools: tuple[str, ...]) -> str | None:
    """The spelling under which the harness offers the tool: exact, case-blind, another shell's."""
    if name in tools:
        return name
    wanted = name.casefold()
    names = SHELLS if wanted in SHELLS else (wanted,)
    return next((tool for tool in tools if tool.casefold() in names), None)


def fitted(name: str, tool: str, arguments: Mapping[str, object]) -> dict[str, object]:
    """The arguments of a script's call of `name`, as the harness's own `tool` takes them."""
    if tool == CODEX_SHELL and name.casefold() != CODEX_SHELL and "command" in arguments:
        return {"cmd": arguments["command"]}
    return dict(arguments)


def made_up(role: object, content: object) -> bool:
    """Whether a harness put this message into the model's mouth."""
    if role != "assistant":
        return False
    if isinstance(content, list) and len(content) == 1 and isinstance(content[0], dict):
        content = content[0].get("text")
    return isinstance(content, str) and content in MADE_UP
