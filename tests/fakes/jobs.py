"""A prepared job without anything behind it, and attempts as a folder shows them."""

from pathlib import Path

from tests.fakes.results import a_result
from tests.functional.runner.specs import REHEARSAL_SPEC

from stanchion.protocol.result import AttemptResult
from stanchion.runner.jobs.job import Asked, Job, PlannedTask, job_digest
from stanchion.runner.jobs.on_disk import Found, sum_up
from stanchion.runner.jobs.plan import Seen, State, Wanted
from stanchion.runner.jobs.prepare import JobRequest, PreparedJob
from stanchion.runner.jobs.run_job import JobEnd
from stanchion.runner.keeper.progress_file import Progress
from stanchion.runner.launching.resolve import Options

OPTIONS = Options(harness="opencode", account="rehearsal", model="scripted-1")
TASK = PlannedTask(
    name="hello",
    run="7f3a90c41b22",
    folder="/tasks/hello",
    spec=REHEARSAL_SPEC,
    untouched_reward="0",
)


def a_job(attempts: int = 3) -> Job:
    return Job(
        kind="run",
        id="0123456789ab",
        sha256=job_digest((TASK,), attempts),
        started_at="2026-01-01T00:00:00+00:00",
        attempts=attempts,
        tasks=(TASK,),
        asked=Asked(options=OPTIONS),
    )


def prepared_job(folder: Path, attempts: int = 3) -> PreparedJob:
    wanted = Wanted(tasks=("hello",), attempts=attempts, retries=1, concurrency=2)
    return PreparedJob(JobRequest(), a_job(attempts), folder, {}, wanted)


def ended(number: int, result: AttemptResult | None = None, retry_of: int | None = None) -> Found:
    shown = result or a_result(attempt=number)
    seen = Seen(
        task="hello",
        number=number,
        state=State.ENDED,
        retry_of=retry_of,
        scored=shown.score is not None,
        retry=shown.outcome.retry,
        ended_at_ms=0,
    )
    return Found(Path(), seen, result=shown)


def there(number: int, state: State, progress: Progress | None = None) -> Found:
    return Found(Path(), Seen(task="hello", number=number, state=state), progress=progress)


def an_end(*found: Found, attempts: int = 3, **changes: object) -> JobEnd:
    results = tuple(one.result for one in found if one.result is not None)
    known = {
        "summary": sum_up(found, {"hello": attempts}),
        "results": results,
        "finals": results,
        "unfinished": 0,
        "ended_unscored": sum(result.score is None for result in results),
        "trip": None,
        "gave_up": {},
    }
    return JobEnd(**(known | changes))  # type: ignore[arg-type]
