"""Whether a task tells a solution from nothing, from its two attempts. Pure.

A verifier that cannot say no is as useless as one that never says yes; a grade that is missing is
neither. Judges the tests' word, not the score, which also weighs how an attempt ended.
"""

from collections.abc import Sequence

import msgspec

from stanchion.protocol.evidence import AnswerState
from stanchion.protocol.outcome import EndReason, Grade, headline
from stanchion.protocol.result import AttemptResult

NAME_WIDTH = 20


class Tried(msgspec.Struct, frozen=True, kw_only=True):
    """One of the two attempts."""

    grade: Grade
    reward: dict[str, float] | None
    reason: EndReason
    detail: str
    why: str | None
    """Why there is no grade."""
    verify_s: float | None
    total_s: float | None
    folder: str | None
    """Its files; null where they were removed."""


class Checked(msgspec.Struct, frozen=True, kw_only=True):
    """One task."""

    task: str
    ok: bool
    solution: Tried | None
    nothing: Tried | None
    """Null = could not be tried; `problems` says why."""
    untouched_reward: float | None
    """What nothing earned; null = not graded."""
    problems: tuple[str, ...]


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """`stanchion task check --json`."""

    tasks: tuple[Checked, ...]
    ok: bool
    folder: str | None
    """Where the attempts are kept; null = removed, since all was right."""


def tried(result: AttemptResult, folder: str | None) -> Tried:
    """What is needed of a result."""
    return Tried(
        grade=result.grade,
        reward=result.reward,
        reason=result.outcome.reason,
        detail=result.outcome.detail,
        why=result.why.get("grade"),
        verify_s=result.stages.verify_s,
        total_s=result.stages.total_s,
        folder=folder,
    )


def judge(
    task: str,
    solution: AttemptResult,
    nothing: AttemptResult,
    *,
    declared_untouched: float,
    folders: tuple[str | None, str | None],
) -> Checked:
    """The verdict about one task."""
    earned, untouched = _earned(solution), _earned(nothing)
    problems = (
        *_of_solution(solution, earned, declared_untouched),
        *_of_nothing(nothing, untouched, declared_untouched),
    )
    return Checked(
        task=task,
        ok=not problems,
        solution=tried(solution, folders[0]),
        nothing=tried(nothing, folders[1]),
        untouched_reward=untouched,
        problems=problems,
    )


def refused(task: str, why: str) -> Checked:
    """A task that cannot be tried."""
    return Checked(
        task=task, ok=False, solution=None, nothing=None, untouched_reward=None, problems=(why,)
    )


def without_folders(checked: Checked) -> Checked:
    """The same, where the attempts' files were not kept."""
    solution, nothing = (
        attempt and msgspec.structs.replace(attempt, folder=None)
        for attempt in (checked.solution, checked.nothing)
    )
    return msgspec.structs.replace(checked, solution=solution, nothing=nothing)


def _earned(result: AttemptResult) -> float | None:
    graded = result.grade is Grade.GRADED and result.reward
    return headline(result.reward) if graded and result.reward else None


def _of_solution(
    result: AttemptResult, earned: float | None, declared_untouched: float
) -> Sequence[str]:
    if earned is None:
        return (f"the solution has no grade: {_no_grade(result)}",)
    found = []
    if earned <= declared_untouched:
        found.append(f"the solution earned {earned:g}, no more than an untouched workspace")
    found += [
        f"the solution leaves no {answer.path}, which the task declares as an answer"
        for answer in result.answers or ()
        if answer.state is not AnswerState.PRESENT
    ]
    return found


def _of_nothing(
    result: AttemptResult, untouched: float | None, declared_untouched: float
) -> Sequence[str]:
    if untouched is None:
        return (f"doing nothing has no grade: {_no_grade(result)}",)
    if untouched > declared_untouched:
        declare = f'untouched_reward = "{untouched:g}" in [metadata.stanchion]'
        return (f"doing nothing earned {untouched:g}: the tests ask too little, or {declare}",)
    return ()


def _no_grade(result: AttemptResult) -> str:
    why = result.why.get("grade")
    ended = f"; it ended {result.outcome.reason}: {result.outcome.detail}"
    return f"{result.grade}{f', {why}' if why else ''}" + (
        "" if result.outcome.reason is EndReason.COMPLETED else ended
    )


def line(checked: Checked) -> str:
    """One line for people, and one more for each problem."""
    head = f"{checked.task:<{NAME_WIDTH}} {'ok    ' if checked.ok else 'FAILED'}"
    parts = [
        f"{name} {_shown(attempt)}"
        for name, attempt in (("solution", checked.solution), ("nothing", checked.nothing))
        if attempt is not None
    ]
    return "\n".join([f"{head} {' · '.join(parts)}".rstrip(), *(
        f"{'':<{NAME_WIDTH}} {problem}" for problem in checked.problems
    )])  # fmt: skip


def last_line(report: Report) -> str:
    """The sum."""
    right = sum(checked.ok for checked in report.tasks)
    kept = f" · attempts kept in {report.folder}" if report.folder else ""
    number = len(report.tasks)
    return f"task check: {number} task{'' if number == 1 else 's'}, {right} right{kept}"


def _shown(attempt: Tried) -> str:
    took = "" if attempt.total_s is None else f" ({attempt.total_s:.1f} s)"
    if attempt.grade is not Grade.GRADED or not attempt.reward:
        return f"{attempt.grade}{took}"
    return f"{headline(attempt.reward):g}{took}"
