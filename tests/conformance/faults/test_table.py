"""The table that `make faults` ends with."""

import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from conformance.faults import table
from conformance.faults.outcome_seen import Judged, Seen
from conformance.faults.rows import Kind, Row, read_rows
from stanchion.protocol.outcome import EndReason

ROWS = read_rows()


def as_expected(row: Row) -> Seen:
    expected = row.expected
    return Seen(
        reason=expected.reason,
        detail=expected.says or "",
        flags=expected.flags,
        blame=expected.blame,
        retry=expected.retry,
        grade=expected.grade,
        score=expected.score,
        plain=row.plain,
    )


def printed(file: Path) -> tuple[int, list[str]]:
    done = subprocess.run(
        [sys.executable, table.__file__, str(file)],
        env={"PYTHONPATH": str(Path(__file__).parents[2])},
        capture_output=True,
        text=True,
        timeout=50,
        check=False,
    )
    return done.returncode, done.stdout.splitlines()


@pytest.fixture
def played(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    file = tmp_path / "faults.jsonl"
    monkeypatch.setenv(table.VARIABLE, str(file))
    for row in ROWS[1:]:
        table.note(Judged(row, as_expected(row)))
    return file


def test_all_played_and_right_is_said_in_the_last_line(played: Path) -> None:
    table.note(Judged(ROWS[0], as_expected(ROWS[0])))
    code, lines = printed(played)
    count = len(ROWS)
    assert code == 0
    assert lines[-1] == (
        f"{count} faults, {count} right, 0 false zeros, 0 false stops, 0 false nulls"
    )
    dead = sum(row.expected.score is None and row.plain is not None for row in ROWS)
    assert any(line.endswith(f": {dead} false zeros") for line in lines)


def test_a_row_that_did_not_come_to_its_end_is_named_and_is_not_right(played: Path) -> None:
    code, lines = printed(played)
    assert code == 1
    assert f"{ROWS[0].name}: not played to its end" in lines
    assert lines[-1].startswith(f"{len(ROWS)} faults, {len(ROWS) - 1} right, ")


def test_a_dead_agent_with_a_score_is_a_false_zero(
    played: Path,
) -> None:
    dead = next(row for row in ROWS if row.expected.reason is EndReason.STALLED_SILENT)
    seen = Seen(
        reason=EndReason.COMPLETED, detail="", flags=(), blame=None, retry=dead.expected.retry,
        grade=dead.expected.grade, score=0.0, plain=0.0,
    )  # fmt: skip
    played.write_text("")
    table.note(Judged(dead, seen))
    code, lines = printed(played)
    assert code == 1
    assert ", 0 right, 1 false zeros, 0 false stops, 0 false nulls" in lines[-1]


def test_the_readme_counts_the_rows_as_they_are() -> None:
    kinds = Counter(row.kind for row in ROWS)
    said = " ".join((Path(__file__).parents[3] / "README.md").read_text(encoding="utf-8").split())
    assert (
        f"{kinds[Kind.FAULT]} ways to die, {kinds[Kind.ODD]} shapes that look wrong and are well, "
        f"{kinds[Kind.LONG]} long healthy runs" in said
    )
