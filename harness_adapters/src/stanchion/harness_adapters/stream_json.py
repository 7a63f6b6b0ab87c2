"""What the harnesses with `--output-format stream-json` share: lines, and what is told of them.

Claude Code began it and Qwen Code speaks it too; what either adds to a line, and when a response of
it is over, is for its own module. Pure; it must never raise on what it reads.
"""

from dataclasses import dataclass
from typing import Any

import msgspec

from stanchion.harness_adapters.base import Saved
from stanchion.protocol.events import StepSaved
from stanchion.protocol.transcript import ItemKind, ToolUse, TranscriptItem
from stanchion.protocol.usage import Usage

TOOL_USE = "tool_use"
END_TURN = "end_turn"
UNKNOWN = "unknown"
"""Of a response that was broken off or cut, had no answer in it, or was followed without an end."""


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

    def call(self) -> ToolUse | None:
        """The tool call that it is, which begins."""
        if self.type != TOOL_USE or not self.id or not self.name:
            return None
        arguments = bytes(self.input).decode(errors="replace")
        return ToolUse(name=self.name, call_id=self.id, status="running", arguments=arguments)

    def answered(self, call: ToolUse) -> ToolUse:
        """The tool call whose result it is, which is over."""
        status = "error" if self.is_error else "completed"
        return msgspec.structs.replace(call, status=status, output=plain(self.content))


class Line(msgspec.Struct, frozen=True):
    """One line, of any type."""

    type: str
    subtype: str | None = None
    session_id: str | None = None
    uuid: str | None = None
    parent_tool_use_id: str | None = None
    is_error: bool | None = None
    result: str | None = None
    permission_denials: tuple[Any, ...] = ()


@dataclass(slots=True)
class Telling:
    """Items and steps under their conversation: the run's own, or the call that started another."""

    root: str | None = None

    def item(
        self,
        said: Line,
        name: str,
        kind: ItemKind,
        *,
        text: str | None = None,
        tool: ToolUse | None = None,
    ) -> TranscriptItem:
        """Something that was said or done."""
        parent = said.parent_tool_use_id
        return TranscriptItem(
            id=name,
            session=parent or self.root or "",
            parent_session=None if parent is None else self.root,
            kind=kind,
            text=text,
            tool=tool,
        )

    def step(
        self,
        conversation: str | None,
        response: str,
        reason: str,
        *,
        counts: bool,
        response_id: str | None = None,
        usage: Usage | None = None,
    ) -> list[Saved]:
        """A response that is over."""
        session = conversation or self.root or ""
        return [
            TranscriptItem(
                id=f"{response}:end",
                session=session,
                parent_session=None if conversation is None else self.root,
                kind=ItemKind.STEP_END,
                finish=reason,
                response_id=response_id,
                usage=usage,
            ),
            StepSaved(session=session, id=response, reason=reason, counts=counts),
        ]


def plain(content: object) -> str:
    """A tool result's content as text: a text, or pieces of which some are."""
    if isinstance(content, str):
        return content
    pieces = content if isinstance(content, list) else []
    texts = [piece.get("text") for piece in pieces if isinstance(piece, dict)]
    return "\n".join(text for text in texts if isinstance(text, str))
