"""Folds Gemini CLI's session files into steps and transcript, and says by its output how it ended.

Decides which responses may count as progress and which ends are none: its exit code is the
provider's status cut to a byte, and 0 for an answer that never came. Its word `success` also stands
for an answer that broke off or was cut, of which there is no trace, so that is never a good end but
an unknown one: the wire alone decides. A response is saved twice, before and after its tools run,
and is one step. It must never raise on what it reads.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import msgspec

from stanchion.harness_adapters.base import Saved
from stanchion.harness_adapters.gemini_cli import records
from stanchion.harness_adapters.gemini_cli.records import Call, Head, Printed, Record
from stanchion.protocol.events import StepSaved
from stanchion.protocol.evidence import SessionEnd, SessionState
from stanchion.protocol.transcript import ItemKind, ToolUse, TranscriptItem

ANSWERED = "answered"
TOOL_CALLS = "tool_calls"
_INVALID = ("params must", "params/", 'Tool "')
"""How results of calls begin that were wrong in themselves."""
_CUT = "exceeded the token limit"
_NO_ANSWER = "no final response"
_MOST_DETAIL = 400


@dataclass(slots=True)
class GeminiCliSession:
    """Reader of one run; a sub-agent's session has a file of its own."""

    _files: dict[str, str] = field(default_factory=dict)
    """The session of each file."""
    _root: str | None = None
    _shown: set[str] = field(default_factory=set)
    _steps: set[str] = field(default_factory=set)
    _counted: int = 0
    _begun: bool = False
    _said: bool = False
    """Whether the model said something since a tool ran."""
    _error: str | None = None
    _result: Printed | None = None

    def rows(self, rows: Sequence[Sequence[object]]) -> list[Saved]:
        """New lines of its session files."""
        saved: list[Saved] = []
        for each in rows:
            match records.row(each):
                case (str() as path, Head() as head):
                    self._files[path] = head.session_id
                    if head.kind == "main" and self._root is None:
                        self._root = head.session_id
                case (str() as path, Record() as record) if path in self._files:
                    saved += self._record(self._files[path], record)
        return saved

    def output(self, line: bytes) -> list[Saved]:
        """One line of standard output: how it goes, not what was said, which the files have."""
        said = records.printed(line)
        if said is None:
            return []
        match said.type:
            case "init":
                self._begun = True
            case "message" if said.role == "assistant":
                self._said = self._said or bool((said.content or "").strip())
            case "tool_use" | "tool_result":
                self._said = False
            case "error":
                self._error = said.message
            case "result":
                self._result = said
        return []

    def end(self) -> SessionEnd:
        """How the session stands now."""
        steps = self._counted if self._begun else None
        state, detail = self._judge()
        return SessionEnd(state=state, detail=detail, steps=steps)

    def _judge(self) -> tuple[SessionState, str | None]:
        if not self._begun:
            return SessionState.UNKNOWN, "it printed nothing of a session"
        if self._result is None:
            return SessionState.MID_TURN, "it never printed a result"
        return self._judge_result(self._result)

    def _judge_result(self, result: Printed) -> tuple[SessionState, str | None]:
        if result.status != "success":
            told = None if result.error is None else result.error.message
            said = (told or self._error or f"the result is {result.status}")[:_MOST_DETAIL]
            if _CUT in said:
                return SessionState.LENGTH, said
            return SessionState.EMPTY if _NO_ANSWER in said else SessionState.ERROR, said
        if not self._said:
            return SessionState.EMPTY, "the last response stopped with no text"
        return SessionState.UNKNOWN, "it calls an answer that broke off or was cut a success too"

    def _record(self, session: str, record: Record) -> list[Saved]:
        if record.type == "user" and record.text():
            return self._once(session, record.id, ItemKind.USER, record.text())
        if record.type != "gemini":
            return []
        saved: list[Saved] = []
        for number, thought in enumerate(record.thoughts):
            name = f"{record.id}:thought:{number}"
            saved += self._once(session, name, ItemKind.REASONING, thought.text())
        saved += self._once(session, f"{record.id}:text", ItemKind.TEXT, record.text())
        saved += [self._call(session, call) for call in record.calls]
        return saved + self._step(session, record)

    def _step(self, session: str, record: Record) -> list[Saved]:
        """A response without text is one that calls; which calls, is saved when they have run."""
        if record.id in self._steps or not (record.calls or record.text().strip()):
            return []
        self._steps.add(record.id)
        wrong = [
            call.status == "error" and (call.output() or "").startswith(_INVALID)
            for call in record.calls
        ]
        counts = bool(record.text().strip()) or not all(wrong)
        self._counted += counts
        reason = TOOL_CALLS if record.calls else ANSWERED
        end = self._item(session, f"{record.id}:end", ItemKind.STEP_END)
        return [
            msgspec.structs.replace(end, finish=reason, usage=record.tokens.usage()),
            StepSaved(session=session, id=record.id, reason=reason, counts=counts),
        ]

    def _call(self, session: str, call: Call) -> TranscriptItem:
        use = ToolUse(
            name=call.name,
            call_id=call.id,
            status="error" if call.status == "error" else "completed",
            arguments=bytes(call.args).decode(errors="replace"),
            output=call.output(),
        )
        item = self._item(session, call.id, ItemKind.TOOL)
        return msgspec.structs.replace(item, tool=use)

    def _once(self, session: str, name: str, kind: ItemKind, text: str) -> list[Saved]:
        """The text, the first time it is saved."""
        if name in self._shown or not text:
            return []
        self._shown.add(name)
        return [msgspec.structs.replace(self._item(session, name, kind), text=text)]

    def _item(self, session: str, name: str, kind: ItemKind) -> TranscriptItem:
        parent = None if session == self._root else self._root
        return TranscriptItem(id=name, session=session, parent_session=parent, kind=kind)
