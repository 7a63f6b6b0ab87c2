"""The lines of Qwen Code's `--output-format stream-json`, as far as they say how a run goes.

Decides only what a line is; the shapes are those of version 0.15.10, as recorded. Whatever does not
fit them is no line: the agent's programs may write to the same place.
"""

import msgspec

from stanchion.harness_adapters import stream_json
from stanchion.harness_adapters.json_lines import decoded
from stanchion.harness_adapters.stream_json import Block
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


class Line(stream_json.Line, frozen=True):
    """One line, of any type."""

    message: Message | None = None
    error: Failure | None = None


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
    return decoded(_LINE, text)


def todos(arguments: str) -> Todos | None:
    """The list in a call of `todo_write`."""
    return decoded(_TODOS, arguments)
