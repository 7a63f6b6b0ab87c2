"""A result as people read it: one block of aligned lines. Pure.

Shows what is known and says what is not; a withheld score is never shown as a number.
"""

from stanchion.protocol.result import AttemptResult

UNKNOWN = "unknown"
LABEL_WIDTH = 7


def result_text(result: AttemptResult) -> str:
    """The block."""
    lines = [
        _head(result),
        _line("ENDED", _ending(result)),
        _line("why", result.outcome.detail),
        _line("limit", _limit(result)),
        _line("effort", _effort(result)),
        _line("model", _model(result)),
        _line("usage", _usage(result)),
        _line("time", _time(result)),
        _line("box", _box(result)),
        _line("proof", _proof(result)),
    ]
    return "\n".join(lines)


def _head(result: AttemptResult) -> str:
    harness = f"{result.harness.name} {result.harness.version}"
    return f"run {result.run} · {result.task} attempt {result.attempt} · {harness} · {result.model}"


def _line(label: str, text: str) -> str:
    return f"{label:<{LABEL_WIDTH}}{text}"


def _ending(result: AttemptResult) -> str:
    outcome = result.outcome
    parts = [str(outcome.reason)]
    if outcome.blame is not None:
        parts.append(f"blame {outcome.blame}")
    if outcome.retry != "never":
        parts.append(f"retry {outcome.retry}")
    parts.append(score_text(result))
    if outcome.flags:
        parts.append(f"flags {', '.join(outcome.flags)}")
    return " · ".join(parts)


def score_text(result: AttemptResult) -> str:
    """The score, or that it is withheld and what the tests had said."""
    if result.score is not None:
        return f"score {result.score:g}"
    if result.reward:
        said = ", ".join(f"{value:g}" for value in result.reward.values())
        return f"score WITHHELD (tests said {said})"
    return f"score WITHHELD ({result.grade})"


def _limit(result: AttemptResult) -> str:
    seen = result.limits.output_tokens
    observed = _observed(seen.observed)
    corrected = " · corrected" if seen.corrected else ""
    return (
        f"{seen.source or UNKNOWN} {_known(seen.declared)} | written {_known(seen.written)} | "
        f"wire {observed}{corrected}"
    )


def _effort(result: AttemptResult) -> str:
    seen = result.effort
    asked = seen.requested or "unspecified"
    return f"{asked} | written {seen.written or 'nothing'} | wire {_observed(seen.observed)}"


def _model(result: AttemptResult) -> str:
    reasoning = {True: "seen", False: "none", None: UNKNOWN}[result.reasoning_present]
    return f"reasoning {reasoning} · length stops {_known(result.length_stops)}"


def _usage(result: AttemptResult) -> str:
    usage = result.usage
    return (
        f"in {_known(usage.input_tokens)}  out {_known(usage.output_tokens)}  "
        f"reasoning {_known(usage.reasoning_tokens)}  cost {usage.cost or UNKNOWN}"
    )


def _time(result: AttemptResult) -> str:
    stages = result.stages
    shown = {
        "start": _sum(stages.sandbox_start_s, stages.supervisor_start_s),
        "first response": stages.first_response_s,
        "agent": stages.agent_s,
        "held": stages.held_s,
        "verify": stages.verify_s,
        "total": stages.total_s,
    }
    return "  ".join(
        f"{name} {UNKNOWN if seconds is None else f'{seconds:.1f}'}"
        for name, seconds in shown.items()
    )


def _box(result: AttemptResult) -> str:
    box = result.sandbox
    kind = "gVisor" if box.kind == "runsc" else box.kind
    limits = {True: "limits enforced", False: "limits NOT enforced", None: "limits unknown"}
    image = f"base sha256:{result.image.verified[:12]}…" if result.image.verified else "no image"
    network = "no network" if box.network == "none" else f"network {box.network}"
    return (
        f"{kind} {box.isolation or UNKNOWN} · {network} · {image} · "
        f"{limits[box.limits_enforced]} · oom {_known(box.oom_kills)}"
    )


def _proof(result: AttemptResult) -> str:
    receipts = result.receipts
    if receipts.bundle is None or receipts.head is None:
        return "no receipts could be fetched"
    return f"{receipts.bundle} · {receipts.exchanges} exchanges · head {receipts.head[:4]}…"


def _observed(values: tuple[int | None, ...] | tuple[str | None, ...]) -> str:
    return ", ".join("nothing" if value is None else str(value) for value in values) or "no request"


def _known(value: int | None) -> str:
    return UNKNOWN if value is None else f"{value}"


def _sum(left: float | None, right: float | None) -> float | None:
    return None if left is None or right is None else left + right
