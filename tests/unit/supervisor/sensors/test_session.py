from collections.abc import Sequence

from stanchion.harness_adapters.base import Saved, TaskListSaved
from stanchion.protocol.events import (
    Event,
    StepSaved,
    TaskListChanged,
    TranscriptChanged,
    Warned,
)
from stanchion.protocol.evidence import SessionEnd, SessionState
from stanchion.protocol.transcript import ItemKind, ToolUse, TranscriptItem
from stanchion.supervisor.evidence import Evidence, Step, ToolFailed
from stanchion.supervisor.sensors.session import Session, failed_tool


class Reader:
    """Gives back what it was made with."""

    def __init__(self, *saved: Saved, broken: bool = False) -> None:
        self._saved = list(saved)
        self._broken = broken

    def rows(self, rows: Sequence[Sequence[object]]) -> list[Saved]:
        del rows
        return self.output(b"")

    def output(self, line: bytes) -> list[Saved]:
        del line
        if self._broken:
            raise KeyError("bug")
        return self._saved

    def end(self) -> SessionEnd:
        if self._broken:
            raise KeyError("bug")
        return SessionEnd(state=SessionState.GOOD)


def tool(status: str, name: str = "bash") -> TranscriptItem:
    use = ToolUse(name=name, status=status, arguments='{"a": 1}')
    return TranscriptItem(id="i", session="s", kind=ItemKind.TOOL, tool=use)


def session(reader: Reader) -> tuple[Session, list[Event], list[Evidence]]:
    events: list[Event] = []
    evidence: list[Evidence] = []
    return Session(reader, events.append, evidence.append), events, evidence


def test_what_was_saved_is_told_and_a_step_is_evidence() -> None:
    step = StepSaved(session="s", id="1", reason="stop", counts=True)
    text = TranscriptItem(id="2", session="s", kind=ItemKind.TEXT, text="t")
    read, events, evidence = session(Reader(step, text, TaskListSaved("s", ())))
    read.rows([(1,)])
    assert events == [
        step,
        TranscriptChanged(item=text),
        TaskListChanged(session="s", items=()),
    ]
    assert evidence == [Step(session="s", reason="stop", counts=True)]


def test_only_a_tool_call_in_error_is_evidence_of_failing() -> None:
    assert failed_tool(tool("error")) == ToolFailed(item="i", call='bash\0{"a": 1}')
    assert failed_tool(tool("completed")) is None
    assert failed_tool(TranscriptItem(id="i", session="s", kind=ItemKind.TEXT)) is None
    read, _, evidence = session(Reader(tool("error")))
    read.line(b"x")
    assert evidence == [ToolFailed(item="i", call='bash\0{"a": 1}')]


def test_a_reader_that_raises_is_told_once_and_the_end_is_unknown() -> None:
    read, events, _ = session(Reader(broken=True))
    read.rows([])
    read.line(b"")
    assert read.end().state is SessionState.UNKNOWN
    assert [type(event) for event in events] == [Warned]


def test_the_end_is_the_reader_s_word() -> None:
    read, _, _ = session(Reader())
    assert read.end() == SessionEnd(state=SessionState.GOOD)
