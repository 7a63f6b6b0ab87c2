"""What was found and done, a line each, for people. Pure."""

from collections.abc import Sequence

from stanchion.runner.live.amounts import duration
from stanchion.runner.orphans.removing import Removed
from stanchion.runner.orphans.traces import Trace


def found_lines(found: Sequence[Trace]) -> list[str]:
    """One line a trace, those of one attempt together."""
    if not found:
        return ["no orphans"]
    ordered = sorted(found, key=lambda trace: (not trace.proven, trace.attempt or "~"))
    return [_line(trace, "ORPHAN" if trace.proven else "unknown", trace.why) for trace in ordered]


def removed_lines(done: Sequence[Removed]) -> list[str]:
    """The same for what was taken away."""
    return [_line(one.trace, "fixed" if one.done else "LEFT", one.words) for one in done]


def _line(trace: Trace, word: str, why: str) -> str:
    whose = trace.attempt or "-"
    age = "" if trace.age_s is None else f", begun {duration(trace.age_s * 1000)} ago"
    task = f" ({trace.task}{age})" if trace.task else ""
    return f"{word:<9}{trace.kind:<11}{whose}{task}  {trace.what}: {why}"
