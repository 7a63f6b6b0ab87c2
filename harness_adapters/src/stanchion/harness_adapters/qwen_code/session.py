"""Folds Qwen Code's event stream into steps, transcript and task list, and says how it ended.

Decides which responses may count as progress and whether the end can be trusted. A response comes
in several lines, of which the last has its usage or its calls; it is over once all calls have
results, another response begins or the run's result follows. It must never raise on what it reads,
and never take a provider's error, which is printed as the model's words, for a step.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from stanchion.harness_adapters.base import Saved, TaskListSaved
from stanchion.harness_adapters.qwen_code import lines
from stanchion.harness_adapters.qwen_code.ending import judge
from stanchion.harness_adapters.qwen_code.lines import Line, Message
from stanchion.harness_adapters.stream_json import END_TURN, TOOL_USE, UNKNOWN, Block, Telling
from stanchion.protocol.evidence import SessionEnd, SessionState
from stanchion.protocol.transcript import ItemKind, TaskListItem, ToolUse
from stanchion.protocol.usage import Usage

_INVALID = ("params must", "params/", 'Tool "')
"""How results of calls begin that were wrong in themselves."""


@dataclass(slots=True)
class Response:
    """A response that is being printed."""

    id: str
    usage: Usage | None = None
    has_text: bool = False
    failed: bool = False
    calls: dict[str, bool] = field(default_factory=dict)
    """Its tool calls, and whether each was a valid one as far as is known."""
    waiting: set[str] = field(default_factory=set)
    """Calls without a result."""

    @property
    def whole(self) -> bool:
        """Whether its last line was printed."""
        return self.usage is not None or bool(self.calls)


@dataclass(slots=True)
class QwenCodeSession:
    """Reader of one run; conversations of sub-agents go by the call that started them."""

    _open: dict[str | None, Response] = field(default_factory=dict)
    _calls: dict[str, ToolUse] = field(default_factory=dict)
    _counted: int = 0
    _blocks: int = 0
    _telling: Telling = field(default_factory=Telling)
    _result: Line | None = None

    def rows(self, rows: Sequence[Sequence[object]]) -> list[Saved]:  # noqa: ARG002 - it has no store
        """Nothing: what it saves for itself is no database."""
        return []

    def output(self, line: bytes) -> list[Saved]:
        """One line of standard output."""
        said = lines.read(line)
        if said is None or said.session_id is None:
            return []
        self._telling.root = self._telling.root or said.session_id
        match said.type:
            case "assistant" if said.message is not None:
                return self._assistant(said, said.message)
            case "user" if said.message is not None:
                return self._user(said, said.message)
            case "result":
                return self._ended(said)
        return []

    def end(self) -> SessionEnd:
        """How the session stands now."""
        steps = None if self._telling.root is None else self._counted
        if self._result is not None:
            state, detail = judge(self._result)
        elif self._telling.root is None:
            state, detail = SessionState.UNKNOWN, "it printed nothing of a session"
        else:
            state, detail = SessionState.MID_TURN, "it never printed a result"
        return SessionEnd(state=state, detail=detail, steps=steps)

    def _ended(self, said: Line) -> list[Saved]:
        """A sub-agent's result looks like the run's; more of the root shows that it was not."""
        self._result = said
        root = self._open.get(None)
        if root is not None and root.waiting:
            return []
        good = judge(said)[0] is SessionState.GOOD
        return self._close(None, END_TURN if good else UNKNOWN)

    def _assistant(self, said: Line, message: Message) -> list[Saved]:
        conversation = said.parent_tool_use_id
        self._result = None
        saved: list[Saved] = []
        response = self._open.get(conversation)
        if response is None or response.whole:
            saved += self._close(conversation, UNKNOWN)
            response = Response(id=message.id or said.uuid or str(self._blocks))
            self._open[conversation] = response
        for block in message.blocks:
            saved += self._block(said, response, block)
        response.usage = message.usage.usage()
        return saved

    def _block(self, said: Line, response: Response, block: Block) -> list[Saved]:
        self._blocks += 1
        name = f"{response.id}:{self._blocks}"
        if block.type == "thinking" and block.thinking:
            return [self._telling.item(said, name, ItemKind.REASONING, text=block.thinking)]
        if block.type == "text" and block.text:
            failed = lines.API_ERROR in block.text
            response.failed = response.failed or failed
            response.has_text = response.has_text or bool(block.text.strip())
            kind = ItemKind.ERROR if failed else ItemKind.TEXT
            return [self._telling.item(said, name, kind, text=block.text)]
        use = block.call()
        if use is not None and use.call_id is not None:
            self._calls[use.call_id] = use
            response.calls[use.call_id] = True
            response.waiting.add(use.call_id)
            return [self._telling.item(said, use.call_id, ItemKind.TOOL, tool=use)]
        return []

    def _user(self, said: Line, message: Message) -> list[Saved]:
        self._result = None
        saved: list[Saved] = []
        for block in message.blocks:
            if block.type == "tool_result" and block.tool_use_id:
                saved += self._tool_result(said, block, block.tool_use_id)
            elif block.type == "text" and block.text:
                name = said.uuid or "user"
                saved.append(self._telling.item(said, name, ItemKind.USER, text=block.text))
        return saved

    def _tool_result(self, said: Line, block: Block, call: str) -> list[Saved]:
        saved = self._close(call, UNKNOWN if block.is_error else END_TURN)
        known = self._calls.get(call)
        if known is None:
            return saved
        use = block.answered(known)
        self._calls[call] = use
        saved.append(self._telling.item(said, call, ItemKind.TOOL, tool=use))
        if use.name == "todo_write" and not block.is_error:
            saved += self._task_list(said, use)
        response = self._open.get(said.parent_tool_use_id)
        if response is not None and call in response.calls:
            response.calls[call] = not (block.is_error and (use.output or "").startswith(_INVALID))
            response.waiting.discard(call)
            if not response.waiting:
                saved += self._close(said.parent_tool_use_id, TOOL_USE)
        return saved

    def _task_list(self, said: Line, use: ToolUse) -> list[Saved]:
        found = lines.todos(use.arguments or "")
        if found is None:
            return []
        items = tuple(TaskListItem(content=one.content, status=one.status) for one in found.todos)
        session = said.parent_tool_use_id or self._telling.root or ""
        return [TaskListSaved(session=session, items=items)]

    def _close(self, conversation: str | None, reason: str) -> list[Saved]:
        """The conversation's open response is over, for this reason."""
        response = self._open.pop(conversation, None)
        if response is None or (response.failed and response.usage is None):
            return []
        if response.failed:
            reason = UNKNOWN
        counts = reason != UNKNOWN and (response.has_text or any(response.calls.values()))
        if reason == TOOL_USE:
            counts = any(response.calls.values())
        self._counted += counts
        return self._telling.step(
            conversation, response.id, reason, counts=counts, usage=response.usage
        )
