"""From evidence to outcome, grade and score, by the protocol's rules. Pure."""

import hashlib
from dataclasses import dataclass

from stanchion.protocol.evidence import Evidence, VerifierRun
from stanchion.protocol.outcome import (
    Graded,
    Outcome,
    Score,
    classify,
    gate,
    read_reward,
)


@dataclass(frozen=True, slots=True)
class Verdict:
    """How it ended."""

    outcome: Outcome
    graded: Graded
    score: Score
    reward_sha256: str | None

    @property
    def score_text(self) -> str | None:
        """Decimal text for the receipt; None = withheld."""
        return None if self.score.value is None else repr(self.score.value)


def decide(evidence: Evidence, verifier: VerifierRun | None, *, untouched_reward: str) -> Verdict:
    """The verdict."""
    outcome = classify(evidence)
    graded = read_reward(verifier, untouched_reward=float(untouched_reward))
    reward = None if verifier is None else verifier.reward_text
    return Verdict(
        outcome=outcome,
        graded=graded,
        score=gate(outcome, graded, untouched_reward=float(untouched_reward)),
        reward_sha256=None if reward is None else hashlib.sha256(reward.encode()).hexdigest(),
    )
