"""Folds Codex's rollout files into steps and transcript, and says how the run ended.

Decides which responses may count as progress and whether the end can be trusted. A response comes
item by item; that it is complete shows by its token counts, and where a provider reports none, by
what follows it. One that broke off is sent on as a part of the conversation and is no step. It must
never raise on what it reads.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import msgspec

from stanchion.harness_adapters.base import Saved
from stanchion.harness_adapters.codex import rollout
from stanchion.harness_adapters.codex.ending import ABORTED, COMPLETE, CUT, judge
from stanchion.harness_adapters.codex.rollout import Line, Payload, Tokens
from stanchion.protocol.events import StepSaved
from stanchion.protocol.evidence import SessionEnd, SessionState
from stanchion.protocol.transcript import ItemKind, ToolUse, TranscriptItem

TOOL_CALLS = "tool_calls"
STOP = "stop"
LENGTH = "length"
UNKNOWN = "unknown"


@dataclass(slots=True)
class Response:
    """A response that is being saved."""

    id: str | None = None
    tokens: Tokens | None = None
    has_text: bool = False
    calls: dict[str, bool | None] = field(default_factory=dict)
    """Its tool calls, and whether each was a valid one, once its output is there."""

    @property
    def answered(self) -> bool:
        """Whether each call has its output."""
        return bool(self.calls) and None not in self.calls.values()


@dataclass(slots=True)
class Thread:
    """One conversation: one file."""

    id: str
    parent: str | None
    response: Response = field(default_factory=Response)
    calls: dict[str, ToolUse] = field(default_factory=dict)
    counted: int = 0
    last_has_text: bool = False
    end: Payload | None = None
    """The event that ended its last turn."""


class CodexSession:
    """Reader of one run."""

    def __init__(self) -> None:
        self._threads: dict[str, Thread] = {}
        self._root: Thread | None = None

    def rows(self, rows: Sequence[Sequence[object]]) -> list[Saved]:
        """New lines: the file's name, and the line."""
        saved: list[Saved] = []
        for file, text in rows:
            line = rollout.read(str(text))
            if line is not None:
                saved += self._line(str(file), line)
        return saved

    def output(self, line: bytes) -> list[Saved]:  # noqa: ARG002 - its rollout says more
        """Nothing: what it prints is told there too."""
        return []

    def end(self) -> SessionEnd:
        """How the session stands now."""
        root = self._root
        if root is None:
            return SessionEnd(state=SessionState.UNKNOWN, detail="it saved nothing of a session")
        steps = sum(thread.counted for thread in self._threads.values())
        if root.end is None:
            detail = "its turn never ended"
            return SessionEnd(state=SessionState.MID_TURN, detail=detail, steps=steps)
        state, said = judge(root.end, has_text=root.last_has_text)
        return SessionEnd(state=state, detail=said, steps=steps)

    def _line(self, file: str, line: Line) -> list[Saved]:
        payload = line.payload
        if line.type == "session_meta" and payload.id and file not in self._threads:
            parent = None if self._root is None else self._root.id
            thread = self._threads[file] = Thread(id=payload.id, parent=parent)
            self._root = self._root or thread
        known = self._threads.get(file)
        if known is None:
            return []
        match line.type:
            case rollout.ITEM:
                return self._item(known, line)
            case rollout.EVENT:
                return self._event(known, line)
            case "token_usage_record":
                known.response.id, known.response.tokens = payload.response_id, payload.usage
            case "compacted":
                # Its summary was a response too, and no answer to the task.
                known.response = Response()
                return [_shown(known, line, ItemKind.COMPACTION, text=payload.message)]
        return []

    def _item(self, thread: Thread, line: Line) -> list[Saved]:
        payload = line.payload
        if payload.type in rollout.OUTPUTS:
            return self._output(thread, line)
        saved = _close(thread, line) if thread.response.tokens is not None else []
        if payload.type == "reasoning":
            text = rollout.plain(payload.summary) or rollout.plain(payload.content)
            return [*saved, _shown(thread, line, ItemKind.REASONING, text=text)] if text else saved
        if payload.type == "message" and payload.role == "assistant":
            text = rollout.plain(payload.content)
            thread.response.has_text = thread.response.has_text or bool(text.strip())
            return [*saved, _shown(thread, line, ItemKind.TEXT, text=text)] if text else saved
        if payload.type in rollout.CALLS and payload.call_id:
            arguments = payload.arguments if payload.arguments is not None else payload.input
            name = payload.name or payload.type
            use = ToolUse(name=name, call_id=payload.call_id, status="running", arguments=arguments)
            thread.calls[payload.call_id] = use
            thread.response.calls[payload.call_id] = None
            return [*saved, _tool(thread, line, use)]
        return saved

    def _output(self, thread: Thread, line: Line) -> list[Saved]:
        call = line.payload.call_id or ""
        known = thread.calls.get(call)
        if known is None:
            return []
        output = rollout.plain(line.payload.output)
        invalid = rollout.is_invalid(output)
        use = msgspec.structs.replace(
            known, status="error" if invalid else "completed", output=output
        )
        thread.calls[call] = use
        if call in thread.response.calls:
            thread.response.calls[call] = not invalid
        saved: list[Saved] = [_tool(thread, line, use)]
        return saved + (_close(thread, line) if thread.response.answered else [])

    def _event(self, thread: Thread, line: Line) -> list[Saved]:
        payload = line.payload
        if payload.type == "task_started":
            thread.end = None
        if payload.type == "item_completed" and payload.item is not None:
            said = rollout.plain(payload.item.content)
            if payload.item.type == "UserMessage" and said:
                return [_shown(thread, line, ItemKind.USER, text=said, id_=payload.item.id)]
        if payload.type not in {COMPLETE, ABORTED}:
            return []
        saved = _close(thread, line)
        thread.end = payload
        if payload.error is not None:
            saved.append(_shown(thread, line, ItemKind.ERROR, text=payload.error.message))
        return saved


