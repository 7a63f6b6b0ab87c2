from typing import Any

import msgspec
import pytest

from fakes.results import a_result
from stanchion.protocol.evidence import Answer, AnswerState
from stanchion.protocol.outcome import EndReason, Grade
from stanchion.protocol.result import AttemptResult
from stanchion.runner.checking.judging import (
    Checked,
    Report,
    judge,
    last_line,
    line,
    refused,
    without_folders,
)


def ended(reward: float | None, grade: Grade = Grade.GRADED, **changes: Any) -> AttemptResult:
    rewards = None if reward is None else {"reward": reward}
    return msgspec.structs.replace(a_result(), grade=grade, reward=rewards, **changes)


def judged(solution: AttemptResult, nothing: AttemptResult, *, untouched: float = 0.0) -> Checked:
    return judge("t", solution, nothing, declared_untouched=untouched, folders=("o/a", "o/b"))


def test_a_task_is_right_if_the_solution_earns_it_and_nothing_does_not() -> None:
    checked = judged(ended(1.0), ended(0.0))
    assert (checked.ok, checked.problems, checked.untouched_reward) == (True, (), 0.0)
    assert line(checked).startswith("t  ")
    assert "solution 1" in line(checked)


@pytest.mark.parametrize(
    ("solution", "nothing", "untouched", "words"),
    [
        (ended(0.0), ended(0.0), 0.0, "no more than an untouched workspace"),
        (ended(0.3), ended(0.3), 0.3, "no more than an untouched workspace"),
        (ended(1.0), ended(0.3), 0.0, 'untouched_reward = "0.3"'),
        (ended(1.0), ended(1.0), 0.0, "the tests ask too little"),
        (
            ended(None, Grade.VERIFIER_ERROR, why={"grade": "exited with 3"}),
            ended(0.0),
            0.0,
            "the solution has no grade: verifier_error, exited with 3",
        ),
        (ended(1.0), ended(None, Grade.NO_REWARD), 0.0, "doing nothing has no grade"),
        (
            ended(1.0, answers=(Answer(path="/work/a", state=AnswerState.ABSENT),)),
            ended(0.0),
            0.0,
            "the solution leaves no /work/a",
        ),
    ],
)
def test_what_is_wrong_is_said(
    solution: AttemptResult, nothing: AttemptResult, untouched: float, words: str
) -> None:
    checked = judged(solution, nothing, untouched=untouched)
    assert not checked.ok
    assert len(checked.problems) == 1
    assert words in checked.problems[0]
    assert words in line(checked)


def test_credit_above_what_an_untouched_workspace_gets_is_enough() -> None:
    assert judged(ended(0.5), ended(0.3), untouched=0.3).ok
    assert judged(ended(0.5), ended(0.1), untouched=0.3).ok


def test_an_attempt_that_did_not_end_well_says_how() -> None:
    outcome = msgspec.structs.replace(
        a_result().outcome, reason=EndReason.SANDBOX_LOST, detail="no last record"
    )
    lost = ended(None, Grade.NOT_RUN, outcome=outcome)
    assert "sandbox_lost: no last record" in judged(lost, ended(0.0)).problems[0]


def test_a_task_that_cannot_be_tried_is_one_line() -> None:
    checked = refused("t", "task.toml:3, environment.gpus = '1': sandboxes have no GPU")
    assert not checked.ok
    assert line(checked).count("\n") == 1
    assert "FAILED" in line(checked)


def test_the_last_line_counts() -> None:
    right, wrong = judged(ended(1.0), ended(0.0)), refused("u", "why")
    both = Report(tasks=(right, wrong), ok=False, folder="/kept")
    assert last_line(both) == "task check: 2 tasks, 1 right · attempts kept in /kept"
    assert last_line(Report(tasks=(right,), ok=True, folder=None)) == "task check: 1 task, 1 right"


def test_folders_that_were_removed_are_not_named() -> None:
    checked = without_folders(judged(ended(1.0), ended(0.0)))
    assert checked.solution is not None
    assert checked.nothing is not None
    assert (checked.solution.folder, checked.nothing.folder) == (None, None)
    assert without_folders(refused("t", "why")) == refused("t", "why")
