"""What a person sees while an attempt runs: one line a stage, on standard error.

On a terminal the current stage is shown with a spinner; elsewhere plain lines. Shows events as they
come and decides nothing.
"""

from collections.abc import Callable
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.status import Status

from stanchion.protocol.events import (
    Event,
    ExchangeEnded,
    MismatchFound,
    Stage,
    StageChanged,
    StageState,
    Stopping,
    Unknown,
    Warned,
)

Say = Callable[[str], None]
DOING = {
    Stage.SANDBOX: "starting the sandbox",
    Stage.ENROL: "enrolling at the broker",
    Stage.GATE: "checking the launch",
    Stage.CONFIGURE: "writing and reading back the harness's configuration",
    Stage.SPAWN: "isolating and starting the harness",
    Stage.AGENT: "the agent works",
    Stage.FREEZE: "freezing the answers",
    Stage.VERIFY: "the task's tests run",
    Stage.CLASSIFY: "deciding how it ended",
}


class LiveView:
    """A console that is told what happens."""

    def __init__(self, console: Console, *, lines: bool, spinner: bool) -> None:
        self._console = console
        self._lines = lines
        self._spinner = spinner and console.is_terminal
        self._status: Status | None = None
        self._responses = 0

    def __enter__(self) -> Self:
        if self._spinner:
            self._status = self._console.status("")
            self._status.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._status is not None:
            self._status.stop()

    def say(self, text: str) -> None:
        """One line."""
        if self._lines:
            self._console.print(text, markup=False, highlight=False)

    def show(self, event: Event | Unknown) -> None:
        """What an event means to a person, if anything."""
        match event:
            case StageChanged(stage=stage, state=StageState.STARTED):
                self._now(DOING.get(stage, str(stage)))
            case StageChanged(stage=stage, state=StageState.COMPLETE, duration_ms=duration):
                self._done(stage, duration)
            case StageChanged(stage=stage, state=StageState.FAILED, detail=detail):
                self.say(f"{stage:<9} FAILED {detail or ''}")
            case ExchangeEnded(exchange=exchange, answered=answered):
                self._responses += answered.has_content
                self._now(f"{DOING[Stage.AGENT]}{self._counted()}")
                if not answered.has_content:
                    why = answered.error_words or answered.result
                    self.say(f"agent     request {exchange}: {why}")
            case MismatchFound(mismatch=found):
                self.say(
                    f"agent     MISMATCH in request {found.exchange}: {found.field} declared "
                    f"{found.declared}, on the wire {found.observed}"
                )
            case Stopping(stop=stop):
                self.say(f"agent     stopped: {stop.detail}")
            case Warned(what=what, detail=detail):
                self.say(f"warning   {what}: {detail}")
            case _:
                pass

    def _counted(self) -> str:
        return f" · {self._responses} model response{'' if self._responses == 1 else 's'}"

    def _now(self, text: str) -> None:
        if self._status is not None:
            self._status.update(text)

    def _done(self, stage: Stage, duration_ms: int | None) -> None:
        if stage not in DOING:
            return
        took = "" if duration_ms is None else f" {duration_ms / 1000:.2f} s"
        responses = self._counted() if stage is Stage.AGENT else ""
        self.say(f"{stage:<9} {DOING[stage]}{responses}{took}")
