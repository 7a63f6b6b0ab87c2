"""A board as lines that fit."""

import io

from rich.console import Console
from tests.fakes.receipts import frozen_launch

from stanchion.protocol.events import Stage, StageState
from stanchion.protocol.transcript import ItemKind, TaskListItem
from stanchion.protocol.vitals import Vitals
from stanchion.runner.live.board import Board, StageSeen
from stanchion.runner.live.screen import attempt_title, draw
from stanchion.runner.live.transcript_lines import Entry


def drawn(board: Board, *, width: int = 100, tail: int = 5) -> list[str]:
    output = io.StringIO()
    Console(file=output, width=width).print(
        draw(board, "hello · run 7f3a", now_ms=10_000, width=width, tail=tail)
    )
    return output.getvalue().splitlines()


def a_board() -> Board:
    board = Board(
        vitals=Vitals(processes=3, cpu_ms=6_100, rss_bytes=412_000_000, held_ms=0, steps=4),
        vitals_at_ms=9_000,
        progress_at_ms=8_000,
        steps=4,
        requests=5,
        responses=4,
    )
    board.stages[Stage.SANDBOX] = StageSeen(StageState.COMPLETE, 0, 900)
    board.stages[Stage.AGENT] = StageSeen(StageState.STARTED, 3_000)
    board.stages[Stage.GATE] = StageSeen(StageState.FAILED, 1, 1)
    return board


def test_everything_that_a_person_asks_is_there() -> None:
    board = a_board()
    board.in_flight.add(5)
    board.held.add(5)
    lines = drawn(board)

    assert lines[0] == "hello · run 7f3a"
    assert "✓ sandbox" in lines[1]
    assert "▶ agent 7.0 s" in lines[1]
    assert "✗ gate" in lines[1]
    assert "2.0 s ago" in lines[2]
    assert "WAITING" in lines[2]
    assert "5 requests · 4 responses with content · 1 in flight · held 0.0 s" in lines[3]
    assert "cpu 6.1 s · rss 412 MB · 3 processes · supervisor unknown" in lines[4]


def test_before_anything_is_known_nothing_is_made_up() -> None:
    text = "\n".join(drawn(Board()))

    assert "not started" in text
    assert "progress  none yet · life none yet" in text
    assert "vitals    unknown" in text


def test_the_list_is_shown_around_what_is_being_done() -> None:
    board = a_board()
    board.tasks = tuple(
        TaskListItem(content=f"do {n}", status="completed" if n < 9 else "in_progress")
        for n in range(10)
    )
    lines = [line for line in drawn(board) if "do " in line]

    assert len(lines) == 6
    assert lines[-1].strip() == "▶ do 9"
    assert lines[0].startswith("tasks     ✓ do 4")


def test_no_line_is_wider_than_the_terminal() -> None:
    board = a_board()
    board.notes.append("a note that is much longer than forty columns can ever be shown")
    board.tail.append(Entry(at_ms=1, label="text", kind=ItemKind.TEXT, text="word " * 50))

    assert max(len(line) for line in drawn(board, width=40)) <= 40


def test_markup_in_an_agents_words_is_only_words() -> None:
    board = a_board()
    board.tail.append(Entry(at_ms=1, label="text", kind=ItemKind.TEXT, text="[bold]x[/bold]"))

    assert drawn(board)[-1].endswith("[bold]x[/bold]")


def test_the_title_says_what_runs_where() -> None:
    assert attempt_title("7f3a90c41b22.1", frozen_launch().spec) == (
        "fix-bug · opencode 1.18.33 · vllm/Qwen/Qwen3 · effort max · run 7f3a90c41b22.1"
    )
