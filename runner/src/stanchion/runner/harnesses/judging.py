"""Whether a cell is right, refused as declared, or wrong; one plain reason where it is wrong. Pure.

Right: every main request carried the declared limit and effort, by itself or by a correction that
the adapter declares, which is shown. Never softened by how the attempt ended otherwise.
"""

from collections.abc import Iterator, Sequence
from enum import StrEnum

import msgspec

from stanchion.harness_adapters.base import Adapter, all_corrections
from stanchion.runner.harnesses.cells import Cell, Scenario
from stanchion.runner.harnesses.wire_reading import Request, Seen

MOST_REFUSED = 0.15
NEVER_REFUSED = ("claude_code", "codex", "opencode")
NEVER_REFUSED_TO = 128_000


class Verdict(StrEnum):
    """What came of a cell."""

    RIGHT = "right"
    REFUSED = "refused"
    WRONG = "wrong"


class Judged(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One cell of a conformance record: what was asked for, and what was seen."""

    cell: str
    verdict: Verdict
    written: tuple[int | None, str | None] | None = None
    """Limit and effort as read back; None = it was never written."""
    first: Request | None = None
    again: tuple[Request, ...] = ()
    """Each other kind of later request, in order of first sight."""
    why: str | None = None
    """What is wrong, or the id of the refusal."""

    @property
    def asked_again(self) -> bool:
        """Whether a later request was seen."""
        return bool(self.again)


def judge_refusal(cell: Cell, adapter: Adapter, refusal_id: str) -> Judged:
    """A launch that was refused before its start."""
    declared = _declared(cell, adapter)
    if declared == refusal_id:
        return Judged(cell=cell.name, verdict=Verdict.REFUSED, why=refusal_id)
    why = f"refused as {refusal_id}, which the adapter does not declare"
    return Judged(cell=cell.name, verdict=Verdict.WRONG, why=why)


def judge_failure(cell: Cell, why: str) -> Judged:
    """A launch that left nothing to look at."""
    return Judged(cell=cell.name, verdict=Verdict.WRONG, why=why)


def judge(cell: Cell, adapter: Adapter, seen: Seen, ended: str) -> Judged:
    """A launch that ran; `ended` says how, for people."""
    why = next(_faults(cell, adapter, seen), None)
    if why is not None:
        why = f"{why}; the attempt ended as {ended}"
    first, later = seen.requests[:1], seen.requests[1:]
    return Judged(
        cell=cell.name,
        verdict=Verdict.WRONG if why else Verdict.RIGHT,
        written=(seen.written_limit, seen.written_effort),
        first=first[0] if first else None,
        again=tuple(dict.fromkeys(later)),
        why=why,
    )


def _faults(cell: Cell, adapter: Adapter, seen: Seen) -> Iterator[str]:
    """All that is wrong, the most telling first."""
    wanted = (cell.limit, cell.effort)
    if declared := _declared(cell, adapter):
        yield f"it ran although the adapter declares that it is refused as {declared}"
    if seen.trouble:
        yield seen.trouble
    if not seen.requests:
        yield "the harness made no request"
    made = all_corrections(adapter, cell.dialect, cell.limit, cell.effort)
    values, known = {found.value for found in made}, {found.field for found in made}
    for value, written in zip(wanted, (seen.written_limit, seen.written_effort), strict=True):
        # What the broker writes, the harness need not have been told.
        if written != value and not (written is None and value in values):
            yield f"written {seen.written_limit} {seen.written_effort}"
    for number, request in enumerate(seen.requests, 1):
        if (request.limit, request.effort) != wanted:
            yield f"request {number} of {len(seen.requests)}: {request.limit} {request.effort}"
        if strange := set(request.corrected) - known:
            yield f"request {number}: {', '.join(sorted(strange))} corrected without declaration"
    if cell.scenario is Scenario.PLAIN and not seen.answered:
        yield "no request was answered"


def _declared(cell: Cell, adapter: Adapter) -> str | None:
    found = (
        refuses.id
        for refuses in adapter.refuses
        if refuses.covers(cell.dialect, cell.effort, cell.limit)
    )
    return next(found, None)


def shortcomings(judged: Sequence[tuple[Cell, Judged]], *, whole: bool) -> list[str]:
    """What keeps the whole list from being good although each of its cells may be right."""
    found = []
    refused = [cell for cell, result in judged if result.verdict is Verdict.REFUSED]
    if judged and len(refused) / len(judged) > MOST_REFUSED:
        share = f"{len(refused)} of {len(judged)}"
        found.append(f"{share} cells are refused, more than {MOST_REFUSED:.0%}")
    never = [
        cell for cell in refused if cell.harness in NEVER_REFUSED and cell.limit <= NEVER_REFUSED_TO
    ]
    found += [f"{cell.harness} refuses {cell.name}, which it may never" for cell in never]
    if whole:
        asked_again = {cell.harness for cell, result in judged if result.asked_again}
        harnesses = dict.fromkeys(cell.harness for cell, _ in judged)
        found += [
            f"no cell of {name} covers a retry or a fallback"
            for name in harnesses
            if name not in asked_again
        ]
    return found
