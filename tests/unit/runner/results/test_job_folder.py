"""The folder that a command leaves behind."""

import json
from pathlib import Path

import pytest
from tests.fakes.results import a_result

from stanchion.protocol.codec import decode, encode_line
from stanchion.protocol.outcome import EndReason
from stanchion.protocol.refusal import RefusedError
from stanchion.protocol.result import AttemptResult
from stanchion.runner.results.job_folder import (
    Job,
    JobFolder,
    default_folder,
    read_results,
    replace_demo,
    write_json,
)


def a_job(kind: str = "run") -> Job:
    return Job(
        kind=kind,
        started_at="2026-01-01T00:00:00+00:00",
        tasks=("hello",),
        harness="opencode@1",
        model="main/x",
        effort=None,
        output_limit=None,
    )


def test_attempts_are_written_as_they_end(tmp_path: Path) -> None:
    folder = JobFolder.create(tmp_path / "out", a_job())
    for name, result in (("b", a_result()), ("a", a_result(EndReason.OOM, score=None))):
        write_json(folder.attempt(name, 1) / "result.json", result)
        folder.add(result)

    lines = (tmp_path / "out" / "results.jsonl").read_bytes().splitlines()
    assert [decode(line, AttemptResult).score for line in lines] == [1.0, None]
    assert [result.score for result in read_results(tmp_path / "out")] == [None, 1.0]
    assert json.loads((tmp_path / "out" / "summary.json").read_text())["coverage"] == 0.5
    assert "coverage" in (tmp_path / "out" / "summary.txt").read_text()
    assert not list((tmp_path / "out").rglob(".*.new"))


def test_lines_that_a_crash_tore_or_lost_are_mended(tmp_path: Path) -> None:
    folder = JobFolder.create(tmp_path / "out", a_job())
    first, second, third = (a_result(attempt=number) for number in (1, 2, 3))
    folder.append(second)
    with (folder.path / "results.jsonl").open("ab") as file:
        file.write(encode_line(first)[:20])

    folder.mend_lines([first, second, third])

    lines = (folder.path / "results.jsonl").read_bytes().splitlines()
    assert [decode(line, AttemptResult).attempt for line in lines] == [2, 1, 3]
    before = (folder.path / "results.jsonl").stat()
    folder.mend_lines([first, second, third])
    assert (folder.path / "results.jsonl").stat() == before


def test_a_folder_that_was_begun_is_used_again(tmp_path: Path) -> None:
    folder = JobFolder.create(tmp_path / "out", a_job())

    assert folder.attempt("hello", 1) == folder.attempt("hello", 1)


def test_a_result_is_read_from_its_file_or_its_folder(tmp_path: Path) -> None:
    write_json(tmp_path / "result.json", a_result())

    assert read_results(tmp_path) == read_results(tmp_path / "result.json") == [a_result()]


def test_attempts_are_read_in_the_order_of_their_numbers(tmp_path: Path) -> None:
    folder = JobFolder.create(tmp_path / "out", a_job())
    for number in (10, 2, 1):
        path = folder.attempt("hello", number) / "result.json"
        write_json(path, a_result(attempt=number))

    assert [result.attempt for result in read_results(folder.path)] == [1, 2, 10]


def test_a_folder_that_holds_anything_is_never_written_over(tmp_path: Path) -> None:
    JobFolder.create(tmp_path / "out", a_job())
    with pytest.raises(RefusedError, match="another folder with -o"):
        JobFolder.create(tmp_path / "out", a_job())
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes.txt").write_text("keep me")
    with pytest.raises(RefusedError):
        JobFolder.create(tmp_path / "mine", a_job())


def test_a_folder_in_which_nothing_was_started_is_taken_back(tmp_path: Path) -> None:
    folder = JobFolder.create(tmp_path / "out", a_job())
    folder.attempt("hello", 1)
    folder.discard()
    assert not folder.path.exists()
    folder = JobFolder.create(tmp_path / "out", a_job())
    write_json(folder.attempt("hello", 1) / "result.json", a_result())
    folder.discard()
    assert read_results(folder.path) == [a_result()]


def test_a_path_without_results_is_named(tmp_path: Path) -> None:
    with pytest.raises(RefusedError, match=r"no result\.json"):
        read_results(tmp_path)


def test_only_a_demos_folder_is_replaced(tmp_path: Path) -> None:
    replace_demo(tmp_path / "nothing")
    JobFolder.create(tmp_path / "demo", a_job("demo"))
    replace_demo(tmp_path / "demo")
    assert not (tmp_path / "demo").exists()
    for name in ("run", "other"):
        (tmp_path / name).mkdir()
    write_json(tmp_path / "run" / "job.json", a_job())
    for name in ("run", "other"):
        with pytest.raises(RefusedError, match="not a demo"):
            replace_demo(tmp_path / name)
        assert (tmp_path / name).is_dir()


def test_the_default_folder_has_a_date_a_name_and_if_need_be_a_number(tmp_path: Path) -> None:
    first = default_folder(tmp_path, day="2026-01-01", name="a task/x")
    assert first == tmp_path / "stanchion-runs" / "2026-01-01-a-task-x"
    first.mkdir(parents=True)

    assert default_folder(tmp_path, day="2026-01-01", name="a task/x").name == f"{first.name}-2"
