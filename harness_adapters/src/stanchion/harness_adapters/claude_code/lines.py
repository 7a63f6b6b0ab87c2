"""The lines of Claude Code's `--output-format stream-json`, as far as they say how a run goes.

Decides only what a line is; the shapes are those of version 2.1.332, as recorded. Whatever does not
fit them is no line: the agent's programs may write to the same place.
"""

import msgspec

from stanchion.harness_adapters import stream_json
from stanchion.harness_adapters.json_lines import decoded
from stanchion.harness_adapters.stream_json import Block

SYNTHETIC = "<synthetic>"
"""The model of messages that Claude Code wrote itself, to show an error."""


class Message(msgspec.Struct, frozen=True):
    """What a model, a person or a tool said; a response comes in several, one a block."""

    content: tuple[Block, ...] | str = ()
    id: str | None = None
    model: str | None = None


class Task(msgspec.Struct, frozen=True):
    """Work in the background."""

    description: str | None = None


class Line(stream_json.Line, frozen=True):
    """One line, of any type."""

    message: Message | None = None
    error: str | None = None
    tasks: tuple[Task, ...] | None = None
    stop_reason: str | None = None
    terminal_reason: str | None = None


_LINE = msgspec.json.Decoder(Line)


def read(text: bytes) -> Line | None:
    """The line, if it is one."""
    return decoded(_LINE, text)
