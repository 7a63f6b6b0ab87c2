"""One screen for all attempts: rows on a terminal, a line an ending elsewhere."""

import io

from rich.console import Console
from tests.fakes.jobs import ended, there
from tests.fakes.results import a_result

from stanchion.protocol.events import (
    ExchangeEnded,
    ExchangeHeld,
    Stage,
    StageChanged,
    StageState,
    StepSaved,
)
from stanchion.protocol.exchange import Answered, ExchangeResult
from stanchion.protocol.outcome import EndReason
from stanchion.runner.jobs.on_disk import sum_up
from stanchion.runner.jobs.plan import State
from stanchion.runner.live.board import Board
from stanchion.runner.screen.job_view import JobView, job_table, totals_line

AGENT = StageChanged(stage=Stage.AGENT, state=StageState.STARTED)
ANSWER = ExchangeEnded(
    exchange=1, answered=Answered(result=ExchangeResult.COMPLETED, text_present=True)
)


def console(*, terminal: bool) -> tuple[Console, io.StringIO]:
    out = io.StringIO()
    return Console(file=out, force_terminal=terminal, width=120, height=10, color_system=None), out


def test_off_a_terminal_each_ending_is_one_line() -> None:
    where, out = console(terminal=False)
    dead = ended(2, a_result(EndReason.OOM, attempt=2, score=None, reward=None))
    with JobView(where, planned=3, lines=True, on_screen=True) as view:
        view.show(("hello", 1), AGENT)
        view.ended(ended(1), sum_up([ended(1)], {"hello": 3}))
        view.ended(dead, sum_up([ended(1), dead], {"hello": 3}))

    assert out.getvalue().splitlines() == [
        "hello__1  completed · score 1 · 5.2 s  (1 of 3)",
        "hello__2  oom · score WITHHELD (graded) · 5.2 s  (2 of 3)",
    ]


def test_nothing_is_said_where_nobody_wants_lines() -> None:
    where, out = console(terminal=False)
    with JobView(where, planned=1, lines=False, on_screen=False) as view:
        view.say("x")
        view.ended(ended(1), sum_up([ended(1)], {"hello": 1}))

    assert out.getvalue() == ""


def test_on_a_terminal_what_runs_is_a_row_and_what_ended_is_none() -> None:
    where, out = console(terminal=True)
    with JobView(where, planned=12, lines=True, on_screen=True) as view:
        for number in range(1, 9):
            view.show(("hello", number), AGENT)
        view.show(("hello", 1), ANSWER)
        assert view._live is not None
        view._live.refresh()
        assert "0 of 12 ended" in out.getvalue()
        assert "and 2 more that run" in out.getvalue()
        view.ended(ended(1), sum_up([ended(1), there(2, State.RUNNING)], {"hello": 12}))
        view.show(("hello", 1), AGENT)
        out.truncate(0)
        view._live.refresh()

    assert "and 1 more that run" in out.getvalue()
    assert "1 of 12 ended · scored 1 · withheld 0 · mean over scored 1.000" in out.getvalue()


def test_a_row_says_where_an_attempt_is() -> None:
    where, out = console(terminal=False)
    board, fresh = Board(), Board()
    saved = StepSaved(session="s", id="1", reason="stop", counts=True)
    for event in (AGENT, ANSWER, saved, ExchangeHeld(exchange=2, holding=True)):
        board.take(event, 1_000)
    where.print(job_table([(("hello", 1), board), (("b", 2), fresh)], now_ms=3_000))
    _, first, second = out.getvalue().splitlines()

    assert first.split() == ["hello", "1", "agent", "2.0", "s", "1", "2.0", "s", "ago", "1", "now"]
    assert second.split() == ["b", "2", "starting", "unknown", "0", "none", "yet"]


def test_retries_are_counted_in_the_totals() -> None:
    dead = ended(1, a_result(EndReason.OOM, attempt=1, score=None))

    assert totals_line(sum_up([dead, ended(4, retry_of=1)], {"hello": 3})) == (
        "1 of 3 ended · scored 1 · withheld 0 · mean over scored 1.000 · retried 1"
    )
