"""`stanchion status` on folders."""

import json
import os
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.fakes.jobs import a_job
from tests.fakes.results import a_result

from stanchion.runner.cli.status import newest, status
from stanchion.runner.results.job_folder import JobFolder, write_json


def a_folder(path: Path) -> Path:
    folder = JobFolder.create(path, a_job())
    write_json(folder.attempt("hello", 1) / "result.json", a_result())
    return folder.path


def test_a_folder_is_enough(tmp_path: Path) -> None:
    done = CliRunner().invoke(status, [str(a_folder(tmp_path / "out"))])

    assert done.exit_code == 0, done.output
    assert "hello__1  completed  score 1" in done.output
    assert "not started       2" in done.output


def test_the_document_is_one_line(tmp_path: Path) -> None:
    done = CliRunner().invoke(status, [str(a_folder(tmp_path / "out")), "--json"])

    assert json.loads(done.output)["summary"]["scored"] == 1


def test_without_a_name_it_is_the_newest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, at_s in (("b", 1), ("a", 2), ("c", 0)):
        os.utime(a_folder(tmp_path / "stanchion-runs" / name) / "job.json", (at_s, at_s))
    monkeypatch.chdir(tmp_path)

    assert newest(Path("stanchion-runs")).name == "a"
    assert "stanchion-runs/a" in CliRunner().invoke(status, []).output


def test_a_folder_of_something_else_is_refused(tmp_path: Path) -> None:
    done = CliRunner().invoke(status, [str(tmp_path)])

    assert (done.exit_code, "no job.json" in done.output) == (2, True)
