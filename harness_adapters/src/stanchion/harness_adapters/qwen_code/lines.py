"""The lines of Qwen Code's `--output-format stream-json`, as far as they say how a run goes.

Decides only what a line is; the shapes are those of version 0.15.10, as recorded. Whatever does not
fit them is no line: the agent's programs may write to the same place.
"""

from typing import Any

import msgspec

from stanchion.protocol.usage import Usage

API_ERROR = "[API Error: "
"""How it says that the provider failed: as the model's own words, in a run that it calls a success
(QwenLM/qwen-code#8920)."""


class Tokens(msgspec.Struct, frozen=True):
    """What a response cost; 0 stands for what is not known yet."""

    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_input_tokens: int | None = None

    def usage(self) -> Usage | None:
        """As the provider counts, or None: the line is not the last of its response."""
        if not self.input_tokens and not self.output_tokens:
            return None
        return Usage(
            input_tokens=self.input_tokens or None,
            output_tokens=self.output_tokens or None,
            cache_read_tokens=self.cache_read_input_tokens or None,
        )


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
    """What a model, a person or a tool said; a response comes in several, one a kind of block."""

    content: tuple[Block, ...] | str = ()
    id: str | None = None
    usage: Tokens = Tokens()

    @property
    def blocks(self) -> tuple[Block, ...]:
        """Its pieces; a plain text is one."""
        if isinstance(self.content, str):
            return (Block(type="text", text=self.content),)
        return self.content


class Failure(msgspec.Struct, frozen=True):
    """Why a run failed."""

    message: str | None = None


class Line(msgspec.Struct, frozen=True):
    """One line, of any type."""

    type: str
    subtype: str | None = None
    session_id: str | None = None
    uuid: str | None = None
    parent_tool_use_id: str | None = None
    message: Message | None = None
    is_error: bool | None = None
    result: str | None = None
    error: Failure | None = None
    permission_denials: tuple[Any, ...] = ()


class Todo(msgspec.Struct, frozen=True):
    """One line of the agent's list."""

    content: str
    status: str


class Todos(msgspec.Struct, frozen=True):
    """What the tool `todo_write` is called with: the whole list."""

    todos: tuple[Todo, ...]


_LINE = msgspec.json.Decoder(Line)
_TODOS = msgspec.json.Decoder(Todos)


def read(text: bytes) -> Line | None:
    """The line, if it is one."""
    try:
        return _LINE.decode(text)
    except (msgspec.DecodeError, ValueError, RecursionError):
        return None


def todos(arguments: str) -> Todos | None:
    """The list in a call of `todo_write`."""
    try:
        return _TODOS.decode(arguments)
    except (msgspec.DecodeError, ValueError, RecursionError):
        return None


def plain(content: object) -> str:
    """A tool result's content as text: a text, or pieces of which some are."""
    if isinstance(content, str):
        return content
    pieces = content if isinstance(content, list) else []
    texts = [piece.get("text") for piece in pieces if isinstance(piece, dict)]
    return "\n".join(text for text in texts if isinstance(text, str))
