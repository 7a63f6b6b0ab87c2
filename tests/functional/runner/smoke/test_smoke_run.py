"""A smoke run end to end with a harness that asks no model: nothing is on the wire, so nothing is
determined."""

from pathlib import Path

import pytest

from stanchion.broker.client import StatePaths
from stanchion.images.bundle import Bundle
from stanchion.protocol.launch import SandboxKind
from stanchion.protocol.refusal import RefusedError
from stanchion.runner.launching.resolve import Options
from stanchion.runner.launching.run_command import Request
from stanchion.runner.results.job_folder import read_results
from stanchion.runner.sandbox.process_powers import find_powers
from stanchion.runner.smoke.properties import Holds
from stanchion.runner.smoke.smoke_run import TASKS, run_smoke

pytestmark = pytest.mark.timeout(120)


def request(paths: StatePaths, folder: Path, account: str = "rehearsal") -> Request:
    options = Options(
        harness="noop", account=account, model="scripted-1", sandbox=SandboxKind.PROCESS
    )
    return Request(task=Path(), options=options, state_dir=str(paths.root), folder=folder)


async def test_both_tasks_run_and_their_receipts_are_audited(
    paths: StatePaths, cache_dir: Path, bundle: Bundle, tmp_path: Path
) -> None:
    powers = find_powers()
    if powers.why_not is not None:
        pytest.skip(f"no attempt can run as a process here: {powers.why_not}")
    paths.root.mkdir()
    paths.cache_dir.symlink_to(cache_dir)
    said: list[str] = []

    end = await run_smoke(request(paths, tmp_path / "out"), said.append, lambda _: None)

    assert end.report is not None
    assert [task.task for task in end.report.tasks] == list(TASKS)
    assert {task.verdict for task in end.report.tasks} == {"verified"}
    assert set(end.report.properties.values()) == {Holds.UNDETERMINED}
    assert end.report.held == 0
    assert len(read_results(tmp_path / "out")) == 2
    assert f"smoke     {TASKS[1]}" in said


async def test_an_account_that_nobody_has_is_refused_before_anything_starts(
    paths: StatePaths, tmp_path: Path
) -> None:
    with pytest.raises(RefusedError, match="account"):
        await run_smoke(request(paths, tmp_path / "out", "nobody"), print, lambda _: None)
    assert not (tmp_path / "out").exists()
