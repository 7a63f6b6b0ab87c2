"""Decides what counts as progress: a completed response with content, joined to a saved step.

Pure. The two arrive on different ways and in either order, and carry no common name, so each counts
once: a step without a response behind it (an agent can write steps) is no progress, nor is a
response that the harness never saved. Before the first saved step the wire alone counts.
"""

from dataclasses import dataclass

from stanchion.supervisor.evidence import Evidence, RequestEnded, Step

MOST_UNMATCHED = 16
"""As many sub-agents as may wait for their steps at once; older ones are forgotten."""


@dataclass(slots=True)
class Progress:
    """The fold of responses and steps."""

    saved_any_step: bool = False
    counted_steps: int = 0
    """Saved steps that may count, matched or not."""
    responses: int = 0
    """Completed with content, waiting for their step."""
    steps: int = 0
    """Saved, waiting for their response."""

    def observe(self, evidence: Evidence) -> bool:
        """Whether this made progress."""
        match evidence:
            case RequestEnded(answered=answered, side=False) if answered.has_content:
                self.responses = min(self.responses + 1, MOST_UNMATCHED)
                if not self.saved_any_step:
                    return True
            case Step(counts=counts):
                self.saved_any_step = True
                if not counts:
                    return False
                self.counted_steps += 1
                self.steps = min(self.steps + 1, MOST_UNMATCHED)
            case _:
                return False
        return self._join()

    def _join(self) -> bool:
        if not self.responses or not self.steps:
            return False
        self.responses -= 1
        self.steps -= 1
        return True
