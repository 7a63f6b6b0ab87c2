"""What others make of six of these endings, for the page of the matrix and for its table.

Measured on 2026-11-30 with the same scripted harness and provider: exit 1 after 429, an error event
and exit 0, a length stop without an answer, SIGKILL, a truncated stream and exit 0, a hang with
heartbeats.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Rival:
    """One system."""

    system: str
    version: str
    counted_as_0: str
    """How many of the six entered the mean as a zero."""
    credit: str
    """What became of a right answer before a crash."""


RIVALS = (
    Rival("Harbor", "0.25", "6 of 6", "kept (by its source)"),
    Rival("NeMo Gym, opencode_agent", "0.4.0", "6 of 6", "kept"),
    Rival("verifiers", "0.4.0", "4 of 6", "lost"),
    Rival("Inspect, bridge", "0.3.285", "3 of 5 that could be played", "lost"),
    Rival("BenchFlow", "0.7.11", "3 of 6 (the hang by its source)", "lost (by its source)"),
    Rival("evalscope, external", "1.14.1", "3 of 6, and 3 abort the run", "lost"),
)
