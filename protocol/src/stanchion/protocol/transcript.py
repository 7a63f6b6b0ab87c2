"""The conversation of an attempt, normalised over harnesses, and its task list.

Asserted by the sandbox: content only, never evidence of what was on the wire.
"""

from enum import StrEnum

import msgspec

from stanchion.protocol.usage import Usage


class ItemKind(StrEnum):
    """What a transcript item is."""

    USER = "user"
    REASONING = "reasoning"
    TEXT = "text"
    TOOL = "tool"
    STEP_END = "step_end"
    COMPACTION = "compaction"
    ERROR = "error"


class ToolUse(msgspec.Struct, frozen=True, kw_only=True):
    """One tool call and, once it ended, its result."""

    name: str
    call_id: str | None = None
    status: str
    """pending | running | completed | error, as the harness saved it."""
    arguments: str | None = None
    """JSON text."""
    output: str | None = None


class TranscriptItem(msgspec.Struct, frozen=True, kw_only=True):
    """One saved piece of the conversation. A later item with the same id replaces it."""

    id: str
    session: str
    parent_session: str | None = None
    """Set for a sub-agent's session."""
    kind: ItemKind
    at_ms: int | None = None
    """Wall clock of the sandbox, milliseconds since 1970."""
    text: str | None = None
    tool: ToolUse | None = None
    finish: str | None = None
    """The harness's word for why the response stopped (step_end only)."""
    usage: Usage | None = None
    response_id: str | None = None
    """The provider's name of the response that it is of, where the harness keeps it."""


class TaskListItem(msgspec.Struct, frozen=True, kw_only=True):
    """One line of the agent's own list of things to do."""

    content: str
    status: str
    priority: str | None = None
