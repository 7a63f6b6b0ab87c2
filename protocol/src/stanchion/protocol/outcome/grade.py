"""The grade gate: from ending and reward to a score, or to no score. Pure.

A dead agent is never a wrong answer: where the ending does not allow a score, the score is None.
"""

import json
import math
from collections.abc import Mapping

import msgspec

from stanchion.protocol.evidence import VerifierRun, WaitStatus
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


def read_reward(run: VerifierRun | None, *, untouched_reward: float = 0.0) -> Graded:
    """The grade of a verifier's run; as in Harbor, a reward counts whatever the exit code was."""
    if run is None:
        return Graded(grade=Grade.NOT_RUN, why="the task's tests were not run")
    if run.reward_text is None or run.error is not None or run.timed_out:
        return _unread(run)
    try:
        reward = _parse(run.reward_text, run.reward_file or "reward.txt")
    except ValueError as error:
        return Graded(grade=Grade.BAD_REWARD, why=str(error))
    if run.network_refused and headline(reward) <= untouched_reward:
        return Graded(grade=Grade.VERIFIER_NETWORK, reward=reward, why=_network(run))
    return Graded(grade=Grade.GRADED, reward=reward)


def headline(reward: Mapping[str, float]) -> float:
    """The number that stands for all of them: `reward`, else the first."""
    return reward.get("reward", next(iter(reward.values())))


def _unread(run: VerifierRun) -> Graded:
    """What the missing reward comes from, as far as it was seen; the first that holds."""
    wait = run.wait or WaitStatus()
    died = f"the tests died by signal {wait.signal} and wrote no reward file"
    failed = f"the tests exited with {wait.exit_code} and wrote no reward file"
    causes = (
        (run.error is not None, Grade.VERIFIER_ERROR, run.error),
        (run.timed_out, Grade.VERIFIER_TIMEOUT, "the task's tests did not end in time"),
        (run.reward_error is not None, Grade.BAD_REWARD, run.reward_error),
        (run.network_refused, Grade.VERIFIER_NETWORK, _network(run)),
        (run.wait is None, Grade.NOT_RUN, "the tests were ended before they were done"),
        (wait.signal is not None, Grade.VERIFIER_ERROR, died),
        (wait.exit_code != 0, Grade.VERIFIER_ERROR, failed),
        (True, Grade.NO_REWARD, "the tests exited with 0 and wrote no reward file"),
    )
    return next(Graded(grade=grade, why=why) for holds, grade, why in causes if holds)


def _network(run: VerifierRun) -> str:
    seen = f" ({run.network_why})" if run.network_why else ""
    return f"the tests earned nothing and something asked for a network, which there is not{seen}"


def _parse(text: str, name: str) -> dict[str, float]:
    if not name.endswith(".json"):
        try:
            return {"reward": _finite(float(text), name)}
        except ValueError:
            raise ValueError(f"{name} is not a finite number: {text.strip()[:80]!r}") from None
    try:
        data = json.loads(text, object_pairs_hook=_once)
    except RecursionError:
        raise ValueError(f"{name} is nested too deeply") from None
    except ValueError as error:
        raise ValueError(f"{name} is not JSON: {error}") from None
    if not isinstance(data, dict) or not data:
        raise ValueError(f"{name} is not an object of numbers")
    return {key: _number(value, f"{name}, {key[:80]}") for key, value in data.items()}


def _once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """Readers differ on which of two equal keys counts; a reward must not depend on them."""
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key stands twice")
    return found


def _number(value: object, where: str) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ValueError(f"{where} is not a number: {str(value)[:80]!r}")  # noqa: TRY004 - input
    return _finite(value, where)


def _finite(value: float, where: str) -> float:
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise ValueError(f"{where} is not finite")
    return number


def gate(outcome: Outcome, graded: Graded, *, untouched_reward: float = 0.0) -> Score:
    """The score that ending and reward allow together."""
    if graded.grade is not Grade.GRADED or graded.reward is None:
        return Score(value=None, why=graded.why or graded.grade)
    value = headline(graded.reward)
    rule = MEANING[outcome.reason].score
    earned = value > untouched_reward
    if rule is ScoreRule.VERIFIER or (rule is ScoreRule.CREDIT_ONLY and earned):
        return Score(value=value)
    return Score(value=None, why=f"withheld: the attempt ended {outcome.reason}")
