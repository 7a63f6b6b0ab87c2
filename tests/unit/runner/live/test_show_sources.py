"""Results with the receipts beside them."""

import shutil
from pathlib import Path

import msgspec
import pytest
from tests.fakes.receipts import closed
from tests.fakes.results import a_result

from stanchion.protocol.refusal import RefusedError
from stanchion.protocol.result import AttemptResult, ReceiptsShown
from stanchion.runner.live.show_sources import from_path, text_of
from stanchion.runner.results.job_folder import write_json


def an_attempt(folder: Path) -> Path:
    folder.mkdir(parents=True)
    bundle = folder / "receipts.bundle"
    bundle.write_bytes(closed())
    receipts = ReceiptsShown(head="d" * 64, exchanges=3, bundle=str(bundle))
    write_json(folder / "result.json", a_result(receipts=receipts))
    return folder


def test_a_folder_that_was_moved_still_has_its_receipts(tmp_path: Path) -> None:
    moved = shutil.move(an_attempt(tmp_path / "a"), tmp_path / "b")
    (found,) = from_path(Path(moved))

    assert found.wire is not None
    assert found.wire.requests == 3
    assert found.where == str(tmp_path / "b")


def test_a_result_whose_receipts_are_elsewhere_leads_there(tmp_path: Path) -> None:
    folder = an_attempt(tmp_path / "a")
    (alone := tmp_path / "alone").mkdir()
    shutil.copy(folder / "result.json", alone)
    assert from_path(alone / "result.json")[0].wire is not None
    shutil.rmtree(folder)
    assert from_path(alone)[0].wire is None


def test_a_jobs_folder_is_one_block_an_attempt(tmp_path: Path) -> None:
    for name in ("a__1", "a__2"):
        an_attempt(tmp_path / "attempts" / name)
    (tmp_path / "job.json").write_text('{"version": 2, "attempts": 3}')
    text = text_of(from_path(tmp_path))

    assert text.count("ENDED") == 2
    assert text.count("attempt 1 of 3") == 2
    assert f"stanchion audit {tmp_path / 'attempts' / 'a__1'}" in text


def test_a_folder_without_results_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RefusedError, match=r"no result\.json"):
        from_path(tmp_path)


def test_a_result_is_shown_as_it_is(tmp_path: Path) -> None:
    (found,) = from_path(an_attempt(tmp_path / "a"))

    assert isinstance(found.result, AttemptResult)
    assert msgspec.structs.replace(found.result, receipts=a_result().receipts) == a_result()
