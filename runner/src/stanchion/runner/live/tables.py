"""Several attempts as rows: `stanchion ps` and `stanchion vitals`. Draws only."""

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table

from stanchion.protocol.admin import RunView
from stanchion.protocol.overview import AttemptVitals
from stanchion.protocol.vitals import Vitals
from stanchion.runner.live.amounts import UNKNOWN, count, duration, size
from stanchion.runner.live.plain_text import one_line

NAME_WIDTH = 32
ID_WIDTH = 14
OFF_TERMINAL_WIDTH = 1000


def _table(*columns: str) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
    for column in columns:
        width = ID_WIDTH if column == "RUN" else None  # where room is short, ids stay whole
        table.add_column(column, no_wrap=True, min_width=width)
    return table


def table_console() -> Console:
    """Standard output; off a terminal no row is ever cut."""
    console = Console()
    return console if console.is_terminal else Console(width=OFF_TERMINAL_WIDTH)


def runs_table(views: Sequence[RunView], *, now_ms: int) -> Table:
    """One row an attempt."""
    table = _table("RUN", "TASK", "HARNESS", "MODEL", "STATE", "AGE", "REQUESTS", "SCORE")
    for view in views:
        spec = view.launch.spec
        table.add_row(
            view.id,
            one_line(spec.task.name, NAME_WIDTH),
            f"{spec.harness.name} {spec.harness.version}",
            one_line(f"{spec.model.account}/{spec.model.id}", NAME_WIDTH),
            state_word(view),
            duration(now_ms - view.opened_at_ms),
            str(view.exchanges),
            _score(view),
        )
    return table


def state_word(view: RunView) -> str:
    """`running`, or how it ended."""
    if view.state == "open":
        return "running"
    return str(view.outcome.reason) if view.outcome else UNKNOWN


def _score(view: RunView) -> str:
    if view.score is None:
        return ""
    return "withheld" if view.score.value is None else f"{view.score.value:g}"


def vitals_table(attempts: Sequence[AttemptVitals], *, now_ms: int) -> Table:
    """One row an attempt: where it is, when it last moved on, what it uses."""
    table = _table(
        "RUN", "TASK", "STAGE", "PROGRESS", "LIFE", "STEPS", "REQUESTS", "HELD", "CPU", "RSS"
    )  # fmt: skip
    for one in attempts:
        vitals = one.vitals or Vitals()
        table.add_row(
            one.id,
            one_line(one.task, NAME_WIDTH),
            stage_word(one),
            _ago(vitals.progress_age_ms, one, now_ms),
            _ago(vitals.liveness_age_ms, one, now_ms),
            count(vitals.steps),
            count(vitals.requests),
            duration(vitals.held_ms),
            duration(vitals.cpu_ms),
            size(vitals.rss_bytes),
        )
    return table


def stage_word(one: AttemptVitals) -> str:
    """Where it is: a stage, that it waits, or how it ended."""
    if one.state != "open":
        return f"ended {one.reason or UNKNOWN}"
    if one.vitals is not None and one.vitals.waiting:
        return f"{one.stage or 'opened'} (waiting)"
    cut = " (not connected)" if one.connected is False and one.stage is not None else ""
    return f"{one.stage or 'opened'}{cut}"


def _ago(age_ms: int | None, one: AttemptVitals, now_ms: int) -> str:
    if age_ms is None or one.vitals_at_ms is None:
        return "none"
    return f"{duration(age_ms + max(0, now_ms - one.vitals_at_ms))} ago"
