"""One screen for all attempts of a job, on standard error.

On a terminal a table that is drawn again: a row for each attempt that runs, then the totals.
Elsewhere one plain line for each that ends. Shows what comes and decides nothing.
"""

from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from stanchion.protocol.events import Event, Unknown
from stanchion.protocol.result import AttemptResult
from stanchion.runner.jobs.on_disk import Found
from stanchion.runner.jobs.plan import Key
from stanchion.runner.live.amounts import UNKNOWN, duration
from stanchion.runner.live.board import Board
from stanchion.runner.live.plain_text import one_line
from stanchion.runner.results.result_text import score_text
from stanchion.runner.results.summary import Summary
from stanchion.runner.screen.region import Region, wall_ms

NAME_WIDTH = 32
COLUMNS = ("TASK", "ATTEMPT", "STAGE", "RUNS", "RESPONSES", "LAST PROGRESS", "HELD")
OTHER_LINES = 4
"""Of the screen: headings, totals, and one that says how many rows are left out."""


class JobView(Region):
    """A console that is told what happens to a job."""

    def __init__(self, console: Console, *, planned: int, lines: bool, on_screen: bool) -> None:
        super().__init__(console, on_screen=on_screen)
        self._planned = planned
        self._lines = lines
        self._boards: dict[Key, Board] = {}
        self._over: set[Key] = set()
        self._summary: Summary | None = None

    def say(self, text: str) -> None:
        """One line."""
        if self._lines:
            self._console.print(text, markup=False, highlight=False, soft_wrap=True)

    def show(self, key: Key, event: Event | Unknown) -> None:
        """An event of an attempt that runs."""
        with self._lock:
            if key not in self._over:  # its last events may come after its result
                self._boards.setdefault(key, Board()).take(event, wall_ms())

    def ended(self, found: Found, summary: Summary) -> None:
        """Its row goes, its line stays."""
        with self._lock:
            self._boards.pop(found.key, None)
            self._over.add(found.key)
            self._summary = summary
        if found.result is not None:
            self.say(ending_line(found.key, found.result, summary))

    def _draw(self) -> RenderableType:
        with self._lock:
            rows = max(1, self._console.size.height - OTHER_LINES)
            boards = sorted(self._boards.items())
            shown = Group(job_table(boards[:rows], now_ms=wall_ms()))
            if len(boards) > rows:
                shown.renderables.append(Text(f"and {len(boards) - rows} more that run"))
            shown.renderables.append(Text(self._totals(), style="bold"))
            return shown

    def _totals(self) -> str:
        if self._summary is None:
            return f"0 of {self._planned} ended"
        return totals_line(self._summary)


def job_table(boards: list[tuple[Key, Board]], *, now_ms: int) -> Table:
    """One row for each attempt that runs."""
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
    for column in COLUMNS:
        table.add_column(column, no_wrap=True)
    for (task, number), board in boards:
        age_ms = board.progress_age_ms(now_ms)
        table.add_row(
            Text(one_line(task, NAME_WIDTH)),
            str(number),
            str(board.stage or "starting"),
            duration(None if board.first_at_ms is None else now_ms - board.first_at_ms),
            str(board.responses),
            "none yet" if age_ms is None else f"{duration(age_ms)} ago",
            f"{len(board.held)} now" if board.held else "",
        )
    return table


def totals_line(summary: Summary) -> str:
    """Where the job stands."""
    withheld = sum(summary.withheld.values())
    mean = UNKNOWN if summary.mean_over_scored is None else f"{summary.mean_over_scored:.3f}"
    retried = sum(summary.retried.values())
    return (
        f"{summary.scored + withheld} of {summary.planned} ended · scored {summary.scored} · "
        f"withheld {withheld} · mean over scored {mean}"
        + (f" · retried {retried}" if retried else "")
    )


def ending_line(key: Key, result: AttemptResult, summary: Summary) -> str:
    """How one ended, and how many have."""
    total_s = result.stages.total_s
    took = UNKNOWN if total_s is None else f"{total_s:.1f} s"
    ended = summary.scored + sum(summary.withheld.values())
    return (
        f"{key[0]}__{key[1]}  {result.outcome.reason} · {score_text(result)} · {took}"
        f"  ({ended} of {summary.planned})"
    )
