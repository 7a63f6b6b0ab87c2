"""Whether Codex's run ended in a way that can be trusted.

Its exit code cannot be: an empty answer exits 0. Only a turn that is complete, without an error
and with text in its last response, is good.
"""

from stanchion.harness_adapters.codex.rollout import Payload
from stanchion.protocol.evidence import SessionState

COMPLETE = "task_complete"
ABORTED = "turn_aborted"
CUT = "max_output_tokens"
_MOST_DETAIL = 400


def judge(last: Payload, *, has_text: bool) -> tuple[SessionState, str | None]:
    """What the last event of a turn amounts to; `has_text`: of the last response."""
    if last.type == ABORTED:
        return SessionState.MID_TURN, f"the turn was aborted: {last.reason or 'no reason said'}"
    if last.error is not None:
        said = last.error.message[:_MOST_DETAIL] or "the turn failed without a message"
        return SessionState.LENGTH if CUT in said else SessionState.ERROR, said
    if not has_text:
        return SessionState.EMPTY, "the last response ended with no text"
    return SessionState.GOOD, None
