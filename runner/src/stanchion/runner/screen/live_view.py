"""What a person sees while an attempt runs, on standard error.

On a terminal a screen that is drawn again: stages, progress, vitals, tasks, the transcript's tail;
what must not be missed is also printed above it and stays. Elsewhere one plain line a stage. Shows
events as they come and decides nothing.
"""

from collections.abc import Callable

from rich.console import Console, RenderableType

from stanchion.protocol.events import (
    Event,
    ExchangeEnded,
    MismatchFound,
    RunOpened,
    Stage,
    StageChanged,
    StageState,
    Stopping,
    Unknown,
    Warned,
)
from stanchion.runner.live.board import Board
from stanchion.runner.live.plain_text import plain
from stanchion.runner.live.screen import draw
from stanchion.runner.screen.region import Region, wall_ms

Say = Callable[[str], None]
FIXED_LINES = 18
"""Of the screen, without the transcript's tail."""
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


class LiveView(Region):
    """A console that is told what happens."""

    def __init__(self, console: Console, *, lines: bool, spinner: bool) -> None:
        super().__init__(console, on_screen=spinner)
        self.title = ""
        """Of the attempt; set by whoever knows it."""
        self._lines = lines
        self._board = Board()
        self._responses = 0

    def _draw(self) -> RenderableType:
        width, height = self._console.size
        with self._lock:
            if self._board.first_at_ms is None:
                return ""
            tail = max(0, height - FIXED_LINES)
            return draw(self._board, self.title, now_ms=wall_ms(), width=width, tail=tail)

    def say(self, text: str) -> None:
        """One line."""
        if self._lines:
            self._console.print(plain(text), markup=False, highlight=False)

    def show(self, event: Event | Unknown, at_ms: int | None = None) -> None:
        """What an event means to a person, if anything. `at_ms`: when it was, if not now."""
        with self._lock:
            if isinstance(event, RunOpened):
                self._board = Board()
            self._board.take(event, wall_ms() if at_ms is None else at_ms)
        match event:
            case StageChanged(stage=stage, state=StageState.COMPLETE, duration_ms=duration):
                self._done(stage, duration)
            case StageChanged(stage=stage, state=StageState.FAILED, detail=detail):
                self.say(f"{stage:<9} FAILED {detail or ''}")
            case ExchangeEnded(exchange=exchange, answered=answered, side=side):
                self._responses += side is None and answered.has_content
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

    def _done(self, stage: Stage, duration_ms: int | None) -> None:
        if stage not in DOING or self._on_screen:
            return
        took = "" if duration_ms is None else f" {duration_ms / 1000:.2f} s"
        responses = self._counted() if stage is Stage.AGENT else ""
        self.say(f"{stage:<9} {DOING[stage]}{responses}{took}")
