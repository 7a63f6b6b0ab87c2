import hashlib

from stanchion.broker.attempts.verdict import decide
from stanchion.protocol.evidence import (
    Claim,
    Evidence,
    HostFacts,
    SessionEnd,
    SessionState,
    VerifierRun,
    WaitStatus,
    WireFacts,
)
from stanchion.protocol.outcome import EndReason, Grade

GOOD = Evidence(
    claim=Claim(wait=WaitStatus(exit_code=0), session=SessionEnd(state=SessionState.GOOD, steps=1)),
    wire=WireFacts(exchanges=1, completed=1),
    host=HostFacts(sandbox_exit=0),
)


def reward(text: str | None) -> VerifierRun:
    return VerifierRun(
        wait=WaitStatus(exit_code=0),
        timed_out=False,
        reward_text=text,
        reward_file="reward.txt",
        duration_ms=1,
    )


def test_a_clean_attempt_has_its_score_as_decimal_text() -> None:
    verdict = decide(GOOD, reward("0.5"), untouched_reward="0")
    assert verdict.outcome.reason is EndReason.COMPLETED
    assert verdict.score_text == "0.5"
    assert verdict.reward_sha256 == hashlib.sha256(b"0.5").hexdigest()


def test_a_dead_attempt_is_withheld_although_the_tests_said_zero() -> None:
    dead = Evidence(host=HostFacts(sandbox_exit=137))
    verdict = decide(dead, reward("0"), untouched_reward="0")
    assert verdict.score_text is None
    assert verdict.graded.grade is Grade.GRADED


def test_tests_that_never_ran_have_no_digest() -> None:
    for run in (None, reward(None)):
        verdict = decide(GOOD, run, untouched_reward="0")
        assert (verdict.score_text, verdict.reward_sha256) == (None, None)
