"""Folds OpenCode's event log into steps, transcript and task list, and says how it ended.

Decides which saved steps may count as progress and whether the end can be trusted. It must never
raise on what it reads, and never take row traffic for progress: each retry writes rows too.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import msgspec

from stanchion.harness_adapters.base import Saved, TaskListSaved
from stanchion.harness_adapters.opencode import records
from stanchion.harness_adapters.opencode.ending import COUNTING, Answer, Tool, ending
from stanchion.protocol.events import StepSaved
from stanchion.protocol.evidence import SessionEnd
from stanchion.protocol.transcript import ItemKind, TaskListItem, ToolUse, TranscriptItem
from stanchion.protocol.usage import Usage

_TEXTS = {"text": ItemKind.TEXT, "reasoning": ItemKind.REASONING}


@dataclass(slots=True)
class OpenCodeSession:
    """Reader of one run: the root session and those of its sub-agents."""

    _root: str | None = None
    _parents: dict[str, str | None] = field(default_factory=dict)
    _messages: dict[str, Answer] = field(default_factory=dict)
    """In the order of their first appearance, which is the order of the conversation."""
    _steps: set[str] = field(default_factory=set)
    _counted: int = 0
    _printed: str | None = None
    """The last error on standard output: all there is where no session was saved."""

    def rows(self, rows: Sequence[Sequence[object]]) -> list[Saved]:
        """New rows of the store."""
        saved: list[Saved] = []
        for row in rows:
            match records.change(row):
                case records.SessionChanged(info=info):
                    self._session(info)
                case records.MessageChanged(info=info):
                    saved += self._message(info)
                case records.PartChanged(part=part, time=time):
                    saved += self._part(part, records.whole(time))
                case records.PartRemoved(message=message, part=part_id):
                    self._removed(message, part_id)
                case records.MessageRemoved(message=message):
                    self._messages.pop(message, None)
        return saved

    def output(self, line: bytes) -> list[Saved]:
        """One line of standard output. Errors are kept; the rest is in the store, and better."""
        said = records.printed(line)
        if said is not None and said.type == "error" and said.error is not None:
            self._printed = said.error.sentence()
        return []

    def end(self) -> SessionEnd:
        """How the session stands now."""
        answers = [
            answer
            for answer in self._messages.values()
            if answer.session == self._root and answer.role == "assistant"
        ]
        steps = None if self._root is None else self._counted
        return ending(answers[-1] if answers else None, steps=steps, printed=self._printed)

    def _session(self, info: records.Session) -> None:
        self._parents[info.id] = info.parent
        if self._root is None and info.parent is None:
            self._root = info.id

    def _message(self, info: records.Message) -> list[Saved]:
        answer = self._messages.setdefault(info.id, Answer(session=info.session, role=info.role))
        answer.finish = info.finish
        answer.summary = info.summary is True
        error = None if info.error is None else info.error.sentence()
        before, answer.error = answer.error, error
        if error is None or error == before:
            return []
        at_ms = records.whole(info.time.completed) or records.whole(info.time.created)
        item = self._item(f"{info.id}:error", info.session, ItemKind.ERROR, at_ms)
        return [msgspec.structs.replace(item, text=error)]

    def _part(self, part: records.Part, at_ms: int | None) -> list[Saved]:
        answer = self._messages.get(part.message)
        if part.type in _TEXTS and part.text:
            kind = _kind(part, answer)
            if answer is not None and part.type == "text" and part.text.strip():
                answer.texts.add(part.id)
            item = self._item(part.id, part.session, kind, at_ms)
            return [msgspec.structs.replace(item, text=part.text)]
        if part.type == "compaction":
            return [self._item(part.id, part.session, ItemKind.COMPACTION, at_ms)]
        if part.type == "tool" and part.state is not None:
            return self._tool(part, part.state, answer, at_ms)
        if part.type == "step-finish" and part.reason is not None:
            return self._step(part, part.reason, answer, at_ms)
        return []

    def _tool(
        self, part: records.Part, state: records.ToolState, answer: Answer | None, at_ms: int | None
    ) -> list[Saved]:
        tool = Tool(name=part.tool or "", status=state.status, error=state.error)
        known = None if answer is None else answer.tools.get(part.id)
        if answer is not None:
            answer.tools[part.id] = tool
        # A pending call has no arguments yet; while it runs, each piece of its output is a row.
        if tool.status == "pending" or (known is not None and known.status == tool.status):
            return []
        use = ToolUse(
            name=tool.name,
            call_id=part.call_id,
            status=tool.status,
            arguments=bytes(state.input).decode(errors="replace"),
            output=state.output if state.error is None else state.error,
        )
        item = self._item(part.id, part.session, ItemKind.TOOL, at_ms)
        saved: list[Saved] = [msgspec.structs.replace(item, tool=use)]
        if tool.name == "todowrite" and tool.status == "completed":
            saved += _task_list(part.session, state.input)
        return saved

    def _step(
        self, part: records.Part, reason: str, answer: Answer | None, at_ms: int | None
    ) -> list[Saved]:
        item = self._item(part.id, part.session, ItemKind.STEP_END, at_ms)
        ended = msgspec.structs.replace(item, finish=reason, usage=_usage(part.tokens))
        if part.id in self._steps:
            return [ended]
        self._steps.add(part.id)
        counts = _counts(reason, answer)
        self._counted += counts
        return [ended, StepSaved(session=part.session, id=part.id, reason=reason, counts=counts)]

    def _removed(self, message: str, part_id: str) -> None:
        answer = self._messages.get(message)
        if answer is not None:
            answer.texts.discard(part_id)
            answer.tools.pop(part_id, None)

    def _item(
        self, item_id: str, session: str, kind: ItemKind, at_ms: int | None
    ) -> TranscriptItem:
        return TranscriptItem(
            id=item_id,
            session=session,
            parent_session=self._parents.get(session),
            kind=kind,
            at_ms=at_ms,
        )


def _kind(part: records.Part, answer: Answer | None) -> ItemKind:
    if answer is not None and answer.role == "user":
        return ItemKind.USER
    if answer is not None and answer.summary and part.type == "text":
        return ItemKind.COMPACTION
    return _TEXTS[part.type]


def _counts(reason: str, answer: Answer | None) -> bool:
    """Not where the response is unknown, a compaction, or calls nothing but invalid tools."""
    if reason not in COUNTING or answer is None or answer.role != "assistant" or answer.summary:
        return False
    return reason != "tool-calls" or any(not tool.invalid for tool in answer.tools.values())


def _task_list(session: str, arguments: msgspec.Raw) -> list[Saved]:
    found = records.todos(arguments)
    if found is None:
        return []
    items = tuple(
        TaskListItem(content=todo.content, status=todo.status, priority=todo.priority)
        for todo in found.todos
    )
    return [TaskListSaved(session=session, items=items)]


def _usage(tokens: records.Tokens | None) -> Usage | None:
    """As a provider counts: OpenCode splits cached input and reasoning off. Its 0 may mean that
    nothing was reported, so 0 is unknown.
    """
    if tokens is None or not (records.whole(tokens.input) or records.whole(tokens.output)):
        return None
    cached = tokens.cache
    return Usage(
        input_tokens=_sum(tokens.input, cached.read, cached.write),
        output_tokens=_sum(tokens.output, tokens.reasoning),
        reasoning_tokens=_sum(tokens.reasoning),
        cache_read_tokens=_sum(cached.read),
        cache_write_tokens=_sum(cached.write),
    )


def _sum(*counts: records.Number) -> int | None:
    return sum(records.whole(count) or 0 for count in counts) or None
