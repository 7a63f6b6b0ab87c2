"""An attempt as the broker tells it, in the form of a result."""

from tests.fakes.receipts import Writing, closed, honest
from tests.fakes.views import OPENED_AT_MS, a_closed_view, a_view

from stanchion.protocol.codec import decode, encode
from stanchion.protocol.events import Stage, StageState
from stanchion.protocol.evidence import HostFacts
from stanchion.protocol.receipt import HostRecorded
from stanchion.protocol.result import AttemptResult, OpenAttempt
from stanchion.runner.keeper.recorder import Moments
from stanchion.runner.live.board import Board, StageSeen
from stanchion.runner.live.view_document import shown
from stanchion.runner.results.wire_picture import picture

NOW_MS = OPENED_AT_MS + 65_000


def test_a_closed_attempt_is_the_result_that_its_keeper_would_have_written() -> None:
    writing: Writing = honest()
    writing.add(HostRecorded, asserted_by="host", host=HostFacts(oom_kills=2))
    result = shown(a_closed_view(), Moments(), picture(writing.bundle()), Board(), now_ms=NOW_MS)

    assert isinstance(result, AttemptResult)
    assert (result.run, result.attempt, result.score) == ("7f3a90c41b22", 1, 1.0)
    assert (result.sandbox.oom_kills, result.task) == (2, "fix-bug")
    assert "bundle" in result.why["receipts.bundle"]


def test_an_open_one_has_the_same_names_and_nulls_for_what_only_its_end_decides() -> None:
    board = Board(progress_at_ms=NOW_MS - 3_000)
    board.stages[Stage.AGENT] = StageSeen(StageState.STARTED, 1)
    board.held.add(1)
    found = shown(a_view(), Moments(), picture(closed()), board, now_ms=NOW_MS)

    assert isinstance(found, OpenAttempt)
    assert found.now == (
        "agent · for 1 min 05 s · last progress 3.0 s ago · waiting: the broker holds a request"
    )
    names = set(decode(encode(found), dict[str, object]))
    assert names - {"state", "now"} == set(AttemptResult.__struct_fields__) - {"answers"}
    assert (found.score, found.outcome, found.sandbox.oom_kills) == (None, None, None)


def test_without_progress_it_says_so() -> None:
    found = shown(a_view(), Moments(), picture(b""), Board(), now_ms=NOW_MS)

    assert isinstance(found, OpenAttempt)
    assert found.now == "opened · for 1 min 05 s · no progress yet"
