"""A smoke run as people read it: one combination whole, or one line each and what did not hold."""

from collections.abc import Sequence

from stanchion.runner.smoke.judging import Holds, Property
from stanchion.runner.smoke.report import SmokeReport, closing_line

HEADINGS = ("HARNESS", "MODEL", "ASKED", *(name.value.upper() for name in Property), "FLAGS")


def report_lines(reports: Sequence[SmokeReport]) -> list[str]:
    """The table, then one plain line."""
    lines = _one(reports[0]) if len(reports) == 1 else _several(reports)
    return [*lines, closing_line(reports)]


def _one(found: SmokeReport) -> list[str]:
    lines = [f"smoke · {' · '.join((found.harness, found.model, *_asked(found)))}"]
    for task in found.tasks:
        score = "withheld" if task.score is None else task.score
        lines.append(
            f"  {task.task:<16} {task.outcome or 'no close'} · score {score} · "
            f"receipts {task.verdict} · {task.bundle}"
        )
    for name in Property:
        words = name.value.replace("_", " ")
        lines.append(f"{words:<16} {_verdict(found, name)}")
        lines += [
            f"  {task.task:<16} {finding.holds.value}: {finding.why}"
            for task in found.tasks
            for finding in task.findings
            if finding.property is name
        ]
    lines += [f"{'flag':<16} {one.flag}, {one.task}: {one.why}" for one in found.flags]
    return [*lines, *(f"{'nothing tested':<16} {words}" for words in found.problems)]


def _several(reports: Sequence[SmokeReport]) -> list[str]:
    rows = [HEADINGS, *map(_row, reports)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(HEADINGS))]
    lines = ["  ".join(map(str.ljust, row, widths)).rstrip() for row in rows]
    for at, found in enumerate(reports, 1):
        lines += [f"{at}: {words}" for words in _remarks(found)]
    return lines


def _row(found: SmokeReport) -> tuple[str, ...]:
    verdicts = (
        f"{found.properties[name].value}{' (waived)' if name in found.waived else ''}"
        for name in Property
    )
    flags = ", ".join(sorted({one.flag for one in found.flags})) or "-"
    return (found.harness, found.model, " ".join(_asked(found)) or "-", *verdicts, flags)


def _remarks(found: SmokeReport) -> list[str]:
    """What the row of one combination cannot say."""
    remarks = [
        f"{finding.property.value} {finding.holds.value}, {task.task}: {finding.why}"
        for task in found.tasks
        for finding in task.findings
        if finding.holds in {Holds.FAILED, Holds.UNDETERMINED}
    ]
    remarks += [f"{name.value} is waived: {why}" for name, why in found.waived.items()]
    remarks += [f"{one.flag}, {one.task}: {one.why}" for one in found.flags]
    return [*remarks, *(f"nothing tested: {words}" for words in found.problems)]


def _asked(found: SmokeReport) -> list[str]:
    return [f"{name} {value}" for name, value in found.asked.items()]


def _verdict(found: SmokeReport, name: Property) -> str:
    """With the reason that lets it fail."""
    holds, reason = found.properties[name], found.waived.get(name)
    return holds.value if reason is None else f"{holds.value} (waived: {reason})"
