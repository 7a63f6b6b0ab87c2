"""What was played, beside what a plain runner would have said; one JSON line a row while they run.

`python tests/conformance/faults/table.py FILE` prints the table and its closing line, and fails
where a row was wrong.
"""

import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from conformance.faults.outcome_seen import Judged
from conformance.faults.rivals import RIVALS
from conformance.faults.rows import read_rows

VARIABLE = "STANCHION_FAULTS_FILE"
Line = dict[str, object]
COLUMNS = ("fault", "harness", "ended", "score", "plain runner", "")


def note(judged: Judged) -> None:
    """Keep a row, where somebody asked for the table."""
    if file := os.environ.get(VARIABLE):
        with Path(file).open("a") as lines:
            lines.write(json.dumps(_line(judged)) + "\n")


def _line(judged: Judged) -> Line:
    row, seen = judged.row, judged.seen
    return {
        "fault": row.name,
        "kind": row.kind,
        "family": row.family,
        "harness": row.harness,
        "ended": seen.reason,
        "score": seen.score,
        "plain": seen.plain,
        "wrong": judged.wrong,
        "false_zero": judged.false_zero,
        "false_stop": judged.false_stop,
        "false_null": judged.false_null,
        "plain_zero": row.expected.score is None and seen.plain is not None,
    }


def closing(lines: list[Line], absent: Sequence[str] = ()) -> str:
    """The one plain line at the end. A row that was not played counts, and is not right."""
    right = sum(not line["wrong"] for line in lines)
    counts = {name: sum(bool(line[name]) for line in lines)
              for name in ("false_zero", "false_stop", "false_null")}  # fmt: skip
    return (
        f"{len(lines) + len(absent)} faults, {right} right, {counts['false_zero']} false zeros, "
        f"{counts['false_stop']} false stops, {counts['false_null']} false nulls"
    )


def table(lines: list[Line]) -> str:
    """All rows, for people."""
    cells = [COLUMNS]
    for line in sorted(lines, key=lambda line: (str(line["kind"]), str(line["family"]))):
        score = "withheld" if line["score"] is None else f"{line['score']:g}"
        verdict = "right" if not line["wrong"] else f"WRONG {line['wrong']}"
        cells.append(
            (str(line["fault"]), str(line["harness"]), str(line["ended"]), score,
             f"{line['plain']:g}", verdict)
        )  # fmt: skip
    widths = [max(len(row[place]) for row in cells) for place in range(len(COLUMNS))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in cells
    )


def others(lines: list[Line]) -> str:
    """What a plain runner would have made of the same rows, and other systems of six of them."""
    zeros = sum(bool(line["plain_zero"]) for line in lines)
    parts = [f"a plain runner (the reward, 0 where there is none): {zeros} false zeros"]
    parts += [
        f"{one.system} {one.version}, of six such endings: counted as 0 {one.counted_as_0};"
        f" a right answer before a crash {one.credit}"
        for one in RIVALS
    ]
    return "\n".join(parts)


def missing(lines: list[Line]) -> list[str]:
    """Rows that were not played to their end."""
    return sorted({row.name for row in read_rows()} - {str(line["fault"]) for line in lines})


def main() -> int:
    """The table of a file; the closing line is the last."""
    lines = [json.loads(line) for line in Path(sys.argv[1]).read_text().splitlines()]
    absent = missing(lines)
    notes = "".join(f"{name}: not played to its end\n" for name in absent)
    sys.stdout.write(f"{table(lines)}\n\n{others(lines)}\n\n{notes}{closing(lines, absent)}\n")
    return int(bool(absent) or any(line["wrong"] for line in lines))


if __name__ == "__main__":
    sys.exit(main())
