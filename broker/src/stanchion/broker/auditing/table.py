"""Reports as rows of a table, one an attempt, for spreadsheets. Pure.

Unknown is an empty cell, never a zero. A cell that a spreadsheet would take for a formula is told
apart by a leading apostrophe: every word comes from a file that somebody else may have written.
"""

import csv
import io
from collections.abc import Iterable

from stanchion.broker.auditing.facts import Along
from stanchion.broker.auditing.judging import Report

COLUMNS = (
    "run", "attempt", "verdict", "profile", "account", "account_key", "model", "harness",
    "limit_declared", "limit_observed", "effort_requested", "effort_observed", "exchanges",
    "length_stops", "reasoning_present", "outcome", "grade", "score", "signer_key", "head", "path",
    "calls", "sendings", "ambiguous",
)  # fmt: skip
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def csv_text(reports: Iterable[Report]) -> str:
    """A heading and one line a report."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    for report in (report for report in reports if report.job is None):
        cells = _cells(report)
        writer.writerow([_safe(cells.get(column)) for column in COLUMNS])
    return out.getvalue()


def _cells(report: Report) -> dict[str, object]:
    facts = report.facts
    cells: dict[str, object] = {
        "run": report.run,
        "attempt": report.attempt,
        "verdict": report.verdict.value,
        "exchanges": report.exchanges,
        "signer_key": report.signer.fingerprint if report.signer else None,
        "head": report.head,
        "path": report.path,
    }
    if facts is None:
        return cells
    return cells | {
        "profile": facts.profile,
        "account": facts.account,
        "account_key": facts.account_key,
        "model": facts.model.requested,
        "harness": facts.harness,
        "limit_declared": facts.output_limit.requested,
        "limit_observed": _observed(facts.output_limit),
        "effort_requested": facts.effort.requested,
        "effort_observed": _observed(facts.effort),
        "length_stops": facts.lengths.stops if facts.lengths else None,
        "reasoning_present": facts.reasoning.present if facts.reasoning else None,
        "outcome": facts.outcome,
        "grade": facts.grade,
        "score": facts.score,
        "calls": facts.calls,
        "sendings": facts.sendings,
        "ambiguous": facts.ambiguous,
    }


def _observed(along: Along) -> str:
    """Each value on the wire, several of them with a bar between."""
    return "|".join(
        "absent" if seen.value is None else str(seen.value) for seen in along.on_the_wire
    )


def _safe(value: object) -> str:
    text = "" if value is None else str(value)
    return f"'{text}" if text.startswith(_FORMULA) else text
