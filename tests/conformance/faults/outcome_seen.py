"""How a played row ended, from either way of playing, and what is wrong with it."""

from dataclasses import dataclass

from conformance.faults.rows import Kind, Row
from stanchion.protocol.outcome import Blame, EndReason, Flag, Grade, Retry

STOPPED = frozenset(
    {
        EndReason.STALLED_FAILING, EndReason.STALLED_SILENT, EndReason.LENGTH_STOP,
        EndReason.DEADLINE_IDLE, EndReason.DEADLINE_PROGRESS, EndReason.RATE_LIMITED,
    }
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What the product said."""

    reason: EndReason
    detail: str
    flags: tuple[Flag, ...]
    blame: Blame | None
    retry: Retry
    grade: Grade
    score: float | None
    plain: float | None
    """The reward as the tests left it, 0 where there is none: a plain runner's score."""


@dataclass(frozen=True, slots=True)
class Judged:
    """A row beside what was seen."""

    row: Row
    seen: Seen

    @property
    def wrong(self) -> tuple[str, ...]:
        """Every expectation that does not hold."""
        expected, seen = self.row.expected, self.seen
        pairs = {
            "reason": (expected.reason, seen.reason),
            "blame": (expected.blame, seen.blame),
            "retry": (expected.retry, seen.retry),
            "grade": (expected.grade, seen.grade),
            "score": (expected.score, seen.score),
            "plain": (self.row.plain, seen.plain),
        }
        found = [f"{what}: {a} expected, {b} seen" for what, (a, b) in pairs.items() if a != b]
        missing = [flag for flag in expected.flags if flag not in seen.flags]
        found += [f"flag {flag} missing among {list(seen.flags)}" for flag in missing]
        if expected.says is not None and expected.says not in seen.detail:
            found.append(f"detail: {expected.says!r} is not in {seen.detail!r}")
        return tuple(found)

    @property
    def false_zero(self) -> bool:
        """A dead agent that was scored like a wrong one."""
        return self.row.expected.score is None and self.seen.score is not None

    @property
    def false_null(self) -> bool:
        """A result that counts and was withheld."""
        return self.row.expected.score is not None and self.seen.score is None

    @property
    def false_stop(self) -> bool:
        """A healthy agent that was stopped."""
        return self.row.kind is not Kind.FAULT and (
            self.seen.reason in STOPPED and self.seen.reason is not self.row.expected.reason
        )
