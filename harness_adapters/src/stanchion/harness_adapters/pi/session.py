"""Folds pi's event stream into steps and transcript, and says how it ended.

Decides which responses may count as progress and whether the end can be trusted: its exit code is 0
however it ends. A response that failed is printed like any other and is no step; a step is saved
once its tools have run. It must never raise on what it reads.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import msgspec

from stanchion.harness_adapters.base import Saved
from stanchion.harness_adapters.pi import lines
from stanchion.harness_adapters.pi.lines import Line, Message
from stanchion.protocol.events import StepSaved
from stanchion.protocol.evidence import SessionEnd, SessionState
from stanchion.protocol.transcript import ItemKind, ToolUse, TranscriptItem

TOOL_USE = "toolUse"
STOP = "stop"
LENGTH = "length"
COUNTING = frozenset({TOOL_USE, STOP, LENGTH})
"""Reasons of a whole response; the others are `error` and `aborted`."""
_INVALID = ("Validation failed for tool", "Tool ")
"""How results of calls begin that were wrong in themselves."""
_MOST_DETAIL = 400


@dataclass(slots=True)
class PiSession:
    """Reader of one run; pi has no sub-agents."""

    _root: str | None = None
    _last: Message | None = None
    _settled: bool = False
    _counted: int = 0
    _items: int = 0
    _calls: dict[str, ToolUse] = field(default_factory=dict)

    def rows(self, rows: Sequence[Sequence[object]]) -> list[Saved]:  # noqa: ARG002 - it has no store
        """Nothing: what it saves for itself is no database."""
        return []

    def output(self, line: bytes) -> list[Saved]:
        """One line of standard output."""
        said = lines.read(line)
        if said is None:
            return []
        if said.type == "session":
            self._root = self._root or said.id
        if self._root is None:
            return []
        match said.type:
            case "message_end" if said.message is not None:
                return self._message(said.message)
            case "turn_end" if said.message is not None:
                return self._turn(said, said.message)
            case "compaction_end" if said.result is not None:
                return [self._item(ItemKind.COMPACTION)]
            case "agent_start":
                self._settled = False
            case "agent_settled":
                self._settled = True
        return []

    def end(self) -> SessionEnd:
        """How the session stands now."""
        steps = None if self._root is None else self._counted
        state, detail = self._judge()
        return SessionEnd(state=state, detail=detail, steps=steps)

    def _judge(self) -> tuple[SessionState, str | None]:
        last = self._last
        if self._root is None or last is None:
            return SessionState.UNKNOWN, "it printed no answer of a model"
        if last.stop_reason in {STOP, TOOL_USE} and not self._settled:
            return SessionState.MID_TURN, "it never said that it was done"
        return _judge_response(last)

    def _message(self, message: Message) -> list[Saved]:
        at_ms = message.timestamp
        if message.role == "user":
            return [self._item(ItemKind.USER, at_ms=at_ms, text=message.text)]
        if message.role == "toolResult":
            return self._tool_result(message)
        if message.role != "assistant":
            return []
        self._last = message
        saved: list[Saved] = []
        for block in message.blocks:
            if block.type == "thinking" and block.thinking:
                item = self._item(ItemKind.REASONING, at_ms=at_ms, text=block.thinking)
                saved.append(item)
            elif block.type == "text" and block.text:
                saved.append(self._item(ItemKind.TEXT, at_ms=at_ms, text=block.text))
            elif block.type == "toolCall" and block.id and block.name:
                arguments = bytes(block.arguments).decode(errors="replace")
                use = ToolUse(
                    name=block.name, call_id=block.id, status="running", arguments=arguments
                )
                self._calls[block.id] = use
                saved.append(self._item(ItemKind.TOOL, at_ms=at_ms, name=block.id, tool=use))
        if message.stop_reason in COUNTING:
            end = self._item(ItemKind.STEP_END, at_ms=at_ms)
            usage = message.usage.usage()
            saved.append(msgspec.structs.replace(end, finish=message.stop_reason, usage=usage))
        else:
            saved.append(self._item(ItemKind.ERROR, at_ms=at_ms, text=message.error_message))
        return saved

    def _tool_result(self, message: Message) -> list[Saved]:
        known = self._calls.get(message.tool_call_id or "")
        if known is None:
            return []
        status = "error" if message.is_error else "completed"
        use = msgspec.structs.replace(known, status=status, output=message.text)
        return [self._item(ItemKind.TOOL, at_ms=message.timestamp, name=known.call_id, tool=use)]

    def _turn(self, said: Line, message: Message) -> list[Saved]:
        """A response and its tools are over."""
        reason = message.stop_reason or ""
        if message.role != "assistant" or reason not in COUNTING:
            return []
        wrong = [bool(one.is_error) and one.text.startswith(_INVALID) for one in said.tool_results]
        counts = not all(wrong) if reason == TOOL_USE else bool(message.text.strip())
        self._counted += counts
        self._items += 1
        name = message.response_id or str(self._items)
        return [StepSaved(session=self._root or "", id=name, reason=reason, counts=counts)]

    def _item(
        self,
        kind: ItemKind,
        *,
        at_ms: int | None = None,
        name: str | None = None,
        text: str | None = None,
        tool: ToolUse | None = None,
    ) -> TranscriptItem:
        self._items += 1
        return TranscriptItem(
            id=name or str(self._items), session=self._root or "", kind=kind, at_ms=at_ms,
            text=text, tool=tool,
        )  # fmt: skip


def _judge_response(last: Message) -> tuple[SessionState, str | None]:
    if last.stop_reason == LENGTH:
        return SessionState.LENGTH, "the last response was cut at its output limit"
    if last.stop_reason == TOOL_USE:
        return SessionState.MID_TURN, "tools were called and nothing followed"
    if last.stop_reason != STOP:
        said = last.error_message or f"the last response ended as {last.stop_reason}"
        return SessionState.ERROR, said[:_MOST_DETAIL]
    if not last.text.strip():
        return SessionState.EMPTY, "the last response stopped with no text"
    return SessionState.GOOD, None
