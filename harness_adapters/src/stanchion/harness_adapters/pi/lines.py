"""The lines of pi's `--mode json`, as far as they say how a run goes.

Decides only what a line is; the shapes are those of version 1.6.0, as recorded. Whatever does not
fit them is no line: the agent's programs may write to the same place.
"""

from typing import Any

import msgspec

from stanchion.harness_adapters.json_lines import decoded
from stanchion.protocol.usage import Usage


class Tokens(msgspec.Struct, frozen=True, rename="camel"):
    """What a response cost, cached input beside the rest; 0 stands for what was not reported."""

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0
    reasoning: int | None = None

    def usage(self) -> Usage | None:
        """As a provider counts."""
        if not self.input and not self.output:
            return None
        return Usage(
            input_tokens=self.input + self.cache_read + self.cache_write or None,
            output_tokens=self.output or None,
            reasoning_tokens=self.reasoning or None,
            cache_read_tokens=self.cache_read or None,
            cache_write_tokens=self.cache_write or None,
        )


class Block(msgspec.Struct, frozen=True):
    """One piece of a message."""

    type: str
    text: str | None = None
    thinking: str | None = None
    id: str | None = None
    name: str | None = None
    arguments: msgspec.Raw = msgspec.Raw(b"{}")


class Message(msgspec.Struct, frozen=True, rename="camel"):
    """What a model, a person or a tool said."""

    role: str
    content: tuple[Block, ...] | str = ()
    usage: Tokens = Tokens()
    stop_reason: str | None = None
    error_message: str | None = None
    timestamp: int | None = None
    response_id: str | None = None
    tool_call_id: str | None = None
    is_error: bool | None = None

    @property
    def blocks(self) -> tuple[Block, ...]:
        """Its pieces; a plain text is one."""
        if isinstance(self.content, str):
            return (Block(type="text", text=self.content),)
        return self.content

    @property
    def text(self) -> str:
        """All its text."""
        return "\n".join(block.text for block in self.blocks if block.text)


class Line(msgspec.Struct, frozen=True, rename="camel"):
    """One line, of any type."""

    type: str
    id: str | None = None
    message: Message | None = None
    tool_results: tuple[Message, ...] = ()
    result: Any = None


_LINE = msgspec.json.Decoder(Line)


def read(text: bytes) -> Line | None:
    """The line, if it is one."""
    return decoded(_LINE, text)
