"""The page of the fault matrix in the docs, from its rows; `expectations` holds it to them."""

from collections.abc import Sequence
from pathlib import Path

from conformance.faults.rivals import RIVALS
from conformance.faults.rows import Kind, Row

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "fault-matrix.md"
TITLES = {
    Kind.FAULT: "Faults",
    Kind.ODD: "Odd, and healthy",
    Kind.LONG: "Healthy for long",
}
HEAD = """\
# The fault matrix

Generated from `tests/conformance/faults/rows` by `make faults-accept`. Each row is played by `make
faults`: with the real OpenCode or Claude Code in gVisor, or where it says *scripted* with a harness
that is a script under the real supervisor and the real broker. *Plain* is what a runner that takes
the verifier's reward, and 0 where there is none, would have scored.

The columns to compare are the last two: a dead agent must not be a zero, a right answer must not be
withheld, and whoever is healthy must not be stopped.
"""
OTHERS = """
## What others make of the same endings

Measured on 2026-11-30 with the same scripted harness and provider, six endings each: exit 1 after
429, an error event and exit 0, a length stop without an answer, SIGKILL, a truncated stream and
exit 0, a hang with heartbeats. *Counted as 0* is how many of the six entered the mean as a zero.

| system | version | counted as 0 | a right answer before a crash |
|---|---|---|---|
{rivals}

verifiers, Inspect and BenchFlow withhold the score of a harness that exits with another code than
0; what is in none of them at once are deaths with exit 0, hangs, and earned credit that is kept.
Withholding can flatter a model, so wherever a mean is shown here, what was withheld, by cause, and
the coverage stand beside it.
"""


def page(rows: Sequence[Row]) -> str:
    """All of it."""
    parts = [HEAD]
    for kind, title in TITLES.items():
        these = sorted(
            (row for row in rows if row.kind is kind), key=lambda row: (row.family, row.name)
        )
        parts.append(f"\n## {title} ({len(these)})\n\n{_table(these)}")
    rivals = "\n".join(
        f"| {one.system} | {one.version} | {one.counted_as_0} | {one.credit} |" for one in RIVALS
    )
    return "".join([*parts, OTHERS.format(rivals=rivals)])


def _table(rows: Sequence[Row]) -> str:
    lines = [
        "| fault | what happens | begins with | harness | ends | score | plain |",
        "|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        score = "withheld" if row.expected.score is None else f"{row.expected.score:g}"
        plain = "none" if row.plain is None else f"{row.plain:g}"
        lines.append(
            f"| `{row.name}` | {row.title} | {row.family} | {row.harness} "
            f"| `{row.expected.reason}` | {score} | {plain} |"
        )
    return "\n".join(lines) + "\n"
