"""What becomes of tasks that cannot be tried; the ones that can are tried in real sandboxes."""

import asyncio
import shutil
from pathlib import Path

import pytest

from fakes.small_tasks import GIVES_ONE, small_task
from stanchion.protocol.refusal import RefusedError
from stanchion.runner.checking.check_run import CheckRequest, check, name_of, options_of
from stanchion.runner.checking.judging import Checked
from stanchion.runner.launching.resolve import Options


def request(*tasks: Path, folder: Path | None = None) -> CheckRequest:
    options = options_of("oracle", Options(harness="", account="", model=""))
    return CheckRequest(
        tasks=tasks, options=options, config=None, state_dir="/nowhere", folder=folder
    )


async def test_each_task_that_is_refused_is_a_line_and_no_broker_is_started(
    tmp_path: Path,
) -> None:
    gpu = small_task(tmp_path / "gpu", tests=GIVES_ONE, toml="\n[environment]\ngpus = 2\n")
    unsolved = small_task(tmp_path / "unsolved", tests=GIVES_ONE, solve=None)
    told: list[Checked] = []
    report = await check(request(gpu, unsolved, folder=tmp_path / "out"), print, print, told.append)
    assert (report.ok, report.tasks, report.folder) == (False, tuple(told), str(tmp_path / "out"))
    assert [checked.task for checked in told] == ["gpu", "unsolved"]
    assert "gpu/task.toml:3, environment.gpus" in told[0].problems[0]
    assert "solution/solve.sh" in told[1].problems[0]


def test_a_folder_of_its_own_is_kept_where_something_is_wrong(tmp_path: Path) -> None:
    task = small_task(tmp_path / "gpu", tests=GIVES_ONE, toml="[environment]\ngpus = 2\n")
    report = asyncio.run(check(request(task), print, print, lambda _: None))
    assert report.folder is not None
    assert Path(report.folder, "job.json").is_file()
    shutil.rmtree(report.folder)


async def test_a_folder_with_results_is_never_written_over(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out/kept").touch()
    with pytest.raises(RefusedError, match="already"):
        await check(request(tmp_path, folder=tmp_path / "out"), print, print, lambda _: None)


def test_a_task_is_named_by_its_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert name_of(Path()) == tmp_path.name
