"""What was found and done, a line each, for people. Pure."""

from collections.abc import Sequence

from stanchion.runner.live.amounts import duration
from stanchion.runner.orphans.removing import Removed
from stanchion.runner.orphans.traces import Trace, TraceKind


def found_lines(found: Sequence[Trace]) -> list[str]:
    """One line a trace, those of one attempt together."""
    if not found:
        return ["no orphans"]
    proven = sorted((t for t in found if t.proven), key=lambda trace: trace.attempt or "")
    return [*(_line(trace, "ORPHAN", trace.why) for trace in proven), *unknown_lines(found)]


def unknown_lines(found: Sequence[Trace]) -> list[str]:
    """What nobody here knows, a line a kind; `--json` names each."""
    lines = []
    for kind in TraceKind:
        unknown = [trace for trace in found if trace.kind is kind and not trace.proven]
        if unknown:
            first = f"{len(unknown)}, as {unknown[0].what}"
            lines.append(f"{'unknown':<9}{kind:<11}{first}: {unknown[0].why}; left alone")
    return lines


def removed_lines(done: Sequence[Removed]) -> list[str]:
    """The same for what was taken away."""
    return [_line(one.trace, "fixed" if one.done else "LEFT", one.words) for one in done]


def _line(trace: Trace, word: str, why: str) -> str:
    whose = trace.attempt or "-"
    age = "" if trace.age_s is None else f", begun {duration(trace.age_s * 1000)} ago"
    task = f" ({trace.task}{age})" if trace.task else ""
    return f"{word:<9}{trace.kind:<11}{whose}{task}  {trace.what}: {why}"
