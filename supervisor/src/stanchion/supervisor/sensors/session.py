"""Feeds what a harness saved to its adapter's reader, and tells the result as events and evidence.

A reader that raises is a bug of ours, told once; the run goes on without it.
"""

from collections.abc import Callable, Sequence

from stanchion.harness_adapters.base import Saved, SessionReader, TaskListSaved
from stanchion.protocol.events import (
    Event,
    StepSaved,
    TaskListChanged,
    TranscriptChanged,
    Warned,
)
from stanchion.protocol.evidence import SessionEnd, SessionState
from stanchion.protocol.transcript import ItemKind, TranscriptItem
from stanchion.supervisor.evidence import Evidence, Step, ToolFailed


class Session:
    """The harness's own record, as it grows."""

    def __init__(
        self,
        reader: SessionReader,
        publish: Callable[[Event], None],
        observe: Callable[[Evidence], None],
    ) -> None:
        self._reader = reader
        self._publish = publish
        self._observe = observe
        self._warned = False

    def rows(self, rows: Sequence[Sequence[object]]) -> None:
        self._read(lambda: self._reader.rows(rows))

    def line(self, line: bytes) -> None:
        self._read(lambda: self._reader.output(line))

    def end(self) -> SessionEnd:
        """How it stands now."""
        try:
            return self._reader.end()
        except Exception as error:  # noqa: BLE001 - observing must never end the run
            self._warn(error)
            return SessionEnd(state=SessionState.UNKNOWN, detail="the reader failed")

    def _read(self, read: Callable[[], list[Saved]]) -> None:
        try:
            saved = read()
        except Exception as error:  # noqa: BLE001 - observing must never end the run
            self._warn(error)
            return
        for item in saved:
            self._tell(item)

    def _tell(self, saved: Saved) -> None:
        match saved:
            case StepSaved(session=session, reason=reason, counts=counts):
                self._publish(saved)
                self._observe(Step(session=session, reason=reason, counts=counts))
            case TaskListSaved(session=session, items=items):
                self._publish(TaskListChanged(session=session, items=items))
            case TranscriptItem():
                self._publish(TranscriptChanged(item=saved))
                if failed := failed_tool(saved):
                    self._observe(failed)

    def _warn(self, error: Exception) -> None:
        if not self._warned:
            self._warned = True
            detail = f"{type(error).__name__}: {error}"
            self._publish(Warned(what="session_reader", detail=detail))


def failed_tool(item: TranscriptItem) -> ToolFailed | None:
    """The item as evidence, where it is a tool call that ended in an error."""
    if item.kind is not ItemKind.TOOL or item.tool is None or item.tool.status != "error":
        return None
    return ToolFailed(item=item.id, call=f"{item.tool.name}\0{item.tool.arguments}")
