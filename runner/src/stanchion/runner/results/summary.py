"""Sums over the attempts of a job. Pure.

A mean never stands alone: scored, withheld by cause, not started and coverage are beside it, since
leaving dead attempts out can flatter a model. A planned attempt counts once, by its newest try;
the tries before it are counted apart. Unknown is null, in every sum.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from decimal import Decimal

import msgspec

from stanchion.protocol.result import AttemptResult, UsageShown
from stanchion.protocol.usage import agreed, mixed

Key = tuple[str, int]
"""A task's name and the number of an attempt."""


class Sums(msgspec.Struct, frozen=True, kw_only=True):
    """Of one task, or of all."""

    planned: int
    attempts: int
    """With a result, retried ones too."""
    scored: int
    withheld: dict[str, int]
    """Planned attempts without a score, by how they ended (or by the grade that is missing)."""
    running: int
    not_started: int
    retried: dict[str, int]
    """Attempts that another one retries, by how they ended."""
    coverage: float | None
    """Scored over planned; null without any."""
    mean_over_scored: float | None
    """Null where nothing was scored."""
    usage: UsageShown
    """Over all attempts, retried ones too; null where one of them does not know."""
    calls: int | None = None
    """Logical calls of the harness, over all attempts; null where one of them was not counted."""
    sendings: int | None = None
    """How often their requests left, each try counted."""
    ambiguous: int | None = None
    """Sendings of which nobody knows whether the provider processed them."""


class Summary(Sums, frozen=True, kw_only=True):
    """`summary.json`."""

    tasks: dict[str, Sums]


def summarise(
    results: Sequence[AttemptResult],
    *,
    planned: Mapping[str, int] | None = None,
    retried: Collection[Key] = (),
    running: Collection[Key] = (),
) -> Summary:
    """The sums over these attempts; without a plan every one that is not retried was planned."""
    if planned is None:
        finals = [result for result in results if _key(result) not in retried]
        planned = Counter(result.task for result in finals)
    tasks = {
        name: _sums(
            number,
            [result for result in results if result.task == name],
            retried,
            sum(task == name for task, _ in running),
        )
        for name, number in planned.items()
    }
    total = _sums(sum(planned.values()), results, retried, len(running))
    return Summary(**{name: getattr(total, name) for name in Sums.__struct_fields__}, tasks=tasks)


def _key(result: AttemptResult) -> Key:
    return result.task, result.attempt


def _sums(
    planned: int, results: Sequence[AttemptResult], retried: Collection[Key], running: int
) -> Sums:
    finals = [result for result in results if _key(result) not in retried]
    before = [result for result in results if _key(result) in retried]
    scores = [result.score for result in finals if result.score is not None]
    return Sums(
        planned=planned,
        attempts=len(results),
        scored=len(scores),
        withheld=_causes(result for result in finals if result.score is None),
        running=running,
        not_started=max(0, planned - len(finals) - running),
        retried=_causes(before),
        coverage=len(scores) / planned if planned else None,
        mean_over_scored=sum(scores) / len(scores) if scores else None,
        usage=_usage(results),
        calls=_total([result.receipts.calls for result in results]),
        sendings=_total([result.receipts.sendings for result in results]),
        ambiguous=_total([result.receipts.ambiguous for result in results]),
    )


def _causes(results: Iterable[AttemptResult]) -> dict[str, int]:
    return dict(sorted(Counter(cause(result) for result in results).items()))


def cause(result: AttemptResult) -> str:
    """Why there is no score: the ending, or the missing grade of a run that ended well."""
    ended_well = result.outcome.blame is None
    return str(result.grade if ended_well and result.grade != "graded" else result.outcome.reason)


def _usage(results: Sequence[AttemptResult]) -> UsageShown:
    usages = [result.usage for result in results]
    cache = [usage.input_includes_cache for usage in usages]
    reasoning = [usage.output_includes_reasoning for usage in usages]
    inputs, outputs = [u.input_tokens for u in usages], [u.output_tokens for u in usages]
    return UsageShown(
        input_tokens=None if mixed(cache) else _total(inputs),
        output_tokens=None if mixed(reasoning) else _total(outputs),
        reasoning_tokens=_total([usage.reasoning_tokens for usage in usages]),
        cost=_cost([usage.cost for usage in usages]),
        input_includes_cache=agreed(cache),
        output_includes_reasoning=agreed(reasoning),
    )


def _total(values: list[int | None]) -> int | None:
    known = [value for value in values if value is not None]
    return sum(known) if known and len(known) == len(values) else None


def _cost(values: list[str | None]) -> str | None:
    known = [Decimal(value) for value in values if value is not None]
    return str(sum(known, Decimal(0))) if known and len(known) == len(values) else None


def summary_text(summary: Summary) -> str:
    """The same for people; tasks are listed where there are several."""
    width = max((len(name) for name in summary.tasks), default=0)
    rows = [f"{name:<{width}}  {_row(sums)}" for name, sums in summary.tasks.items()]
    table = "\n".join([*rows, "", ""]) if len(rows) > 1 else ""
    usage = summary.usage
    tries = sum(summary.retried.values())
    lines = {
        "planned": str(summary.planned),
        "scored": str(summary.scored),
        "withheld": _counted(summary.withheld),
        "running": str(summary.running) if summary.running else "",
        "not started": str(summary.not_started),
        "retried": _counted(summary.retried) if tries else "",
        "coverage": _shown(summary.coverage),
        "mean over scored": _shown(summary.mean_over_scored),
        "calls": _calls(summary),
        "tokens": f"in {_known(usage.input_tokens)}  out {_known(usage.output_tokens)}  "
        f"cost {usage.cost or 'unknown'}",
    }
    return table + "".join(f"{name:<18}{text}\n" for name, text in lines.items() if text)


def _calls(sums: Sums) -> str:
    lost = f" ({sums.ambiguous} ambiguous)" if sums.ambiguous else ""
    return f"{_known(sums.calls)} logical, {_known(sums.sendings)} sendings{lost}"


def _row(sums: Sums) -> str:
    return (
        f"scored {sums.scored} of {sums.planned}  mean {_shown(sums.mean_over_scored)}  "
        f"withheld {_counted(sums.withheld)}"
        + (f"  running {sums.running}" if sums.running else "")
        + (f"  not started {sums.not_started}" if sums.not_started else "")
    )


def _counted(causes: Mapping[str, int]) -> str:
    by_cause = ", ".join(f"{number} {why}" for why, number in causes.items())
    return f"{sum(causes.values())}{f' ({by_cause})' if by_cause else ''}"


def _known(value: int | None) -> str:
    return "unknown" if value is None else f"{value:,}"


def _shown(value: float | None) -> str:
    return "unknown" if value is None else f"{value:.3f}"