def _close(thread: Thread, line: Line) -> list[Saved]:
    """The response is over; it is a step if it was complete."""
    response, thread.response = thread.response, Response()
    reason = _reason(response, line.payload)
    if response.id is None and reason == UNKNOWN:
        thread.last_has_text = False
        return []
    thread.last_has_text = response.has_text and not response.calls
    counts = reason != UNKNOWN and (response.has_text or any(response.calls.values()))
    thread.counted += counts
    name = response.id or f"response-{line.payload.id or line.timestamp}"
    return [
        TranscriptItem(
            id=f"{name}:end",
            session=thread.id,
            parent_session=thread.parent,
            kind=ItemKind.STEP_END,
            at_ms=line.at_ms,
            finish=reason,
            usage=None if response.tokens is None else response.tokens.usage(),
        ),
        StepSaved(session=thread.id, id=name, reason=reason, counts=counts),
    ]


def _reason(response: Response, what_follows: Payload) -> str:
    """Why it ended; the file holds no word for it."""
    error = what_follows.error
    if error is not None:
        cut = response.id is not None and CUT in error.message
        return LENGTH if cut else UNKNOWN
    if what_follows.type == ABORTED:
        return UNKNOWN
    if response.calls:
        return TOOL_CALLS
    return STOP if response.has_text else UNKNOWN


def _tool(thread: Thread, line: Line, use: ToolUse) -> TranscriptItem:
    return TranscriptItem(
        id=use.call_id or "",
        session=thread.id,
        parent_session=thread.parent,
        kind=ItemKind.TOOL,
        at_ms=line.at_ms,
        tool=use,
    )


def _shown(
    thread: Thread, line: Line, kind: ItemKind, *, text: str | None, id_: str | None = None
) -> TranscriptItem:
    return TranscriptItem(
        id=id_ or line.payload.id or f"{kind}-{line.timestamp}",
        session=thread.id,
        parent_session=thread.parent,
        kind=kind,
        at_ms=line.at_ms,
        text=text,
    )
