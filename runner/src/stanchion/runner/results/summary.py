"""Sums over the attempts of a job. Pure.

A mean never stands alone: scored, withheld by cause and coverage are beside it, since leaving dead
attempts out can flatter a model.
"""

from collections import Counter
from collections.abc import Sequence

import msgspec

from stanchion.protocol.result import AttemptResult


class Summary(msgspec.Struct, frozen=True, kw_only=True):
    """`summary.json`."""

    attempts: int
    scored: int
    withheld: dict[str, int]
    """Number of attempts without a score, by how they ended (or by the grade that is missing)."""
    coverage: float | None
    """Scored attempts over all; null without attempts."""
    mean_over_scored: float | None
    """Null where nothing was scored."""


def summarise(results: Sequence[AttemptResult]) -> Summary:
    """The sums over these attempts."""
    scores = [result.score for result in results if result.score is not None]
    causes = Counter(cause(result) for result in results if result.score is None)
    return Summary(
        attempts=len(results),
        scored=len(scores),
        withheld=dict(sorted(causes.items())),
        coverage=len(scores) / len(results) if results else None,
        mean_over_scored=sum(scores) / len(scores) if scores else None,
    )


def cause(result: AttemptResult) -> str:
    """Why there is no score: the ending, or the missing grade of a run that ended well."""
    ended_well = result.outcome.blame is None
    return str(result.grade if ended_well and result.grade != "graded" else result.outcome.reason)


def summary_text(summary: Summary) -> str:
    """The same for people."""
    causes = ", ".join(f"{number} {why}" for why, number in summary.withheld.items())
    withheld = f"{summary.attempts - summary.scored}{f' ({causes})' if causes else ''}"
    return (
        f"attempts          {summary.attempts}\n"
        f"scored            {summary.scored}\n"
        f"withheld          {withheld}\n"
        f"coverage          {_shown(summary.coverage)}\n"
        f"mean over scored  {_shown(summary.mean_over_scored)}\n"
    )


def _shown(value: float | None) -> str:
    return "unknown" if value is None else f"{value:.3f}"
