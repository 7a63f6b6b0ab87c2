"""A cell is right only if every request was: what is not said, or not declared, is wrong."""

import dataclasses

import pytest

from stanchion.harness_adapters.base import Refuses
from stanchion.harness_adapters.opencode import OpenCode
from stanchion.harness_adapters.registry import adapter
from stanchion.protocol.dialects import Dialect
from stanchion.runner.harnesses.cells import Cell, Scenario
from stanchion.runner.harnesses.judging import (
    Judged,
    Verdict,
    judge,
    judge_failure,
    judge_refusal,
    shortcomings,
)
from stanchion.runner.harnesses.wire_reading import Request, Seen

CLAUDE = adapter("claude_code")
CELL = Cell(
    "claude_code", "1", Dialect.ANTHROPIC_MESSAGES, 128_000, "max", Scenario.AGAIN
)  # fmt: skip
GOOD = Request(limit=128_000, effort="max", field="max_tokens", stream=True)
RAISED = Request(
    limit=128_000, effort="max", field="max_tokens", stream=False, limit_asked=64_000,
    effort_asked="max", corrected=("max_tokens",),
)  # fmt: skip
SEEN = Seen(written_limit=128_000, written_effort="max", requests=(GOOD, RAISED), answered=1)


def changed(seen: Seen, **fields: object) -> Seen:
    return Seen(**{**{name: getattr(seen, name) for name in seen.__struct_fields__}, **fields})  # type: ignore[arg-type]  # names are the struct's own


def test_declared_on_every_request_is_right_and_a_declared_correction_is_shown() -> None:
    result = judge(CELL, CLAUDE, SEEN, "completed")

    assert (result.verdict, result.why) == (Verdict.RIGHT, None)
    assert (result.written, result.first, result.again) == ((128_000, "max"), GOOD, (RAISED,))


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"requests": (GOOD, Request(limit=64_000, effort="max", field="x"))}, "request 2 of 2"),
        ({"requests": (Request(limit=128_000, effort="high", field="x"),)}, "128000 high"),
        ({"requests": (Request(limit=None, effort="max", field=None),)}, "None max"),
        ({"requests": ()}, "made no request; the attempt ended as stopped"),
        ({"written_limit": 32_000}, "written 32000 max"),
        ({"written_effort": None}, "written 128000 None"),
        ({"trouble": "denied: path"}, "denied: path"),
    ],
)
def test_anything_else_is_wrong_and_said(fields: dict[str, object], words: str) -> None:
    result = judge(CELL, CLAUDE, changed(SEEN, **fields), "stopped")

    assert result.verdict is Verdict.WRONG
    assert result.why is not None
    assert words in result.why


def test_a_correction_that_nobody_declared_is_wrong() -> None:
    low = dataclasses.replace(CELL, limit=8_000)
    request = Request(limit=8_000, effort="max", field="max_tokens", corrected=("max_tokens",))
    seen = Seen(written_limit=8_000, written_effort="max", requests=(request,), answered=1)

    assert judge(low, CLAUDE, seen, "completed").why == (
        "request 1: max_tokens corrected without declaration; the attempt ended as completed"
    )


def test_a_plain_cell_needs_an_answer() -> None:
    plain = dataclasses.replace(CELL, scenario=Scenario.PLAIN)
    assert judge(plain, CLAUDE, changed(SEEN, answered=0), "x").verdict is Verdict.WRONG
    assert judge(plain, CLAUDE, SEEN, "x").verdict is Verdict.RIGHT


class Choosy(OpenCode):
    """OpenCode, if its package for Gemini had no word for the least effort."""

    refuses = (Refuses(dialect=Dialect.GEMINI, id="effort_unwritable", efforts=("low",), why="w"),)


def gemini(effort: str) -> Cell:
    return Cell("opencode", "1", Dialect.GEMINI, 200_000, effort, Scenario.PLAIN)


def test_a_refusal_is_right_where_declared_and_running_there_is_wrong() -> None:
    choosy = Choosy()
    assert judge_refusal(gemini("low"), choosy, "effort_unwritable").verdict is Verdict.REFUSED
    assert judge_refusal(gemini("low"), choosy, "other").verdict is Verdict.WRONG
    assert judge_refusal(gemini("high"), choosy, "effort_unwritable").verdict is Verdict.WRONG
    ran = judge(gemini("low"), choosy, SEEN, "completed")
    assert (ran.verdict, "although the adapter declares" in str(ran.why)) == (Verdict.WRONG, True)


def test_what_the_broker_writes_need_not_have_been_written_before() -> None:
    field = "generationConfig.thinkingConfig.thinkingLevel"
    request = Request(
        limit=200_000, effort="xhigh", field="maxOutputTokens", limit_asked=200_000,
        corrected=(field,),
    )  # fmt: skip
    seen = Seen(written_limit=200_000, written_effort=None, requests=(request,), answered=1)

    assert judge(gemini("xhigh"), OpenCode(), seen, "completed").verdict is Verdict.RIGHT
    assert judge(gemini("high"), OpenCode(), seen, "completed").verdict is Verdict.WRONG
    other = changed(seen, written_effort="high")
    assert judge(gemini("xhigh"), OpenCode(), other, "completed").verdict is Verdict.WRONG


def test_an_attempt_that_left_nothing_is_wrong() -> None:
    assert judge_failure(CELL, "no result").verdict is Verdict.WRONG


def test_the_whole_list_falls_short_where_too_much_is_refused_or_nothing_asks_again() -> None:
    right = Judged(cell="c", verdict=Verdict.RIGHT, first=GOOD, again=(GOOD,))
    refused = Judged(cell="c", verdict=Verdict.REFUSED, why="x")
    other = dataclasses.replace(CELL, harness="other")

    assert shortcomings([(CELL, right)] * 9 + [(other, refused)], whole=False) == []
    many = shortcomings([(CELL, right)] * 8 + [(other, refused)] * 2, whole=False)
    assert many == ["2 of 10 cells are refused, more than 15%"]
    (never,) = shortcomings([(CELL, right)] * 9 + [(CELL, refused)], whole=True)
    assert never.startswith("claude_code refuses ")
    assert "which it may never" in never
    high = dataclasses.replace(CELL, limit=200_000)
    assert shortcomings([(CELL, right)] * 9 + [(high, refused)], whole=True) == []
    once = Judged(cell="c", verdict=Verdict.RIGHT, first=GOOD)
    assert shortcomings([(CELL, once)], whole=True) == [
        "no cell of claude_code covers a retry or a fallback"
    ]
