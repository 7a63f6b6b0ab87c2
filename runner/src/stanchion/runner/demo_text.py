"""The demo's two evidence steps as lines of text. Pure."""

from stanchion.protocol.result import AttemptResult
from stanchion.runner.audit_call import AuditVerdict
from stanchion.runner.result_text import score_text

COLUMN = 12


def evidence_lines(
    result: AttemptResult,
    responses: int,
    places: int | None,
    places_why: str,
    verdict: AuditVerdict,
) -> list[str]:
    """What the attempt was, and what proves it."""
    limit, effort = result.limits.output_tokens, result.effort
    total = "unknown" if result.stages.total_s is None else f"{result.stages.total_s:.1f} s"
    found = "could not be looked for: " + places_why if places is None else f"{places} places"
    count = result.receipts.exchanges
    box = f"gVisor {result.sandbox.isolation or 'isolation unknown'}, no network"
    ended = f"  ended {result.outcome.reason} · {score_text(result)}"
    return [
        f"[4/5] attempt   {result.task} · {box} · {responses} model responses · {total}",
        f"[5/5] evidence  {result.receipts.bundle} · {verdict.records} records · {verdict.words}",
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
