"""What a person sees while an attempt runs."""

import io

from rich.console import Console

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
from stanchion.protocol.evidence import Stop, StopReason
from stanchion.protocol.exchange import Answered, ExchangeResult, Mismatch
from stanchion.runner.screen.live_view import LiveView

ANSWER = Answered(result=ExchangeResult.COMPLETED, text_present=True)
REFUSED = Answered(result=ExchangeResult.PROVIDER_ERROR, error_words="overloaded")


def shown(*events: Event | Unknown, lines: bool = True, terminal: bool = False) -> str:
    output = io.StringIO()
    console = Console(file=output, width=200, force_terminal=terminal)
    with LiveView(console, lines=lines, spinner=terminal) as view:
        for event in events:
            view.show(event)
    return output.getvalue()


def test_a_stage_is_one_plain_line() -> None:
    text = shown(
        StageChanged(stage=Stage.AGENT, state=StageState.STARTED),
        ExchangeEnded(exchange=1, answered=ANSWER),
        ExchangeEnded(exchange=2, answered=ANSWER, side="title"),
        StageChanged(stage=Stage.AGENT, state=StageState.COMPLETE, duration_ms=1500),
        StageChanged(stage=Stage.LOAD, state=StageState.COMPLETE, duration_ms=1),
    )

    assert text == "agent     the agent works · 1 model response 1.50 s\n"


def test_trouble_is_shown_as_it_comes() -> None:
    text = shown(
        StageChanged(stage=Stage.GATE, state=StageState.FAILED, detail="no limit"),
        ExchangeEnded(exchange=2, answered=REFUSED),
        MismatchFound(
            mismatch=Mismatch(exchange=3, field="effort", declared="max", observed="low")
        ),
        Stopping(stop=Stop(reason=StopReason.MISMATCH, detail="differs")),
        Warned(what="tail", detail="lost [it]"),
        Unknown(type="new", raw=b"{}"),
    ).splitlines()

    assert text == [
        "gate      FAILED no limit",
        "agent     request 2: overloaded",
        "agent     MISMATCH in request 3: effort declared max, on the wire low",
        "agent     stopped: differs",
        "warning   tail: lost [it]",
    ]


def test_without_lines_nothing_is_printed() -> None:
    assert shown(Warned(what="tail", detail="lost"), lines=False) == ""


def test_a_terminal_sees_the_current_stage() -> None:
    text = shown(
        StageChanged(stage=Stage.VERIFY, state=StageState.STARTED), lines=False, terminal=True
    )

    assert "▶ verify" in text


def test_a_second_attempt_starts_with_an_empty_screen() -> None:
    text = shown(
        StageChanged(stage=Stage.VERIFY, state=StageState.STARTED),
        RunOpened(spec_sha256="a" * 64),
        StageChanged(stage=Stage.LOAD, state=StageState.STARTED),
        lines=False,
        terminal=True,
    )

    assert "load" in text
    assert "verify" not in text.rpartition("load")[0].rpartition("\x1b[2K")[2]


def test_words_of_others_cannot_steer_the_terminal() -> None:
    assert "\x1b" not in shown(Warned(what="tail", detail="\x1b[2Jgone"))
