"""Folds the usageMetadata of Gemini's responses. Pure.

An event without figures keeps what was said (ankit373/hydra#858). Thoughts are counted beside the
candidates, not in them; the prompt includes what cached content gave (Gemini API reference,
"UsageMetadata"), while what the implicit cache gave is not said to be in it or beside it.
"""

from stanchion.broker.plane.dialects.figures import GROWING, Figures, Reported

_NAMES = {
    "promptTokenCount": "input_tokens",
    "candidatesTokenCount": "output_tokens",
    "thoughtsTokenCount": "reasoning_tokens",
    "cachedContentTokenCount": "cache_read_tokens",
}
"""Fields of the usage object, and ours."""


class UsageFold:
    """The figures so far."""

    def __init__(self) -> None:
        self._figures = Figures()

    @property
    def thought(self) -> bool:
        """Whether any thoughts were counted, final or not."""
        return (self._figures.get("reasoning_tokens") or 0) > 0

    def take(self, value: object) -> None:
        """The usage of an event or a whole response; null says nothing."""
        if isinstance(value, dict):
            for theirs, ours in _NAMES.items():
                self._figures.take(ours, value.get(theirs))

    def report(self, *, produced: bool, reasoned: bool, ended: bool) -> Reported:
        """All of it.

        `produced`: text or a call came; `reasoned`: thoughts did. `ended`: a reason for the end
        came; without it the figures of the output are those of a moment.
        """
        return self._figures.report(
            produced=produced,
            reasoned=reasoned,
            output="candidatesTokenCount",
            momentary=frozenset() if ended else GROWING,
            input_includes_cache=None,
            output_includes_reasoning=False,
        )
