"""What a result folder says of its attempts: who answers for each, and how it ended.

Reads files and asks the kernel which keepers live. Decides nothing; needs no broker.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

from stanchion.protocol.codec import CodecError, decode
from stanchion.protocol.result import AttemptResult
from stanchion.runner.jobs.job import Job
from stanchion.runner.jobs.plan import Key, Seen, State
from stanchion.runner.keeper.progress_file import KeeperState, Progress, read_progress
from stanchion.runner.launching.start_file import StartFile, read_start
from stanchion.runner.results.job_folder import ATTEMPTS, JOB, RESULT
from stanchion.runner.results.summary import Summary, summarise


@dataclass(frozen=True, slots=True)
class Found:
    """One attempt's folder."""

    folder: Path
    seen: Seen
    start: StartFile | None = None
    result: AttemptResult | None = None
    progress: Progress | None = None

    @property
    def key(self) -> Key:
        return self.seen.key


def read_job(path: Path) -> Job | None:
    """The frozen plan of a folder; None where it has none that this version knows."""
    try:
        return decode((path / JOB).read_bytes(), Job)
    except (OSError, CodecError):
        return None


def read_attempts(
    path: Path,
    tasks: Collection[str] | None = None,
    *,
    known: Mapping[Key, Found] | None = None,
) -> list[Found]:
    """Every attempt below the folder, by task and number; those that `known` has ended stay so."""
    ended = {key: one for key, one in (known or {}).items() if one.result is not None}
    found = []
    for folder in (path / ATTEMPTS).glob("*__*"):
        task, _, number = folder.name.rpartition("__")
        if not number.isdecimal() or (tasks is not None and task not in tasks):
            continue
        key = task, int(number)
        found.append(ended.get(key) or read_attempt(folder, key))
    return sorted(found, key=lambda one: one.key)


def read_attempt(folder: Path, key: Key) -> Found:
    """One of them."""
    start = read_start(folder)
    lives = start is not None and start.keeper_lives
    # Read after the keeper was looked at: one that has just ended has left its result.
    result = _read_result(folder)
    progress = read_progress(folder)
    return Found(
        folder, _seen(folder, key, start, result, progress, lives=lives), start, result, progress
    )


def _seen(
    folder: Path,
    key: Key,
    start: StartFile | None,
    result: AttemptResult | None,
    progress: Progress | None,
    *,
    lives: bool,
) -> Seen:
    task, number = key
    retry_of = start.retry_of if start else None
    if result is not None:
        return Seen(
            task=task,
            number=number,
            state=State.ENDED,
            retry_of=retry_of,
            scored=result.score is not None,
            retry=result.outcome.retry,
            ended_at_ms=(folder / RESULT).stat().st_mtime_ns // 1_000_000,
        )
    if start is None:
        state = State.EMPTY
    elif lives:
        state = State.RUNNING
    elif progress is not None and progress.state is KeeperState.NOT_OPENED:
        state = State.NOT_OPENED
    else:
        state = State.LOST
    return Seen(task=task, number=number, state=state, retry_of=retry_of)


def _read_result(folder: Path) -> AttemptResult | None:
    try:
        return decode((folder / RESULT).read_bytes(), AttemptResult)
    except (OSError, CodecError):
        return None


def retried(found: Collection[Found]) -> set[Key]:
    """The attempts that another one repeats."""
    return {(one.seen.task, one.seen.retry_of) for one in found if one.seen.retry_of is not None}


def sum_up(found: Collection[Found], planned: Mapping[str, int] | None) -> Summary:
    """The sums over a folder."""
    return summarise(
        [one.result for one in found if one.result is not None],
        planned=planned,
        retried=retried(found),
        running=[one.key for one in found if one.seen.state is State.RUNNING],
    )
