"""`stanchion status`: a job's table from its result folder; needs no broker."""

import time
from pathlib import Path

import click

from stanchion.runner.cli.options import as_json as json_option

RUNS = Path("stanchion-runs")


@click.command
@click.argument(
    "folder", metavar="[DIR]", required=False, type=click.Path(path_type=Path, file_okay=False)
)
@json_option
def status(folder: Path | None, *, as_json: bool) -> None:
    """Show where the job of result folder DIR stands; default: the newest below stanchion-runs.

    Reads the folder alone, so it works while the job runs, after it, and without a broker.
    """
    from stanchion.protocol.codec import encode
    from stanchion.runner.cli.failures import translated
    from stanchion.runner.jobs.on_disk import read_attempts, read_job
    from stanchion.runner.jobs.status import status_of, status_text

    with translated(as_json=as_json):
        folder = folder or newest(RUNS)
        check_is_job(folder)
    job = read_job(folder)
    tasks = None if job is None else [task.name for task in job.tasks]
    found = read_attempts(folder, tasks)
    document = status_of(str(folder), job, found)
    if as_json:
        click.echo(encode(document))
    else:
        click.echo(status_text(document, found, now_ms=time.time_ns() // 1_000_000))


def newest(runs: Path) -> Path:
    """The result folder that was begun last."""
    from stanchion.runner.results.job_folder import JOB

    begun = sorted(runs.glob(f"*/{JOB}"), key=lambda file: file.stat().st_mtime_ns)
    return begun[-1].parent if begun else runs


def check_is_job(folder: Path) -> None:
    """RefusedError where no `stanchion run` wrote it."""
    from stanchion.protocol.refusal import refuse
    from stanchion.runner.results.job_folder import JOB

    if not (folder / JOB).is_file():
        raise refuse(
            "job_missing",
            field="DIR",
            value=folder,
            rule="there is no job.json of a `stanchion run` in this folder",
            remedy="Name the folder that the run wrote",
        )
