"""What keeps a job from being one, said before anything starts."""

from pathlib import Path

import pytest
from tests.fakes.jobs import OPTIONS, a_job

from stanchion.broker.client import StatePaths
from stanchion.protocol.refusal import RefusedError
from stanchion.runner.jobs.prepare import JobRequest, prepare_job
from stanchion.runner.results.job_folder import JobFolder
from stanchion.runner.tasks.examples import example_task

HELLO = example_task("hello")
pytestmark = pytest.mark.timeout(60)


def nothing(_: str) -> None:
    """Says nothing."""


@pytest.mark.parametrize(
    ("request_", "refusal"),
    [
        (JobRequest(), "job_unsaid"),
        (JobRequest(options=OPTIONS), "job_unsaid"),
        (JobRequest(tasks=(HELLO,)), "job_unsaid"),
        (JobRequest(tasks=(HELLO, HELLO), options=OPTIONS), "task_twice"),
        (JobRequest(resume=Path("/nowhere")), "job_missing"),
        (JobRequest(tasks=(Path("/nowhere"),), options=OPTIONS), "task_refused"),
    ],
)
async def test_what_is_missing_or_wrong_is_named(
    broker: StatePaths, request_: JobRequest, refusal: str
) -> None:
    with pytest.raises(RefusedError) as caught:
        await prepare_job(request_, nothing)

    assert caught.value.refusal.id == refusal


async def test_a_task_whose_folder_is_gone_cannot_be_resumed(
    broker: StatePaths, tmp_path: Path
) -> None:
    folder = JobFolder.create(tmp_path / "out", a_job()).path
    request = JobRequest(resume=folder, state_dir=str(broker.root))

    with pytest.raises(RefusedError, match="/tasks/hello"):
        await prepare_job(request, nothing)
