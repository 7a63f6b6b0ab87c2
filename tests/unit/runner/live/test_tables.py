"""Attempts as rows."""

import io

from rich.console import Console, RenderableType
from tests.fakes.views import OPENED_AT_MS, a_closed_view, a_view

from stanchion.protocol.events import Stage
from stanchion.protocol.outcome import EndReason, Score
from stanchion.protocol.overview import AttemptVitals
from stanchion.protocol.vitals import Vitals
from stanchion.runner.live.tables import runs_table, stage_word, table_console, vitals_table

NOW_MS = OPENED_AT_MS + 12_000


def text(table: RenderableType, width: int = 300) -> str:
    output = io.StringIO()
    Console(file=output, width=width).print(table)
    return output.getvalue()


def test_open_and_ended_attempts_say_how_they_are() -> None:
    dead = a_closed_view("aaaaaaaaaaaa.1", EndReason.OOM, score=Score(value=None, why="x"))
    lines = text(runs_table([a_view(), a_closed_view(), dead], now_ms=NOW_MS)).splitlines()

    assert lines[1].split() == [
        *("7f3a90c41b22.1", "fix-bug", "opencode", "1.18.33", "vllm/Qwen/Qwen3"),
        *("running", "12", "s", "3"),
    ]
    assert lines[2].split()[5:] == ["completed", "12", "s", "3", "1"]
    assert lines[3].split()[5:] == ["oom", "12", "s", "3", "withheld"]


def test_where_room_is_short_ids_stay_whole() -> None:
    assert "7f3a90c41b22.1" in text(runs_table([a_view()], now_ms=NOW_MS), width=60)


def an_attempt(**fields: object) -> AttemptVitals:
    told: dict[str, object] = {"id": "7f3a90c41b22.1", "task": "hello", "state": "open"}
    return AttemptVitals(**(told | fields))  # type: ignore[arg-type]


def test_vitals_show_what_is_known_and_say_what_is_not() -> None:
    known = an_attempt(
        stage=Stage.AGENT,
        vitals=Vitals(progress_age_ms=2_000, steps=4, requests=5, cpu_ms=61_000),
        vitals_at_ms=NOW_MS - 1_000,
    )
    lines = text(vitals_table([known, an_attempt()], now_ms=NOW_MS)).splitlines()

    assert "agent" in lines[1]
    assert "3.0 s ago" in lines[1]
    assert "1 min 01 s" in lines[1]
    assert lines[2].split()[2:5] == ["opened", "none", "none"]
    assert lines[2].count("unknown") == 5


def test_the_word_for_where_it_is() -> None:
    waiting = an_attempt(stage=Stage.AGENT, vitals=Vitals(waiting=True))
    cut = an_attempt(stage=Stage.AGENT, connected=False)
    ended = an_attempt(state="closed", reason=EndReason.COMPLETED)

    assert [stage_word(one) for one in (waiting, cut, ended)] == [
        "agent (waiting)",
        "agent (not connected)",
        "ended completed",
    ]


def test_off_a_terminal_no_row_is_cut() -> None:
    assert table_console().width >= 500
