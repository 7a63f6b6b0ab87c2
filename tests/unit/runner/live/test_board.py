"""One attempt as its events tell it."""

from tests.fakes.receipts import asked
from tests.fakes.views import a_closed_view

from stanchion.protocol.events import (
    ExchangeEnded,
    ExchangeHeld,
    ExchangeStarted,
    MismatchFound,
    RunClosed,
    Stage,
    StageChanged,
    StageState,
    StepSaved,
    Stopping,
    TaskListChanged,
    TranscriptChanged,
    Unknown,
    VitalsSampled,
    Warned,
)
from stanchion.protocol.evidence import Stop, StopReason
from stanchion.protocol.exchange import Answered, ExchangeResult, Mismatch
from stanchion.protocol.outcome import EndReason, Grade, Graded, Score
from stanchion.protocol.transcript import ItemKind, TaskListItem, TranscriptItem
from stanchion.protocol.vitals import Vitals
from stanchion.runner.live.board import TAIL, Board


def a_stage(stage: Stage, state: StageState, **fields: object) -> StageChanged:
    return StageChanged(stage=stage, state=state, **fields)  # type: ignore[arg-type]


def test_the_stage_that_runs_is_where_it_is() -> None:
    board = Board()
    assert board.stage is None
    board.take(a_stage(Stage.GATE, StageState.STARTED), 1)
    board.take(a_stage(Stage.GATE, StageState.COMPLETE, duration_ms=4), 5)
    assert board.stage is Stage.GATE
    board.take(a_stage(Stage.AGENT, StageState.STARTED), 6)

    assert board.stage is Stage.AGENT
    assert board.stages[Stage.GATE].duration_ms == 4
    assert board.stages[Stage.AGENT].since_ms == 6


def test_the_sandbox_is_up_once_something_runs_in_it() -> None:
    board = Board()
    board.take(a_stage(Stage.SANDBOX, StageState.STARTED), 100)
    board.take(a_stage(Stage.LOAD, StageState.STARTED), 1_000)

    assert board.stages[Stage.SANDBOX].state is StageState.COMPLETE
    assert board.stages[Stage.SANDBOX].duration_ms == 900


def test_progress_is_a_saved_step_that_counts() -> None:
    board = Board()
    assert board.progress_age_ms(10) is None
    board.take(StepSaved(session="s", id="1", reason="stop", counts=False), 10)
    assert board.progress_age_ms(20) is None
    board.take(StepSaved(session="s", id="2", reason="stop", counts=True), 30)

    assert (board.progress_age_ms(1_030), board.steps) == (1_000, 1)


def test_ages_of_a_sample_grow_with_the_clock() -> None:
    board = Board()
    board.take(VitalsSampled(vitals=Vitals(progress_age_ms=5, liveness_age_ms=7)), 100)

    assert (board.progress_age_ms(200), board.liveness_age_ms(200)) == (105, 107)
    board.take(VitalsSampled(vitals=Vitals()), 300)
    assert (board.progress_age_ms(400), board.liveness_age_ms(400)) == (None, None)


def test_requests_are_counted_from_the_wire() -> None:
    board = Board()
    good = Answered(result=ExchangeResult.COMPLETED, text_present=True)
    bad = Answered(result=ExchangeResult.PROVIDER_ERROR, error_words="overloaded")
    for number in (1, 2, 3):
        board.take(ExchangeStarted(exchange=number, asked=asked()), 1)
    board.take(ExchangeHeld(exchange=3, holding=True), 2)
    board.take(ExchangeEnded(exchange=1, answered=good), 3)
    board.take(ExchangeEnded(exchange=2, answered=bad), 4)
    board.take(ExchangeEnded(exchange=9, answered=good, side="title"), 4)

    assert (board.requests, board.responses) == (3, 1)
    assert (board.in_flight, board.held) == ({3}, {3})
    assert list(board.notes) == ["request 2: overloaded"]
    board.take(ExchangeHeld(exchange=3, holding=False), 5)
    assert board.held == set()


def test_trouble_is_kept_as_notes() -> None:
    board = Board()
    board.take(a_stage(Stage.GATE, StageState.FAILED, detail="no limit"), 1)
    mismatch = Mismatch(exchange=2, field="effort", declared="max", observed="low")
    board.take(MismatchFound(mismatch=mismatch), 2)
    board.take(Stopping(stop=Stop(reason=StopReason.CANCELLED, detail="asked")), 3)
    board.take(Warned(what="store", detail="gone"), 4)
    board.take(Unknown(type="new", raw=b"{}"), 5)

    assert list(board.notes) == [
        "stage gate failed: no limit",
        "MISMATCH in request 2: effort declared max, on the wire low",
        "stopping: asked",
        "store: gone",
    ]


def test_the_transcripts_tail_and_the_newest_list_are_kept() -> None:
    board = Board()
    for number in range(TAIL + 3):
        item = TranscriptItem(id=str(number), session="s", kind=ItemKind.TEXT, text=str(number))
        board.take(TranscriptChanged(item=item), number)
    for status in ("pending", "completed"):
        task = TaskListItem(content="look", status=status)
        board.take(TaskListChanged(session="s", items=(task,)), 99)

    assert board.tail[0].text == "3"
    assert board.tasks[0].status == "completed"


def test_the_end_is_told() -> None:
    board = Board()
    outcome = a_closed_view(reason=EndReason.COMPLETED).outcome
    assert outcome is not None
    graded, score = Graded(grade=Grade.GRADED), Score(value=1.0)
    board.take(RunClosed(outcome=outcome, graded=graded, score=score, head="h"), 9)

    assert board.closed is not None
    assert board.first_at_ms == 9
