"""What was played, beside what a plain runner would have said; one JSON line a row while they run.

`python tests/conformance/faults/table.py FILE` prints the table and its closing line, and fails
where a row was wrong.
"""

import json
import os
import sys
from pathlib import Path

from conformance.faults.outcome_seen import Judged

VARIABLE = "STANCHION_FAULTS_FILE"
COLUMNS = ("fault", "harness", "ended", "score", "plain runner", "")


def note(judged: Judged) -> None:
    """Keep a row, where somebody asked for the table."""
    if file := os.environ.get(VARIABLE):
        with Path(file).open("a") as lines:
            lines.write(json.dumps(_line(judged)) + "\n")


def _line(judged: Judged) -> dict[str, object]:
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
    }


def closing(lines: list[dict[str, object]]) -> str:
    """The one plain line at the end."""
    right = sum(not line["wrong"] for line in lines)
    counts = {name: sum(bool(line[name]) for line in lines)
              for name in ("false_zero", "false_stop", "false_null")}  # fmt: skip
    return (
        f"{len(lines)} faults, {right} right, {counts['false_zero']} false zeros, "
        f"{counts['false_stop']} false stops, {counts['false_null']} false nulls"
    )


def table(lines: list[dict[str, object]]) -> str:
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


def main() -> int:
    """The table of a file."""
    lines = [json.loads(line) for line in Path(sys.argv[1]).read_text().splitlines()]
    sys.stdout.write(f"{table(lines)}\n{closing(lines)}\n")
    return int(any(line["wrong"] for line in lines))


if __name__ == "__main__":
    sys.exit(main())
