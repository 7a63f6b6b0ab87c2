"""The lines of Codex's rollout file, as far as they say how a run goes.

Decides only what a line is; the shapes are those of version 0.171.0, as recorded. Whatever does not
fit them is no line: the agent's programs may write to the same place.
"""

import datetime as dt
from typing import Any

import msgspec

from stanchion.harness_adapters.json_lines import decoded
from stanchion.protocol.usage import Usage

ITEM = "response_item"
EVENT = "event_msg"
CALLS = ("function_call", "custom_tool_call", "local_shell_call")
OUTPUTS = ("function_call_output", "custom_tool_call_output")
_INVALID = (
    "failed to parse function arguments",
    "unsupported call",
    "unsupported custom tool call",
)
"""What a call gets that never ran (its own words, seen for the first, read for the others)."""


class Piece(msgspec.Struct, frozen=True):
    """One piece of a message, of a summary or of thoughts."""

    text: str | None = None


class Failure(msgspec.Struct, frozen=True):
    """Why a turn ended before its answer."""

    message: str = ""


class Saved(msgspec.Struct, frozen=True):
    """What an item_completed event holds; only what a person said is read from there."""

    type: str = ""
    id: str | None = None
    content: Any = None


class Tokens(msgspec.Struct, frozen=True):
    """Counts of one response. Cached tokens are within the input, reasoning within the output."""

    input_tokens: int = 0
    cached_input_tokens: int = 0
    cache_write_input_tokens: int = 0
    output_tokens: int = 0
    reasoning_output_tokens: int = 0

    def usage(self) -> Usage:
        """It writes 0 where nothing was reported too, so 0 is unknown."""
        return Usage(
            input_tokens=self.input_tokens or None,
            output_tokens=self.output_tokens or None,
            reasoning_tokens=self.reasoning_output_tokens or None,
            cache_read_tokens=self.cached_input_tokens or None,
            cache_write_tokens=self.cache_write_input_tokens or None,
        )


class Payload(msgspec.Struct, frozen=True):
    """What a line holds, of any type."""

    type: str = ""
    id: str | None = None
    role: str | None = None
    content: tuple[Piece, ...] | None = None
    summary: Any = None
    name: str | None = None
    call_id: str | None = None
    arguments: str | None = None
    input: str | None = None
    output: Any = None
    response_id: str | None = None
    usage: Tokens | None = None
    item: Saved | None = None
    message: str | None = None
    error: Failure | None = None
    reason: str | None = None


class Line(msgspec.Struct, frozen=True):
    """One line."""

    type: str
    payload: Payload
    timestamp: str = ""

    @property
    def at_ms(self) -> int | None:
        """When it was written, by the sandbox's clock."""
        try:
            return round(dt.datetime.fromisoformat(self.timestamp).timestamp() * 1000)
        except ValueError:
            return None


_LINE = msgspec.json.Decoder(Line)


def read(text: str) -> Line | None:
    """The line, if it is one."""
    return decoded(_LINE, text)


def plain(pieces: object) -> str:
    """All texts of some pieces, as Codex saved them or as they were decoded."""
    if isinstance(pieces, str):
        return pieces
    texts = []
    for piece in pieces if isinstance(pieces, list | tuple) else ():
        text = piece.get("text") if isinstance(piece, dict) else getattr(piece, "text", None)
        if isinstance(text, str):
            texts.append(text)
    return "\n".join(texts)


def is_invalid(output: str) -> bool:
    """Whether the call was none that could be run."""
    return output.startswith(_INVALID)
