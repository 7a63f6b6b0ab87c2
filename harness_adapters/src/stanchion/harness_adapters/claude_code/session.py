"""Folds Claude Code's event stream into steps and transcript, and says how it ended.

Decides which responses may count as progress and whether the end can be trusted. A response comes
block by block and its end is never printed: it is over once its tool's result, another response or
the run's result follows. It must never raise on what it reads, and never take traffic for progress:
each retry writes lines too.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from stanchion.harness_adapters.base import Saved
from stanchion.harness_adapters.claude_code import lines
from stanchion.harness_adapters.claude_code.ending import judge
from stanchion.harness_adapters.claude_code.lines import Line, Message
from stanchion.harness_adapters.stream_json import END_TURN, TOOL_USE, UNKNOWN, Block, Telling
from stanchion.protocol.evidence import SessionEnd, SessionState
from stanchion.protocol.transcript import ItemKind, ToolUse

_NO_SUCH_CALL = ("No such tool available", "InputValidationError")


@dataclass(slots=True)
class Response:
    """A response that is being printed."""

    id: str
    has_text: bool = False
    calls: dict[str, bool] = field(default_factory=dict)
    """Its tool calls, and whether each was a valid one as far as is known."""


@dataclass(slots=True)
class ClaudeCodeSession:
    """Reader of one run; conversations of sub-agents go by the call that started them."""

    _open: dict[str | None, Response] = field(default_factory=dict)
    _calls: dict[str, ToolUse] = field(default_factory=dict)
    _steps: set[str] = field(default_factory=set)
    _counted: int = 0
    _blocks: int = 0
    _telling: Telling = field(default_factory=Telling)
    _error: str | None = None
    _result: Line | None = None
    _background: int = 0

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
            case "system":
                return self._system(said)
        return []

    def end(self) -> SessionEnd:
        """How the session stands now."""
        steps = None if self._telling.root is None else self._counted
        if self._result is not None:
            state, detail = judge(self._result, error=self._error, background=self._background)
        elif self._telling.root is None:
            state, detail = SessionState.UNKNOWN, "it printed nothing of a session"
        else:
            state, detail = SessionState.MID_TURN, "it never printed a result"
        return SessionEnd(state=state, detail=detail, steps=steps)

    def _assistant(self, said: Line, message: Message) -> list[Saved]:
        blocks = message.content if isinstance(message.content, tuple) else ()
        if message.model == lines.SYNTHETIC:
            return self._failed(said, blocks)
        if message.id is None:
            return []
        if said.parent_tool_use_id is None:
            self._result, self._error = None, None
        saved: list[Saved] = []
        response = self._open.get(said.parent_tool_use_id)
        if response is None or response.id != message.id:
            saved += self._close(said.parent_tool_use_id, UNKNOWN)
            response = Response(id=message.id)
            self._open[said.parent_tool_use_id] = response
        for block in blocks:
            saved += self._block(said, response, block)
        return saved

    def _failed(self, said: Line, blocks: tuple[Block, ...]) -> list[Saved]:
        if said.parent_tool_use_id is None:
            self._error = said.error
        text = "\n".join(block.text for block in blocks if block.text)
        return [
            self._telling.item(said, said.uuid or "error", ItemKind.ERROR, text=text or said.error)
        ]

    def _block(self, said: Line, response: Response, block: Block) -> list[Saved]:
        self._blocks += 1
        name = f"{response.id}:{self._blocks}"
        if block.type == "thinking" and block.thinking:
            return [self._telling.item(said, name, ItemKind.REASONING, text=block.thinking)]
        if block.type == "text" and block.text:
            response.has_text = response.has_text or bool(block.text.strip())
            return [self._telling.item(said, name, ItemKind.TEXT, text=block.text)]
        use = block.call()
        if use is not None and use.call_id is not None:
            self._calls[use.call_id] = use
            response.calls[use.call_id] = True
            return [self._telling.item(said, use.call_id, ItemKind.TOOL, tool=use)]
        return []

    def _user(self, said: Line, message: Message) -> list[Saved]:
        blocks = message.content if isinstance(message.content, tuple) else ()
        saved: list[Saved] = []
        results = [block for block in blocks if block.type == "tool_result" and block.tool_use_id]
        for block in results:
            saved += self._tool_result(said, block, block.tool_use_id or "")
        # Text from nobody: the harness asks for the rest of a response that was cut or empty.
        saved += self._close(said.parent_tool_use_id, TOOL_USE if results else UNKNOWN)
        texts = [block.text for block in blocks if block.type == "text" and block.text]
        if isinstance(message.content, str):
            texts.append(message.content)
        if texts:
            name = said.uuid or "user"
            saved.append(self._telling.item(said, name, ItemKind.USER, text="\n".join(texts)))
        return saved

    def _tool_result(self, said: Line, block: Block, call: str) -> list[Saved]:
        saved = self._close(call, UNKNOWN if block.is_error else END_TURN)
        known = self._calls.get(call)
        if known is None:
            return saved
        use = block.answered(known)
        output = use.output or ""
        response = self._open.get(said.parent_tool_use_id)
        if block.is_error and response is not None and any(w in output for w in _NO_SUCH_CALL):
            response.calls[call] = False
        self._calls[call] = use
        return [*saved, self._telling.item(said, call, ItemKind.TOOL, tool=use)]

    def _ended(self, said: Line) -> list[Saved]:
        self._result = said
        reason = said.stop_reason or UNKNOWN
        return self._close(None, UNKNOWN if said.is_error is not False else reason)

    def _system(self, said: Line) -> list[Saved]:
        if said.tasks is not None:
            self._background = len(said.tasks)
        if said.subtype != "compact_boundary":
            return []
        return [self._telling.item(said, said.uuid or "compaction", ItemKind.COMPACTION)]

    def _close(self, conversation: str | None, reason: str) -> list[Saved]:
        """The conversation's open response is over, for this reason."""
        response = self._open.pop(conversation, None)
        if response is None or response.id in self._steps:
            return []
        self._steps.add(response.id)
        counts = reason != UNKNOWN and (response.has_text or any(response.calls.values()))
        self._counted += counts
        return self._telling.step(
            conversation, response.id, reason, counts=counts, response_id=response.id
        )
