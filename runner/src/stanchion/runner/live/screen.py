"""A board as a terminal shows it, in lines that fit: stages, progress, vitals, tasks, transcript.

Draws only. Words of the sandbox come here plain already; nothing is read as markup.
"""

from rich.console import Group, RenderableType
from rich.rule import Rule
from rich.text import Text

from stanchion.protocol.events import Stage, StageState
from stanchion.protocol.launch import LaunchSpec
from stanchion.protocol.transcript import ItemKind
from stanchion.runner.live.amounts import UNKNOWN, count, duration, size
from stanchion.runner.live.board import Board
from stanchion.runner.live.plain_text import one_line
from stanchion.runner.live.transcript_lines import Entry

LABEL = 10
TASKS = 6
MARKS = {
    StageState.STARTED: ("▶", "bold cyan"),
    StageState.COMPLETE: ("✓", "green"),
    StageState.FAILED: ("✗", "bold red"),
}
STYLES = {
    ItemKind.USER: "blue",
    ItemKind.REASONING: "dim italic",
    ItemKind.TOOL: "cyan",
    ItemKind.STEP_END: "dim",
    ItemKind.COMPACTION: "dim",
    ItemKind.ERROR: "red",
}
TASK_MARKS = {"completed": "✓", "in_progress": "▶", "cancelled": "✗"}


def attempt_title(attempt: str, spec: LaunchSpec) -> str:
    """Which attempt it is, in one line."""
    effort = f" · effort {spec.effort.word}" if spec.effort.word else ""
    return (
        f"{spec.task.name} · {spec.harness.name} {spec.harness.version} · "
        f"{spec.model.account}/{spec.model.id}{effort} · run {attempt}"
    )


def draw(board: Board, title: str, *, now_ms: int, width: int, tail: int) -> RenderableType:
    """Everything, with so many lines of the transcript at most."""
    room = max(20, width - LABEL - 1)
    lines: list[RenderableType] = [
        Text(one_line(title, width), style="bold", no_wrap=True),
        _row("stages", stages_line(board, now_ms)),
        _row("progress", Text(progress_line(board, now_ms))),
        _row("wire", Text(wire_line(board))),
        _row("vitals", Text(vitals_line(board))),
    ]
    lines += [_row("tasks" if not at else "", line) for at, line in enumerate(_tasks(board, room))]
    lines += [
        _row("note", Text(one_line(note, room), style="yellow")) for note in list(board.notes)[-3:]
    ]
    lines.append(Rule("transcript", style="dim", align="left"))
    entries = list(board.tail)[-tail:] if tail else []
    lines += [entry_line(entry, width) for entry in entries]
    return Group(*lines)


def _row(label: str, content: Text) -> Text:
    row = Text(f"{label:<{LABEL}}", style="dim", no_wrap=True, overflow="ellipsis")
    row.append_text(content)
    return row


def stages_line(board: Board, now_ms: int) -> Text:
    """Each stage with its mark; how long it took, or runs."""
    line = Text()
    for stage in Stage:
        seen = board.stages.get(stage)
        if seen is None:
            continue
        mark, style = MARKS[seen.state]
        running = seen.state is StageState.STARTED
        took = now_ms - seen.since_ms if running else seen.duration_ms
        shown = f" {duration(took)}" if took is not None and (running or took >= 1000) else ""
        line.append(f"{mark} {stage}{shown}  ", style=style)
    return line or Text("not started")


def progress_line(board: Board, now_ms: int) -> str:
    """How long ago it moved on and last showed life."""
    parts = [
        _ago(board.progress_age_ms(now_ms)),
        f"life {_ago(board.liveness_age_ms(now_ms))}",
        f"{board.steps} steps",
    ]
    if board.held:
        parts.append("WAITING: the broker holds a request")
    return " · ".join(parts)


def _ago(age_ms: int | None) -> str:
    return "none yet" if age_ms is None else f"{duration(age_ms)} ago"


def wire_line(board: Board) -> str:
    """Requests as the broker saw them."""
    held = board.vitals.held_ms if board.vitals else None
    flying = f" · {len(board.in_flight)} in flight" if board.in_flight else ""
    return (
        f"{board.requests} requests · {board.responses} responses with content{flying} · "
        f"held {duration(held)}"
    )


def vitals_line(board: Board) -> str:
    """The gauges of the last sample."""
    vitals = board.vitals
    if vitals is None:
        return UNKNOWN
    return (
        f"cpu {duration(vitals.cpu_ms)} · rss {size(vitals.rss_bytes)} · "
        f"{count(vitals.processes)} processes · supervisor {size(vitals.supervisor_rss_bytes)}"
    )


def _tasks(board: Board, room: int) -> list[Text]:
    """The agent's own list, around the line it works on."""
    items = board.tasks
    working = [at for at, item in enumerate(items) if item.status == "in_progress"]
    start = max(0, min((working[0] if working else 0) - 1, len(items) - TASKS))
    shown = []
    for item in items[start : start + TASKS]:
        style = "dim" if item.status == "completed" else ""
        mark = TASK_MARKS.get(item.status, "·")
        shown.append(Text(f"{mark} {one_line(item.content, room - 2)}", style=style))
    return shown


def entry_line(entry: Entry, width: int) -> Text:
    """One entry of the transcript in one line."""
    label = f"{one_line(entry.label, 15):<16}"
    text = one_line(entry.text, max(10, width - len(label)))
    return Text(label + text, style=STYLES.get(entry.kind, ""), no_wrap=True)
