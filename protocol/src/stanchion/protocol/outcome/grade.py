"""The grade gate: from ending and reward to a score, or to no score. Pure.

A dead agent is never a wrong answer: where the ending does not allow a score, the score is None.
"""

import json
import math

import msgspec

from stanchion.protocol.evidence import VerifierRun
from stanchion.protocol.outcome.classify import Outcome
from stanchion.protocol.outcome.words import MEANING, Grade, ScoreRule


class Graded(msgspec.Struct, frozen=True, kw_only=True):
    """What the task's tests said, before the ending is considered."""

    grade: Grade
    reward: dict[str, float] | None = None
    why: str | None = None


class Score(msgspec.Struct, frozen=True, kw_only=True):
    """The score of an attempt, or None and why."""

    value: float | None
    why: str | None = None


def read_reward(run: VerifierRun | None) -> Graded:
    """The grade of a verifier's run; as in Harbor, a reward counts whatever the exit code was."""
    if run is None:
        return Graded(grade=Grade.NOT_RUN, why="the task's tests were not run")
    if run.timed_out:
        return Graded(grade=Grade.VERIFIER_TIMEOUT, why="the task's tests did not end in time")
    if run.reward_text is None:
        if run.network_refused:
            return Graded(grade=Grade.VERIFIER_NETWORK, why="the tests wanted a network")
        return Graded(grade=Grade.NO_REWARD, why="the tests wrote no reward file")
    try:
        reward = _parse(run.reward_text, run.reward_file or "reward.txt")
    except ValueError as error:
        return Graded(grade=Grade.BAD_REWARD, why=str(error))
    return Graded(grade=Grade.GRADED, reward=reward)


def _parse(text: str, name: str) -> dict[str, float]:
    if name.endswith(".json"):
        try:
            data = json.loads(text)
        except ValueError as error:
            raise ValueError(f"{name} is not JSON: {error}") from None
        if not isinstance(data, dict) or not data:
            raise ValueError(f"{name} is not an object of numbers")
        return {str(key): _number(value, f"{name}, {key}") for key, value in data.items()}
    return {"reward": _number(text.strip(), name)}


def _number(value: object, where: str) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        raise ValueError(f"{where} is not a number: {value!r}")  # noqa: TRY004 - input, not a type
    try:
        number = float(value)
    except ValueError:
        raise ValueError(f"{where} is not a number: {str(value)[:80]!r}") from None
    if not math.isfinite(number):
        raise ValueError(f"{where} is not finite: {value!r}")
    return number


def gate(outcome: Outcome, graded: Graded, *, untouched_reward: float = 0.0) -> Score:
    """The score that ending and reward allow together."""
    if graded.grade is not Grade.GRADED or graded.reward is None:
        return Score(value=None, why=graded.why or graded.grade)
    value = graded.reward.get("reward", next(iter(graded.reward.values())))
    rule = MEANING[outcome.reason].score
    earned = value > untouched_reward
    if rule is ScoreRule.VERIFIER or (rule is ScoreRule.CREDIT_ONLY and earned):
        return Score(value=value)
    return Score(value=None, why=f"withheld: the attempt ended {outcome.reason}")
