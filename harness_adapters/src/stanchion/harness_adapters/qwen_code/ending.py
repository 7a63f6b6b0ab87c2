"""Whether Qwen Code's run ended in a way that can be trusted.

Neither its exit code nor the word `success` can be: both are the same for a refused request, a
broken stream, an empty answer and one that was cut (its issue #8920). Of a cut answer there is no
trace at all: there the wire alone decides.
"""

from stanchion.harness_adapters.qwen_code.lines import API_ERROR, Line
from stanchion.protocol.evidence import SessionState

_MOST_DETAIL = 400


def judge(result: Line) -> tuple[SessionState, str | None]:
    """What a result line amounts to."""
    text = result.result or ""
    if result.is_error is not False:
        why = result.error.message if result.error is not None else None
        return SessionState.ERROR, (why or f"the result is {result.subtype}")[:_MOST_DETAIL]
    if API_ERROR in text:
        return SessionState.ERROR, text[text.index(API_ERROR) :][:_MOST_DETAIL]
    if result.permission_denials:
        return SessionState.REJECTED, "a permission was denied in a run that asks for none"
    if not text.strip():
        return SessionState.EMPTY, "the last response stopped with no text"
    return SessionState.GOOD, None
