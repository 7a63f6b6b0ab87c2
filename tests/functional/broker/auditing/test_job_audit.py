"""A result folder with its job's list: whole, and with an attempt taken away."""

import asyncio
import json
import shutil
from pathlib import Path

import pytest
from tests.functional.broker.auditing.test_command import audit

from fakes.receipts import ending, frozen_launch, run_open
from stanchion.broker.receipts.ledger import Ledger
from stanchion.broker.receipts.store import RunRow
from stanchion.protocol.codec import PROTOCOL_VERSION, encode
from stanchion.protocol.job import CloseJob, OpenJob
from stanchion.protocol.receipt import RunOpen

RUN, JOB = "7f3a90c41b22", "0123456789ab"
NAMES = (f"{RUN}.1", f"{RUN}.2")


async def write(state: Path, folder: Path) -> None:
    """Two attempts of a job, as a broker and a keeper leave them."""
    ledger = await Ledger.open(state)
    order = OpenJob(protocol=PROTOCOL_VERSION, job=JOB, job_sha256="a" * 64, planned=NAMES)
    await ledger.jobs.open(order)
    for number, name in enumerate(NAMES, 1):
        book = await ledger.begin(name)
        await book.append(RunOpen, **run_open())
        row = RunRow(
            attempt_id=name,
            directory="/d",
            launch=encode(frozen_launch()),
            launch_sha256="0" * 64,
            untouched_reward="0",
            opened_at_ms=number,
        )
        await ledger.store.save_run(row)
        await book.close(**ending())
        attempt = folder / "attempts" / f"fix-bug__{number}"
        attempt.mkdir(parents=True)
        (attempt / "receipts.bundle").write_bytes(book.bundle())
    (folder / "job.receipts").write_bytes(await ledger.jobs.close(JOB, CloseJob(attempts={})))
    await ledger.aclose()


@pytest.mark.timeout(120)
def test_an_attempt_that_was_taken_away_shows(tmp_path: Path) -> None:
    state, folder = tmp_path / "state", tmp_path / "out"
    asyncio.run(write(state, folder))

    whole = audit(folder, "--state-dir", state, "--json")
    *attempts, job = json.loads(whole.stdout)
    assert whole.returncode == 0, whole.stdout
    assert (len(attempts), job["verdict"], job["job"]) == (2, "verified", JOB)

    shutil.rmtree(folder / "attempts" / "fix-bug__2")
    fewer = audit(folder, "--state-dir", state)
    assert fewer.returncode == 3
    assert f"attempt {NAMES[1]} is listed, and the receipts are not here" in fewer.stdout
    table = audit(folder / "job.receipts", "--state-dir", state, "--csv")
    assert (table.returncode, table.stdout.count("\n")) == (3, 2), "rows are attempts"
