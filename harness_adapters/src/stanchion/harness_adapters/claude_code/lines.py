"""The lines of Claude Code's `--output-format stream-json`, as far as they say how a run goes.

Decides only what a line is; the shapes are those of version 2.1.332, as recorded. Whatever does not
fit them is no line: the agent's programs may write to the same place.
"""

from typing import Any

import msgspec

SYNTHETIC = "<synthetic>"
"""The model of messages that Claude Code wrote itself, to show an error."""


class Block(msgspec.Struct, frozen=True):
    """One piece of a message."""

    type: str
    text: str | None = None
    thinking: str | None = None
    id: str | None = None
    name: str | None = None
    input: msgspec.Raw = msgspec.Raw(b"{}")
    tool_use_id: str | None = None
    content: Any = None
    is_error: bool | None = None


class Message(msgspec.Struct, frozen=True):
    """What a model, a person or a tool said; a response comes in several, one a block."""

    content: tuple[Block, ...] | str = ()
    id: str | None = None
    model: str | None = None


class Task(msgspec.Struct, frozen=True):
    """Work in the background."""

    description: str | None = None


class Line(msgspec.Struct, frozen=True):
    """One line, of any type."""

    type: str
    subtype: str | None = None
    session_id: str | None = None
    uuid: str | None = None
    parent_tool_use_id: str | None = None
    message: Message | None = None
    error: str | None = None
    tasks: tuple[Task, ...] | None = None
    is_error: bool | None = None
    stop_reason: str | None = None
    terminal_reason: str | None = None
    result: str | None = None
    permission_denials: tuple[Any, ...] = ()


_LINE = msgspec.json.Decoder(Line)


def read(text: bytes) -> Line | None:
    """The line, if it is one."""
    try:
        return _LINE.decode(text)
    except (msgspec.DecodeError, ValueError, RecursionError):
        return None


def plain(content: object) -> str:
    """A tool result's content as text: a text, or pieces of which some are."""
    if isinstance(content, str):
        return content
    pieces = content if isinstance(content, list) else []
    texts = [piece.get("text") for piece in pieces if isinstance(piece, dict)]
    return "\n".join(text for text in texts if isinstance(text, str))
