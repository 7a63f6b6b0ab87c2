"""`job.receipts`: the broker's signed list of a job's attempts, fetched into the result folder."""

import hashlib
from collections.abc import Collection, Iterable
from pathlib import Path

from stanchion.broker.client import BrokerClient, StatePaths
from stanchion.protocol.codec import PROTOCOL_VERSION
from stanchion.protocol.job import CloseJob, OpenJob
from stanchion.protocol.result import AttemptResult
from stanchion.runner.jobs.job import Job
from stanchion.runner.jobs.on_disk import Found
from stanchion.runner.results.job_folder import JobFolder, write_whole

RECEIPTS = "job.receipts"


async def open_receipts(job: Job, folder: JobFolder, paths: StatePaths) -> None:
    """Put the plan on record before anything of it starts; again for a job that is resumed."""
    order = OpenJob(
        protocol=PROTOCOL_VERSION,
        job=job.id,
        job_sha256=job.sha256,
        planned=tuple(
            f"{task.run}.{number}" for task in job.tasks for number in range(1, job.attempts + 1)
        ),
    )
    async with BrokerClient(paths.admin_socket) as broker:
        write_whole(folder.path / RECEIPTS, await broker.open_job(order))


async def close_receipts(
    job: Job, folder: JobFolder, paths: StatePaths, found: Collection[Found]
) -> None:
    """Have what there was signed."""
    results = [one.result for one in found if one.result is not None]
    await sign_reports(job, folder.path, paths, results, names=())


async def sign_reports(
    job: Job,
    folder: Path,
    paths: StatePaths,
    results: Iterable[AttemptResult],
    *,
    names: Iterable[str],
) -> None:
    """The same, with the digests of these files of the folder."""
    heads = {f"{one.run}.{one.attempt}": one.receipts.head for one in results}
    digests = {name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in names}
    async with BrokerClient(paths.admin_socket) as broker:
        signed = await broker.close_job(job.id, CloseJob(attempts=heads, reports=digests))
    write_whole(folder / RECEIPTS, signed)
