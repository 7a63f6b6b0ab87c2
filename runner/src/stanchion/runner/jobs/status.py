"""Where a job stands, from its folder alone. Pure but for what was read before.

A keeper's own word is shown for what runs; a result counts as soon as it is there. Unknown stays
unknown.
"""

from collections.abc import Sequence

import msgspec

from stanchion.runner.jobs.job import Job
from stanchion.runner.jobs.on_disk import Found, retried, sum_up
from stanchion.runner.jobs.plan import State
from stanchion.runner.keeper.progress_file import KeeperState, Progress
from stanchion.runner.live.amounts import duration
from stanchion.runner.results.result_text import score_text
from stanchion.runner.results.summary import Summary, summary_text

HEADINGS = ("ATTEMPT", "STATE", "SCORE", "RESPONSES", "LAST RESPONSE", "HELD")
NOTHING_TOLD = Progress(state=KeeperState.STARTING, updated_at_ms=0)
WORDS = {
    State.EMPTY: "not started",
    State.LOST: "lost: its keeper is gone, and nobody has explained it yet",
    State.NOT_OPENED: "not started",
}


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """One attempt. Null = not known, or not so far yet."""

    task: str
    attempt: int
    state: State
    retry_of: int | None
    retried: bool
    reason: str | None
    score: float | None
    stage: str | None
    responses: int | None
    last_response_at_ms: int | None
    held: int | None
    """Requests that the broker holds now."""
    why: str | None
    """Of one that did not start."""


class Status(msgspec.Struct, frozen=True, kw_only=True):
    """`stanchion status --json`."""

    folder: str
    job: str | None
    sha256: str | None
    attempts: tuple[Row, ...]
    summary: Summary


def status_of(folder: str, job: Job | None, found: Sequence[Found]) -> Status:
    """The whole of it."""
    superseded = retried(found)
    return Status(
        folder=folder,
        job=None if job is None else job.id,
        sha256=None if job is None else job.sha256,
        attempts=tuple(_row(one, retried=one.key in superseded) for one in found),
        summary=sum_up(found, None if job is None else job.planned),
    )


def _row(one: Found, *, retried: bool) -> Row:
    seen, result, progress = one.seen, one.result, one.progress or NOTHING_TOLD
    running = seen.state is State.RUNNING
    told = one.progress is not None
    return Row(
        task=seen.task,
        attempt=seen.number,
        state=seen.state,
        retry_of=seen.retry_of,
        retried=retried,
        reason=None if result is None else str(result.outcome.reason),
        score=None if result is None else result.score,
        stage=str(progress.stage) if running and progress.stage else None,
        responses=progress.responses if told else None,
        last_response_at_ms=progress.last_response_at_ms,
        held=progress.held if running and told else None,
        why=progress.why if result is None else None,
    )


def status_text(status: Status, found: Sequence[Found], *, now_ms: int) -> str:
    """The same for people."""
    results = {one.key: one.result for one in found}
    cells = [HEADINGS]
    for row in status.attempts:
        result = results[row.task, row.attempt]
        age_ms = None if row.last_response_at_ms is None else now_ms - row.last_response_at_ms
        running = row.state is State.RUNNING
        cells.append((
            f"{row.task}__{row.attempt}",
            _state(row),
            "" if result is None else score_text(result),
            "" if row.responses is None else str(row.responses),
            f"{duration(age_ms)} ago" if running and age_ms is not None else "",
            str(row.held) if row.held else "",
        ))  # fmt: skip
    widths = [max(len(row[at]) for row in cells) for at in range(len(HEADINGS))]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in cells
    ]
    table = "\n".join(lines) if status.attempts else "no attempt has begun"
    return f"{table}\n\n{summary_text(status.summary)}results           {status.folder}"


def _state(row: Row) -> str:
    if row.state is State.ENDED:
        return f"{row.reason}{', retried' if row.retried else ''}"
    if row.state is State.RUNNING:
        return f"running: {row.stage or 'starting'}"
    return f"{WORDS[row.state]}{f': {row.why}' if row.why else ''}"
