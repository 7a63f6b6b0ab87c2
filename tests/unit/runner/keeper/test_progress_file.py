"""Where a keeper is, for whoever reads the folder."""

from pathlib import Path

import msgspec
import pytest

from stanchion.protocol.codec import encode
from stanchion.protocol.events import (
    AssertedBy,
    Event,
    ExchangeEnded,
    ExchangeHeld,
    Stage,
    StageChanged,
    StageState,
    StreamEntry,
    Warned,
)
from stanchion.protocol.exchange import Answered, ExchangeResult
from stanchion.protocol.refusal import refuse
from stanchion.runner.keeper.order import BrokerAway, Ended, Failed, NotOpened, Opened, Report
from stanchion.runner.keeper.progress_file import (
    KeeperState,
    Progress,
    ProgressFile,
    note_not_opened,
    read_progress,
)

REFUSAL = refuse("x", field="--f", value=1, rule="r", remedy="m").refusal


def now(folder: Path) -> Progress:
    found = read_progress(folder)
    assert found is not None
    return found


def entry(event: Event, at_ms: int = 7) -> StreamEntry:
    return StreamEntry(
        cursor="0.1", at_ms=at_ms, asserted_by=AssertedBy.BROKER, event=encode(event)
    )


def ended(exchange: int, *, text: bool) -> Event:
    answered = Answered(result=ExchangeResult.COMPLETED, text_present=text)
    return ExchangeEnded(exchange=exchange, answered=answered)


@pytest.mark.parametrize(
    ("report", "state", "why"),
    [
        (Opened(id="a.1", launch_sha256="s"), KeeperState.OPEN, None),
        (NotOpened(refusal=REFUSAL), KeeperState.NOT_OPENED, "--f = '1': r. m"),
        (BrokerAway(why="away"), KeeperState.NOT_OPENED, "away"),
        (Failed(why="no"), KeeperState.FAILED, "no"),
        (Ended(result="/r"), KeeperState.ENDED, None),
    ],
)
def test_what_a_keeper_says_stands_in_the_file(
    tmp_path: Path, report: Report, state: KeeperState, why: str | None
) -> None:
    file = ProgressFile(tmp_path)
    assert now(tmp_path).state is KeeperState.STARTING
    file.reported(report)

    assert (now(tmp_path).state, now(tmp_path).why) == (state, why)


def test_stages_responses_and_holds_are_followed(tmp_path: Path) -> None:
    file = ProgressFile(tmp_path)
    for event in (
        StageChanged(stage=Stage.AGENT, state=StageState.STARTED),
        ExchangeHeld(exchange=1, holding=True),
        ExchangeHeld(exchange=2, holding=True),
        ExchangeHeld(exchange=2, holding=False),
        Warned(what="w", detail="d"),
    ):
        file.take(entry(event))
    seen = now(tmp_path)
    assert (seen.stage, seen.held, seen.responses) == (Stage.AGENT, 1, 0)

    file.take(entry(ended(1, text=True), at_ms=9))
    file.take(entry(ended(2, text=False), at_ms=11))
    title = msgspec.structs.replace(ended(3, text=True), side="title")
    file.take(entry(title, at_ms=12))
    seen = now(tmp_path)
    assert (seen.held, seen.responses, seen.last_response_at_ms) == (0, 1, 9)


def test_a_folder_that_is_gone_stops_nothing(tmp_path: Path) -> None:
    ProgressFile(tmp_path / "gone").reported(Ended(result="/r"))

    assert read_progress(tmp_path / "gone") is None
    (tmp_path / "progress.json").write_text("{")
    assert read_progress(tmp_path) is None


def test_it_can_be_said_for_a_keeper_that_is_gone(tmp_path: Path) -> None:
    note_not_opened(tmp_path, "it never came so far")

    assert now(tmp_path).state is KeeperState.NOT_OPENED
