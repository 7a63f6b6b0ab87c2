"""From ending and reward to a score: a dead agent is never a zero."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stanchion.protocol.evidence import VerifierRun, WaitStatus
from stanchion.protocol.outcome import (
    MEANING,
    EndReason,
    Grade,
    Graded,
    Outcome,
    ScoreRule,
    gate,
    read_reward,
)


def run(text: str | None, name: str = "reward.txt", **changes: object) -> VerifierRun:
    fields = {
        "wait": WaitStatus(exit_code=0),
        "timed_out": False,
        "reward_text": text,
        "reward_file": name if text is not None else None,
        "duration_ms": 5,
        **changes,
    }
    return VerifierRun(**fields)  # type: ignore[arg-type]


def ended(reason: EndReason) -> Outcome:
    meaning = MEANING[reason]
    return Outcome(reason=reason, detail="d", blame=meaning.blame, retry=meaning.retry)


@pytest.mark.parametrize(
    ("seen", "grade", "reward"),
    [
        (run("1\n"), Grade.GRADED, {"reward": 1.0}),
        (run("0.25"), Grade.GRADED, {"reward": 0.25}),
        (
            run('{"reward": 1, "style": 0.5}', "reward.json"),
            Grade.GRADED,
            {"reward": 1.0, "style": 0.5},
        ),
        (run("1", wait=WaitStatus(exit_code=3)), Grade.GRADED, {"reward": 1.0}),
        (run("nan"), Grade.BAD_REWARD, None),
        (run("inf"), Grade.BAD_REWARD, None),
        (run("yes"), Grade.BAD_REWARD, None),
        (run(""), Grade.BAD_REWARD, None),
        (run("[1]", "reward.json"), Grade.BAD_REWARD, None),
        (run("{}", "reward.json"), Grade.BAD_REWARD, None),
        (run('{"reward": true}', "reward.json"), Grade.BAD_REWARD, None),
        (run('{"reward": null}', "reward.json"), Grade.BAD_REWARD, None),
        (run("{", "reward.json"), Grade.BAD_REWARD, None),
        (run(None), Grade.NO_REWARD, None),
        (run(None, network_refused=True), Grade.VERIFIER_NETWORK, None),
        (run('{"reward": "1"}', "reward.json"), Grade.BAD_REWARD, None),
        (run('{"reward": 1, "reward": 0}', "reward.json"), Grade.BAD_REWARD, None),
        (run('{"reward": 1e999}', "reward.json"), Grade.BAD_REWARD, None),
        (run('{"reward": 1' + "0" * 400 + "}", "reward.json"), Grade.BAD_REWARD, None),
        (run("[" * 60_000, "reward.json"), Grade.BAD_REWARD, None),
        (run("9" * 5_000), Grade.BAD_REWARD, None),
        (run(None, reward_error="reward.txt is a link"), Grade.BAD_REWARD, None),
        (run(None, wait=WaitStatus(exit_code=3)), Grade.VERIFIER_ERROR, None),
        (run(None, wait=WaitStatus(signal=9)), Grade.VERIFIER_ERROR, None),
        (run(None, wait=None, error="no test.sh"), Grade.VERIFIER_ERROR, None),
        (run(None, wait=None), Grade.NOT_RUN, None),
        (
            run(None, network_refused=True, wait=WaitStatus(exit_code=1)),
            Grade.VERIFIER_NETWORK,
            None,
        ),
        (
            run("0", network_refused=True, network_why="2 connects"),
            Grade.VERIFIER_NETWORK,
            {"reward": 0.0},
        ),
        (run("1", network_refused=True), Grade.GRADED, {"reward": 1.0}),
        (run("0", network_refused=None), Grade.GRADED, {"reward": 0.0}),
        (run("1", timed_out=True, wait=None), Grade.VERIFIER_TIMEOUT, None),
        (run(None, timed_out=True, wait=None), Grade.VERIFIER_TIMEOUT, None),
        (None, Grade.NOT_RUN, None),
    ],
)
def test_a_reward_file_is_read_or_named(
    seen: VerifierRun | None, grade: Grade, reward: dict[str, float] | None
) -> None:
    graded = read_reward(seen)
    assert (graded.grade, graded.reward) == (grade, reward)
    assert (graded.why is None) is (grade is Grade.GRADED)


@pytest.mark.parametrize("reason", list(EndReason))
@pytest.mark.parametrize("reward", [0.0, 1.0])
def test_only_the_ending_and_earned_credit_open_the_gate(reason: EndReason, reward: float) -> None:
    score = gate(ended(reason), Graded(grade=Grade.GRADED, reward={"reward": reward}))
    rule = MEANING[reason].score
    if rule is ScoreRule.WITHHELD or (rule is ScoreRule.CREDIT_ONLY and reward == 0.0):
        assert score.value is None
        assert score.why is not None
        assert reason in score.why
    else:
        assert score.value == reward


def test_credit_is_what_lies_above_an_untouched_workspace() -> None:
    graded = Graded(grade=Grade.GRADED, reward={"reward": 0.3})
    dead = ended(EndReason.HARNESS_SIGNAL)
    assert gate(dead, graded, untouched_reward=0.3).value is None
    assert gate(dead, graded, untouched_reward=0.2).value == 0.3


def test_a_refused_network_explains_no_more_than_an_untouched_workspace_earns() -> None:
    seen = run("0.3", network_refused=True)
    assert read_reward(seen, untouched_reward=0.3).grade is Grade.VERIFIER_NETWORK
    assert read_reward(seen, untouched_reward=0.2).grade is Grade.GRADED
    withheld = gate(ended(EndReason.COMPLETED), read_reward(seen, untouched_reward=0.3))
    assert withheld.value is None
    assert "network" in str(withheld.why)


@given(st.text() | st.binary().map(lambda raw: raw.decode("utf-8", "replace")))
@pytest.mark.parametrize("name", ["reward.txt", "reward.json"])
def test_no_reward_file_is_a_traceback(name: str, text: str) -> None:
    graded = read_reward(run(text, name))
    assert graded.grade in {Grade.GRADED, Grade.BAD_REWARD}


def test_without_a_grade_there_is_no_score() -> None:
    score = gate(ended(EndReason.COMPLETED), read_reward(run(None)))
    assert score.value is None
    assert score.why == "the tests exited with 0 and wrote no reward file"


def test_the_first_figure_counts_where_none_is_called_reward() -> None:
    graded = read_reward(run('{"accuracy": 0.5}', "reward.json"))
    assert gate(ended(EndReason.COMPLETED), graded).value == 0.5
