"""Folds the usageMetadata of Gemini's responses. Pure.

Figures grow from event to event and the last one that came wins, none is summed; an event without
them keeps what was said (ankit373/hydra#858). Thoughts are counted beside the candidates, not in
them (Gemini API reference, "UsageMetadata"). It must never turn an absent figure into 0.
"""

from stanchion.protocol.usage import Usage

MAX_TOKENS = 2**53 - 1

_NAMES = {
    "promptTokenCount": "input_tokens",
    "candidatesTokenCount": "output_tokens",
    "thoughtsTokenCount": "reasoning_tokens",
    "cachedContentTokenCount": "cache_read_tokens",
}
"""Fields of the usage object, and ours. The prompt includes what the cache gave."""
_GROWING = {"output_tokens", "reasoning_tokens"}


class UsageFold:
    """The figures so far."""

    def __init__(self) -> None:
        self._known: dict[str, int] = {}

    @property
    def thought(self) -> bool:
        """Whether any thoughts were counted, final or not."""
        return self._known.get("reasoning_tokens", 0) > 0

    def take(self, value: object) -> None:
        """The usage of an event or a whole response; null says nothing."""
        if not isinstance(value, dict):
            return
        for theirs, ours in _NAMES.items():
            count = _count(value.get(theirs))
            if count is not None:
                self._known[ours] = count

    def read(self, *, produced: bool, ended: bool) -> tuple[Usage | None, str | None]:
        """The usage and, where something is unknown, why.

        `produced`: text or a call came; 0 candidate tokens contradict that. `ended`: a reason for
        the end came; without it the figures of the output are those of a moment.
        """
        if not self._known:
            return None, "the provider reported no usage"
        if not ended:
            why = "the response did not end, its output was counted so far only"
            return self._usage(without=_GROWING), why
        if produced and self._known.get("output_tokens") == 0:
            why = "0 output tokens were reported for a response with content"
            return self._usage(without={"output_tokens"}), why
        if "output_tokens" not in self._known:
            return self._usage(without=set()), "the provider reported no candidatesTokenCount"
        return self._usage(without=set()), None

    def _usage(self, *, without: set[str]) -> Usage:
        return Usage(**{name: n for name, n in self._known.items() if name not in without})


def _count(value: object) -> int | None:
    if not isinstance(value, int) or isinstance(value, bool):
        return None
    return value if 0 <= value <= MAX_TOKENS else None
