"""Whether Claude Code's run ended in a way that can be trusted.

Neither its exit code nor the word `success` can be: an empty answer and a denied permission exit 0,
and an error of the provider is a `success` too (its issues #79500 and #38769). Only a result line
without an error, completed, with text, and nothing left in the background, is good.
"""

from stanchion.harness_adapters.claude_code.lines import Line
from stanchion.protocol.evidence import SessionState

CUT = "max_output_tokens"
_MOST_DETAIL = 400


def judge(result: Line, *, error: str | None, background: int) -> tuple[SessionState, str | None]:
    """What a result line amounts to; `error` is the word of the last error that was shown."""
    if background:
        return SessionState.MID_TURN, f"{background} background tasks were still running"
    if result.is_error is not False:
        said = (result.result or "")[:_MOST_DETAIL] or f"the result is {result.subtype}"
        return SessionState.LENGTH if error == CUT else SessionState.ERROR, said
    return _judge_finish(result)


def _judge_finish(result: Line) -> tuple[SessionState, str | None]:
    if result.permission_denials:
        return SessionState.REJECTED, "a permission was denied in a run that asks for none"
    if result.stop_reason == "max_tokens":
        return SessionState.LENGTH, "the last response was cut at its output limit"
    if result.stop_reason == "refusal":
        return SessionState.ERROR, "the last response was a refusal"
    if result.terminal_reason not in {None, "completed"}:
        return SessionState.ERROR, f"the run ended for the reason {result.terminal_reason}"
    if not (result.result or "").strip():
        return SessionState.EMPTY, "the last response stopped with no text"
    return SessionState.GOOD, None
