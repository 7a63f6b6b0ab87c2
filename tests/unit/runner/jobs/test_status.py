"""Where a job stands, for people and as a document."""

from tests.fakes.jobs import a_job, ended, there
from tests.fakes.results import a_result

from stanchion.protocol.events import Stage
from stanchion.protocol.outcome import EndReason
from stanchion.runner.jobs.plan import State
from stanchion.runner.jobs.status import status_of, status_text
from stanchion.runner.keeper.progress_file import KeeperState, Progress

AT_WORK = Progress(
    state=KeeperState.OPEN,
    stage=Stage.AGENT,
    responses=4,
    last_response_at_ms=1_000,
    held=1,
    updated_at_ms=1_000,
)
REFUSED = Progress(state=KeeperState.NOT_OPENED, why="no limit", updated_at_ms=0)
FOUND = [
    ended(1, a_result(EndReason.OOM, attempt=1, score=None, reward=None)),
    there(2, State.RUNNING, AT_WORK),
    there(3, State.NOT_OPENED, REFUSED),
    ended(4, a_result(attempt=4), retry_of=1),
    there(5, State.LOST),
    there(6, State.RUNNING),
]


def test_every_state_is_a_row() -> None:
    status = status_of("out", a_job(), FOUND)
    rows = {row.attempt: row for row in status.attempts}

    assert (rows[1].reason, rows[1].retried, rows[1].score) == ("oom", True, None)
    assert (rows[2].stage, rows[2].responses, rows[2].held) == ("agent", 4, 1)
    assert (rows[3].why, rows[3].reason) == ("no limit", None)
    assert (rows[4].retry_of, rows[4].score) == (1, 1.0)
    assert (rows[6].responses, rows[6].held) == (None, None)
    assert (status.job, status.summary.running) == ("0123456789ab", 2)


def test_people_read_a_table_and_the_sums() -> None:
    text = status_text(status_of("out", a_job(), FOUND), FOUND, now_ms=61_000)
    lines = text.splitlines()

    assert lines[0].split() == [
        "ATTEMPT",
        "STATE",
        "SCORE",
        "RESPONSES",
        "LAST",
        "RESPONSE",
        "HELD",
    ]
    assert "oom, retried" in lines[1]
    assert "WITHHELD" in lines[1]
    assert lines[2].split() == [
        "hello__2",
        "running:",
        "agent",
        "4",
        "1",
        "min",
        "00",
        "s",
        "ago",
        "1",
    ]
    assert "not started: no limit" in lines[3]
    assert "its keeper is gone" in lines[5]
    assert "running: starting" in lines[6]
    assert "coverage" in text
    assert text.endswith("out")


def test_a_folder_without_a_plan_counts_what_it_has() -> None:
    status = status_of("demo", None, [ended(1)])

    assert (status.job, status.summary.planned) == (None, 1)
    assert "no attempt has begun" in status_text(status_of("x", a_job(), []), [], now_ms=0)
