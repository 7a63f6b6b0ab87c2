"""Holds the expectations of the fault matrix still: none changes without a line in the changelog.

    python tests/conformance/faults/expectations.py --check     # part of make check
    python tests/conformance/faults/expectations.py --accept    # after the line is written

`expected.json` has every row's expectation and, for each that ever changed, the line on it.
"""

import json
import sys
from collections.abc import Mapping
from pathlib import Path

import msgspec

from conformance.faults.page import PAGE, page
from conformance.faults.rows import read_rows

FILE = Path(__file__).parent / "expected.json"
CHANGELOG = Path(__file__).parents[3] / "CHANGELOG.md"
Expectations = Mapping[str, object]


def now() -> dict[str, object]:
    """What the rows say."""
    rows = {row.name: {"expected": row.expected, "plain": row.plain} for row in read_rows()}
    return dict(json.loads(msgspec.json.encode(rows)))


def line_naming(name: str, changelog: str) -> str | None:
    """The changelog's line on a fault, as `fault NAME: why`."""
    mark = f"fault `{name}`"
    return next((line.strip() for line in changelog.splitlines() if mark in line), None)


def problems(frozen: Expectations, rows: Expectations, lines: Expectations, log: str) -> list[str]:
    """Why the check fails; nothing where all is said."""
    found = [f"{name}: not in expected.json yet" for name in rows if name not in frozen]
    for name, expected in frozen.items():
        if rows.get(name) != expected:
            what = "was removed" if name not in rows else "has another expectation"
            found.append(f"{name}: {what}")
    found += [
        f"{name}: its line is gone from CHANGELOG.md: {line}"
        for name, line in lines.items()
        if str(line) not in log
    ]
    return found


def accepted(
    frozen: Expectations, rows: Expectations, lines: Expectations, log: str
) -> tuple[dict[str, object], list[str]]:
    """The lines to keep, and the changed rows that no line names."""
    changed = [name for name, expected in frozen.items() if rows.get(name) != expected]
    named = {name: line_naming(name, log) for name in changed}
    kept = {**lines, **{name: line for name, line in named.items() if line is not None}}
    return kept, [name for name, line in named.items() if line is None]


def main() -> int:
    """Check or accept."""
    stored = json.loads(FILE.read_text()) if FILE.exists() else {"expected": {}, "changed": {}}
    frozen, lines, log = stored["expected"], stored["changed"], CHANGELOG.read_text()
    if sys.argv[1:] == ["--accept"]:
        kept, unnamed = accepted(frozen, now(), lines, log)
        if unnamed:
            sys.stderr.write(f"no line `- fault `NAME`: why` in CHANGELOG.md for: {unnamed}\n")
            return 1
        FILE.write_text(json.dumps({"expected": now(), "changed": kept}, indent=1) + "\n")
        PAGE.write_text(page(read_rows()))
        return 0
    found = problems(frozen, now(), lines, log)
    if not PAGE.exists() or PAGE.read_text() != page(read_rows()):
        found.append(f"{PAGE.name} is not what the rows say")
    remedy = "say why in CHANGELOG.md (fault `NAME`: …), then make faults-accept"
    sys.stdout.write("".join(f"{one}; {remedy}\n" for one in found))
    sys.stdout.write(f"faults: {len(now())} expectations, {len(found)} unexplained changes\n")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
