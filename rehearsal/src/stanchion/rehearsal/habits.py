"""What harnesses do differently with one and the same script, so that it plays for all of them.

Decides under which name a harness offers the shell, and which words of the model it made up itself.
Measured on Qwen Code 0.15.10 and Gemini CLI 0.61.0; a harness that is not known is left as it is.
"""

SHELLS = ("bash", "run_shell_command")
"""Names of the one tool that takes a `command` and a `description`."""
MADE_UP = frozenset({"Got it. Thanks for the context!"})
"""Qwen Code lets the model say this before the conversation begins."""


def offered(name: str, tools: tuple[str, ...]) -> str | None:
    """The spelling under which the harness offers the tool: exact, case-blind, another shell's."""
    if name in tools:
        return name
    wanted = name.casefold()
    names = SHELLS if wanted in SHELLS else (wanted,)
    return next((tool for tool in tools if tool.casefold() in names), None)


def made_up(role: object, content: object) -> bool:
    """Whether a harness put this message into the model's mouth."""
    if role != "assistant":
        return False
    if isinstance(content, list) and len(content) == 1 and isinstance(content[0], dict):
        content = content[0].get("text")
    return isinstance(content, str) and content in MADE_UP
