"""`stanchion export` of folders; it needs no broker."""

from pathlib import Path

import msgspec
from click.testing import CliRunner, Result

from fakes.conversations import answer, bundle, call, end, lines
from fakes.results import a_result
from stanchion.runner.cli.export import export


def an_attempt(folder: Path) -> Path:
    folder.mkdir(parents=True)
    (folder / "result.json").write_bytes(msgspec.json.encode(a_result()))
    (folder / "transcript.jsonl").write_bytes(lines([call("1", "call_1"), end("e")]))
    (folder / "receipts.bundle").write_bytes(bundle([answer("call_1")]))
    return folder


def exported(*words: str | Path) -> Result:
    return CliRunner().invoke(export, [str(word) for word in words])


def test_one_attempt_is_one_document_on_standard_output(tmp_path: Path) -> None:
    done = exported(an_attempt(tmp_path / "attempts" / "hello__1"))

    assert done.exit_code == 0, done.output
    document = msgspec.json.decode(done.stdout)
    assert document["schema_version"] == "ATIF-v1.8"
    assert document["steps"][0]["extra"]["stanchion"]["exchange"] == 1


def test_several_need_a_folder_and_get_a_file_each(tmp_path: Path) -> None:
    for number in (1, 2):
        an_attempt(tmp_path / "job" / "attempts" / f"hello__{number}")

    assert exported(tmp_path / "job").exit_code == 2
    done = exported(tmp_path / "job", "-o", tmp_path / "out")
    assert done.exit_code == 0, done.output
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        "hello__1.json",
        "hello__2.json",
    ]


def test_a_folder_without_results_is_refused(tmp_path: Path) -> None:
    assert exported(tmp_path).exit_code == 2
