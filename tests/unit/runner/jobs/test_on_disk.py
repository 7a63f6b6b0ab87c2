"""What a folder says of its attempts."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.fakes.results import a_result

from stanchion.protocol.outcome import EndReason, Retry
from stanchion.protocol.refusal import refuse
from stanchion.protocol.result import AttemptResult
from stanchion.runner.jobs.on_disk import read_attempt, read_attempts, read_job, retried, sum_up
from stanchion.runner.jobs.plan import State
from stanchion.runner.keeper.order import Failed, NotOpened, Opened, Report
from stanchion.runner.keeper.progress_file import ProgressFile
from stanchion.runner.launching.start_file import StartFile, write_start
from stanchion.runner.results.job_folder import write_json

REFUSAL = refuse("x", field="f", value=None, rule="r", remedy="m")


def folder_of(top: Path, number: int, task: str = "hello") -> Path:
    folder = top / "attempts" / f"{task}__{number}"
    folder.mkdir(parents=True)
    return folder


def begin(folder: Path, pid: int, *, number: int = 1, retry_of: int | None = None) -> None:
    start = StartFile.of(
        pid, task="hello", run="7f3a90c41b22", attempt=number, retry_of=retry_of, sandbox_id="ab"
    )
    write_start(folder, start)


@pytest.fixture
def dead_pid() -> int:
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        pass
    return process.pid


def test_a_folder_that_nobody_began_is_empty(tmp_path: Path) -> None:
    folder = folder_of(tmp_path, 1)

    assert read_attempt(folder, ("hello", 1)).seen.state is State.EMPTY


def test_one_whose_keeper_lives_runs(tmp_path: Path) -> None:
    folder = folder_of(tmp_path, 3)
    begin(folder, os.getpid(), number=3, retry_of=1)
    seen = read_attempt(folder, ("hello", 3)).seen

    assert (seen.state, seen.retry_of) == (State.RUNNING, 1)


@pytest.mark.parametrize(
    ("report", "state"),
    [
        (None, State.LOST),
        (Opened(id="a.1", launch_sha256="s"), State.LOST),
        (Failed(why="no"), State.LOST),
        (NotOpened(refusal=REFUSAL.refusal), State.NOT_OPENED),
    ],
)
def test_one_whose_keeper_is_gone_is_lost_unless_it_was_never_opened(
    tmp_path: Path, dead_pid: int, report: Report | None, state: State
) -> None:
    folder = folder_of(tmp_path, 1)
    begin(folder, dead_pid)
    if report is not None:
        ProgressFile(folder).reported(report)

    assert read_attempt(folder, ("hello", 1)).seen.state is state


def ended(folder: Path, result: AttemptResult) -> None:
    write_json(folder / "result.json", result)


def test_a_result_counts_whoever_lives(tmp_path: Path) -> None:
    folder = folder_of(tmp_path, 1)
    begin(folder, os.getpid())
    ended(folder, a_result(EndReason.HARNESS_EXIT, score=None))
    seen = read_attempt(folder, ("hello", 1)).seen

    assert (seen.state, seen.scored, seen.retry) == (State.ENDED, False, Retry.NOW)
    assert seen.ended_at_ms is not None


def test_a_result_that_cannot_be_read_is_none(tmp_path: Path, dead_pid: int) -> None:
    folder = folder_of(tmp_path, 1)
    begin(folder, dead_pid)
    (folder / "result.json").write_text("{")

    assert read_attempt(folder, ("hello", 1)).seen.state is State.LOST


def test_all_are_read_in_the_order_of_their_numbers_and_strangers_are_left_out(
    tmp_path: Path,
) -> None:
    for number in (10, 2, 1):
        folder_of(tmp_path, number)
    folder_of(tmp_path, 1, task="other")
    (tmp_path / "attempts" / "notes__x").mkdir()

    found = read_attempts(tmp_path, ["hello"])
    assert [one.key for one in found] == [("hello", 1), ("hello", 2), ("hello", 10)]
    assert len(read_attempts(tmp_path)) == 4


def test_what_has_ended_is_not_read_again(tmp_path: Path) -> None:
    folder = folder_of(tmp_path, 1)
    ended(folder, a_result())
    found = {one.key: one for one in read_attempts(tmp_path)}
    (folder / "result.json").write_text("{")

    (again,) = read_attempts(tmp_path, known=found)
    assert again is found["hello", 1]


def test_the_sums_count_a_planned_attempt_once(tmp_path: Path) -> None:
    for number, retry_of in ((1, None), (2, None), (4, 1)):
        begin(folder_of(tmp_path, number), os.getpid(), number=number, retry_of=retry_of)
    ended(tmp_path / "attempts/hello__1", a_result(EndReason.OOM, score=None))
    ended(tmp_path / "attempts/hello__4", a_result(attempt=4))
    found = read_attempts(tmp_path)

    assert retried(found) == {("hello", 1)}
    summary = sum_up(found, {"hello": 3})
    assert (summary.scored, summary.running, summary.not_started) == (1, 1, 1)
    assert summary.retried == {"oom": 1}


def test_a_folder_without_a_plan_of_this_kind_has_none(tmp_path: Path) -> None:
    assert read_job(tmp_path) is None
    write_json(tmp_path / "job.json", {"kind": "demo", "version": 1})
    assert read_job(tmp_path) is None
