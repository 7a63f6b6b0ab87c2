"""Events onto a board."""

import msgspec
from tests.fakes.views import OPENED_AT_MS

from stanchion.protocol.codec import encode
from stanchion.protocol.events import (
    AssertedBy,
    Stage,
    StageChanged,
    StageState,
    StreamEntry,
)
from stanchion.runner.live.board import Board
from stanchion.runner.live.following import onto


def test_entries_come_onto_the_board_with_the_brokers_clock() -> None:
    board = Board()
    event = StageChanged(stage=Stage.AGENT, state=StageState.STARTED)
    onto(board)(
        StreamEntry(
            cursor="e.1",
            at_ms=OPENED_AT_MS,
            asserted_by=AssertedBy.SANDBOX,
            event=msgspec.Raw(encode(event)),
        )
    )

    assert board.stages[Stage.AGENT].since_ms == OPENED_AT_MS
