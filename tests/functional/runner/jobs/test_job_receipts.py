"""The signed list of a job, fetched into its folder."""

import json
from pathlib import Path

import pytest
from tests.fakes.jobs import a_job, ended
from tests.fakes.results import a_result

from stanchion.broker.client import StatePaths
from stanchion.protocol.refusal import RefusedError
from stanchion.protocol.result import ReceiptsShown
from stanchion.runner.jobs.job_receipts import close_receipts, open_receipts
from stanchion.runner.results.job_folder import JobFolder

pytestmark = pytest.mark.timeout(60)


async def test_the_plan_comes_first_and_the_list_at_the_end(
    broker: StatePaths, tmp_path: Path
) -> None:
    folder, job = JobFolder.create(tmp_path / "out", a_job()), a_job()
    await open_receipts(job, folder, broker)
    opened = (folder.path / "job.receipts").read_bytes()
    await open_receipts(job, folder, broker)
    assert (folder.path / "job.receipts").read_bytes() == opened
    opening = json.loads(opened.splitlines()[1])
    assert opening["planned"] == [f"{job.tasks[0].run}.{number}" for number in (1, 2, 3)]

    without = a_result(receipts=ReceiptsShown(head=None, exchanges=0, bundle=None))
    await close_receipts(job, folder, broker, [ended(1, without)])
    closing = json.loads((folder.path / "job.receipts").read_bytes().splitlines()[2])
    assert [one["head"] for one in closing["attempts"]] == [None]
    assert len(closing["not_started"]) == 2


async def test_a_job_that_was_edited_is_refused(broker: StatePaths, tmp_path: Path) -> None:
    folder = JobFolder.create(tmp_path / "out", a_job())
    await open_receipts(a_job(), folder, broker)
    with pytest.raises(RefusedError, match="other terms"):
        await open_receipts(a_job(attempts=4), folder, broker)
