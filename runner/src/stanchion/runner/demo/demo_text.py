"""The demo's two evidence steps as lines of text. Pure."""

from dataclasses import dataclass

from stanchion.protocol.result import AttemptResult
from stanchion.runner.demo.audit_call import AuditVerdict
from stanchion.runner.results.result_text import score_text

COLUMN = 12


@dataclass(frozen=True, slots=True)
class Seen:
    """What was seen beside the result."""

    responses: int
    places: int | None
    """Where the key was found in the sandbox; None where nobody could look."""
    places_why: str
    bundle: str
    memory_mb: int


def evidence_lines(result: AttemptResult, seen: Seen, verdict: AuditVerdict) -> list[str]:
    """What the attempt was, and what proves it."""
    limit, effort = result.limits.output_tokens, result.effort
    total = "unknown" if result.stages.total_s is None else f"{result.stages.total_s:.1f} s"
    found = f"{seen.places} places" if seen.places is not None else f"unknown: {seen.places_why}"
    count = result.receipts.exchanges
    isolation = result.sandbox.isolation or "isolation unknown"
    box = f"gVisor {isolation}, no network, {seen.memory_mb / 1024:.1f} GB"
    ended = f"  ended {result.outcome.reason} · {_tests(result)} · {score_text(result)}"
    return [
        f"[4/5] attempt   {result.task} · {box} · {seen.responses} model responses · {total}",
        f"[5/5] evidence  {seen.bundle} · {verdict.records} records · {verdict.words}",
        f"{'':<17}{'requested':<17}{'written':<{COLUMN}}on the wire ({count} requests)",
        _row(
            "output limit",
            f"{limit.source} {limit.declared}",
            limit.written,
            limit.observed,
            matches=limit.observed == (limit.declared,) and limit.written == limit.declared,
        ),
        _row(
            "effort",
            effort.requested or "unspecified",
            effort.written,
            effort.observed,
            matches=effort.observed == (effort.requested,),
        ),
        f"{ended} · real key found in the sandbox: {found}",
    ]


def _row(
    name: str,
    requested: str,
    written: object,
    observed: tuple[int | None, ...] | tuple[str | None, ...],
    *,
    matches: bool,
) -> str:
    wire = ", ".join(str(value) for value in observed) or "nothing"
    word = "ok" if matches else "DIFFERS"
    return f"  {name:<15}{requested:<17}{written!s:<{COLUMN}}{wire:<{COLUMN}}{word}"


def _tests(result: AttemptResult) -> str:
    if result.reward is None:
        return f"tests: {result.grade}"
    return "tests passed" if all(value > 0 for value in result.reward.values()) else "tests failed"
