"""From saved items to the turns of each conversation. Pure.

A turn is what one response of a model came to: reasoning, text, tool calls and their results. An
item that came again replaces the earlier one and keeps its place. What the harness did not save is
not made up: a turn whose end was never saved says so.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

from stanchion.protocol.transcript import ItemKind, ToolUse, TranscriptItem
from stanchion.protocol.usage import Usage


@dataclass(slots=True)
class Turn:
    """One of a model, a user or the harness itself."""

    source: str
    """`agent` | `user` | `system`."""
    at_ms: int | None
    texts: list[str] = field(default_factory=list)
    reasoning: list[str] = field(default_factory=list)
    tools: list[tuple[str, ToolUse]] = field(default_factory=list)
    """By the item's id."""
    kind: ItemKind | None = None
    """Of the harness's own: a compaction or an error."""
    ended: bool = False
    """Its end was saved."""
    finish: str | None = None
    usage: Usage | None = None
    response_id: str | None = None

    @property
    def call_ids(self) -> list[str]:
        """Of the calls that have one."""
        return [tool.call_id for _, tool in self.tools if tool.call_id is not None]


@dataclass(slots=True)
class Conversation:
    """One session, the agent's own or a sub-agent's."""

    session: str
    parent: str | None
    turns: list[Turn] = field(default_factory=list)

    @property
    def agent_turns(self) -> list[Turn]:
        """What models said."""
        return [turn for turn in self.turns if turn.source == "agent"]


def conversations(items: Iterable[TranscriptItem]) -> list[Conversation]:
    """Every session, in order of first sight."""
    latest: dict[tuple[str, str], TranscriptItem] = {}
    for item in items:
        latest[item.session, item.id] = item
    found: dict[str, _Building] = {}
    for item in latest.values():
        building = found.get(item.session)
        if building is None:
            building = found[item.session] = _Building(
                Conversation(item.session, item.parent_session)
            )
        building.take(item)
    return [building.conversation for building in found.values()]


@dataclass(slots=True)
class _Building:
    conversation: Conversation
    open: Turn | None = None

    def take(self, item: TranscriptItem) -> None:
        match item.kind:
            case ItemKind.REASONING | ItemKind.TEXT | ItemKind.TOOL:
                self._said(self._turn(item), item)
            case ItemKind.STEP_END:
                self._ended(self._turn(item), item)
            case ItemKind.USER:
                self._other("user", item)
            case _:
                self._other("system", item)

    def _turn(self, item: TranscriptItem) -> Turn:
        if self.open is None:
            self.open = Turn(source="agent", at_ms=item.at_ms)
            self.conversation.turns.append(self.open)
        return self.open

    def _said(self, turn: Turn, item: TranscriptItem) -> None:
        if item.tool is not None:
            turn.tools.append((item.id, item.tool))
        elif item.text is not None and item.kind is ItemKind.REASONING:
            turn.reasoning.append(item.text)
        elif item.text is not None:
            turn.texts.append(item.text)
        turn.response_id = turn.response_id or item.response_id

    def _ended(self, turn: Turn, item: TranscriptItem) -> None:
        turn.ended, turn.finish, turn.usage = True, item.finish, item.usage
        turn.response_id = item.response_id or turn.response_id
        self.open = None

    def _other(self, source: str, item: TranscriptItem) -> None:
        self.open = None
        kind = item.kind if source == "system" else None
        turn = Turn(source=source, at_ms=item.at_ms, kind=kind)
        turn.texts += [item.text] if item.text is not None else []
        self.conversation.turns.append(turn)
