"""How an attempt ended and what that allows its score to be: closed words and pure rules."""

from stanchion.protocol.outcome.classify import TABLE, Outcome, classify
from stanchion.protocol.outcome.grade import Graded, Score, gate, headline, read_reward
from stanchion.protocol.outcome.words import (
    MEANING,
    Blame,
    EndReason,
    Flag,
    Grade,
    Meaning,
    Retry,
    ScoreRule,
)

__all__ = [
    "MEANING",
    "TABLE",
    "Blame",
    "EndReason",
    "Flag",
    "Grade",
    "Graded",
    "Meaning",
    "Outcome",
    "Retry",
    "Score",
    "ScoreRule",
    "classify",
    "gate",
    "headline",
    "read_reward",
]
