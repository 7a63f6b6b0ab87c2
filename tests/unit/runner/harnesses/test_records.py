from pathlib import Path

import pytest

from stanchion.harness_adapters.registry import adapter
from stanchion.runner.harnesses import records
from stanchion.runner.harnesses.cells import cells
from stanchion.runner.harnesses.judging import Judged, Verdict, shortcomings
from stanchion.runner.harnesses.wire_reading import Request

FIRST = Request(limit=8_000, effort="low", field="max_tokens", stream=True)
ONE = Judged(cell="a", verdict=Verdict.RIGHT, written=(8_000, "low"), first=FIRST, again=(FIRST,))
TWO = Judged(cell="b", verdict=Verdict.REFUSED, why="effort_unwritable")
HEAD = records.RecordHead(
    harness="tool", version="1.0", date="2026-12-01", stanchion="0.1.0", runsc="20240729",
    package="ab",
)  # fmt: skip
RECORD = records.ConformanceRecord(head=HEAD, cells=(ONE, TWO))


def test_a_record_is_read_as_it_was_written_and_has_a_line_a_cell(tmp_path: Path) -> None:
    file = records.save(RECORD, tmp_path)

    assert file == tmp_path / "tool/1.0.json"
    assert records.load("tool", "1.0", tmp_path) == RECORD
    assert records.load_all(tmp_path) == [RECORD]
    assert records.load("tool", "2.0", tmp_path) is None
    assert sum('"cell"' in line for line in file.read_text().splitlines()) == 2


def test_every_difference_is_drift_and_what_was_not_played_is_none_in_a_part() -> None:
    other = Judged(cell="a", verdict=Verdict.RIGHT, written=(8_000, "low"), first=FIRST)
    new = Judged(cell="c", verdict=Verdict.RIGHT)

    assert records.drift(RECORD, [ONE, TWO], whole=True) == []
    assert records.drift(RECORD, [ONE], whole=False) == []
    assert records.drift(None, [ONE], whole=True) == []
    assert records.drift(RECORD, [other, new], whole=True) == [
        "a: seen otherwise than on 2026-12-01", "c: not in the record", "b: in the record only",
    ]  # fmt: skip


KEPT = records.load_all()


@pytest.mark.parametrize("record", KEPT, ids=[record.head.harness for record in KEPT])
def test_each_kept_record_has_every_cell_of_its_release_and_nothing_wrong(
    record: records.ConformanceRecord,
) -> None:
    known = cells(adapter(record.head.harness), record.head.version)

    assert [cell.cell for cell in record.cells] == [cell.name for cell in known]
    assert Verdict.WRONG not in {cell.verdict for cell in record.cells}
    judged = list(zip(known, record.cells, strict=True))
    assert shortcomings(judged, whole=True) == []
