"""The table: one combination whole, several a line each."""

from tests.unit.runner.smoke.smokes import BAD, GOOD, REFUSED, audited, smoke

from stanchion.runner.smoke.audited import Audited
from stanchion.runner.smoke.table import report_lines


def test_one_combination_is_shown_whole() -> None:
    lines = report_lines([BAD])

    assert lines[0] == "smoke · opencode@1 · box/m · effort max"
    assert "reasoning        failed" in lines
    assert "  long-think       failed: in none of 2 responses" in lines
    assert "no length stop   failed (waived: a \x1b[31msmall\x00 window)" in lines
    assert "flag             usage_missing, long-think: 1 of 2 responses reported no usage" in lines
    assert lines[-1] == "smoke: 2 tasks, 4 properties, 2 held, 2 failed, 1 waived, 1 flagged"
    nothing = smoke(Audited(path="none", verdict="missing"), audited())
    assert "no close · score withheld · receipts missing" in report_lines([nothing])[1]
    assert any(line.startswith("nothing tested") for line in report_lines([nothing]))


def test_several_are_one_line_each_and_what_did_not_hold() -> None:
    lines = report_lines([GOOD, BAD, REFUSED])

    assert lines[0].split() == [
        "HARNESS", "MODEL", "ASKED", "EFFORT", "OUTPUT_LIMIT", "REASONING", "NO_LENGTH_STOP",
        "FLAGS",
    ]  # fmt: skip
    assert lines[1].split() == [
        "opencode@1", "box/m", "effort", "max", "passed", "passed", "passed", "passed", "-",
    ]  # fmt: skip
    assert "2: reasoning failed, long-think: in none of 2 responses" in lines
    assert "3: nothing tested: no account <box> & co" in lines
    assert not [line for line in lines if line.startswith("1: ")]
