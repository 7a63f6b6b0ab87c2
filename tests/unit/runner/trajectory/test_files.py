"""The trajectory of an attempt's folder, made anew from its three files."""

from pathlib import Path

import msgspec
import pytest

from fakes.atif_models import validated
from fakes.conversations import answer, bundle, call, end, lines
from fakes.results import a_result
from stanchion.runner.trajectory.files import read_trajectory, write_trajectory


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "result.json").write_bytes(msgspec.json.encode(a_result()))
    return tmp_path


def test_it_is_written_beside_them_and_a_cut_line_costs_only_itself(folder: Path) -> None:
    saved = lines([call("1", "call_1"), end("e")])
    (folder / "transcript.jsonl").write_bytes(b"not json\n" + saved + b'{"id":"cut')
    (folder / "receipts.bundle").write_bytes(bundle([answer("call_1")]))

    path = write_trajectory(folder)
    document = validated(read_trajectory(folder))

    assert msgspec.json.decode(path.read_bytes()) == document
    assert path.name == "trajectory.json"
    assert len(document["steps"]) == 1  # type: ignore[arg-type]  # a list, as was checked


def test_without_transcript_and_receipts_there_is_still_a_valid_document(folder: Path) -> None:
    assert validated(read_trajectory(folder))["trajectory_id"] == "7f3a90c41b22.1"
